/** Numbers as colours, by the palettes of the theme. */

import { seenIn } from "./grid.js";

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
 * Colour the cells of a map; what is masked, and what is seen and has no number (NaN), get
 * colours of their own.
 * @param {Uint32Array} pixels
 * @param {object} map
 * @param {{scale: string, limit: number, table: Uint32Array, masked: number, unknown: number}} key
 */
export function paint(pixels, map, key) {
  for (let row = 0; row < map.rows; row++) {
    const at = row * map.columns;
    const end = at + seenIn(map, row);
    paintSeen(pixels, map.values, at, end, key);
    pixels.fill(key.masked, end, at + map.columns);
  }
}

function paintSeen(pixels, values, from, end, { scale, limit, table, unknown }) {
  const low = scale === "diverging" ? -limit : 0;
  const steps = (LEVELS - 1) / (limit - low);
  for (let cell = from; cell < end; cell++) {
    const value = values[cell];
    if (value !== value) pixels[cell] = unknown;
    else if (value > limit) pixels[cell] = table[LEVELS + 1];
    else if (value < low) pixels[cell] = table[0];
    else pixels[cell] = table[((value - low) * steps + 1.5) | 0]; // rounded
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
