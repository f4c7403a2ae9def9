/** Numbers as colours, by the palettes of the theme. */

const LEVELS = 256;

/**
 * A table of colours: below the limit, LEVELS colours between, above the limit.
 * @param {string[]} stops equally spaced colours, #rrggbb
 * @param {string[]} clipped below and above
 * @returns {Uint32Array} as little-endian RGBA
 */
export function colourTable(stops, clipped) {
  const table = new Uint32Array(LEVELS + 2);
  table[0] = pixel(channels(clipped[0]));
  table[LEVELS + 1] = pixel(channels(clipped[1]));
  const known = stops.map(channels);
  for (let level = 0; level < LEVELS; level++) {
    table[level + 1] = pixel(between(known, level / (LEVELS - 1)));
  }
  return table;
}

/**
 * One colour as a pixel.
 * @param {string} code #rrggbb
 * @returns {number}
 */
export function solid(code) {
  return pixel(channels(code));
}

/**
 * Colour the cells of a map; what is masked (NaN) gets a colour of its own.
 * @param {Uint32Array} pixels
 * @param {Float32Array} values
 * @param {{scale: string, limit: number, table: Uint32Array, masked: number}} key
 */
export function paint(pixels, values, { scale, limit, table, masked }) {
  const low = scale === "diverging" ? -limit : 0;
  const steps = (LEVELS - 1) / (limit - low);
  for (let cell = 0; cell < values.length; cell++) {
    const value = values[cell];
    if (value !== value) pixels[cell] = masked;
    else if (value > limit) pixels[cell] = table[LEVELS + 1];
    else if (value < low) pixels[cell] = table[0];
    else pixels[cell] = table[1 + Math.round((value - low) * steps)];
  }
}

function channels(code) {
  return [1, 3, 5].map((at) => parseInt(code.slice(at, at + 2), 16));
}

function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

function between(known, share) {
  const at = Math.min(share * (known.length - 1), known.length - 1 - 1e-9);
  const [first, second] = [known[Math.floor(at)], known[Math.floor(at) + 1]];
  const part = at - Math.floor(at);
  return first.map((channel, i) => Math.round(channel + part * (second[i] - channel)));
}
