/** Where ticks stand, and what stands at them. */
import { number, powered, rounded, shortened } from "./text.js";

const ROOM = 46; // pixels a number needs along its axis
const LINE = 13; // pixels a token needs
const LETTER = 6.3; // pixels of a digit
const MOST = 7; // ticks of a colour bar

/**
 * Round numbers between two ends: 1, 2 or 5 times a power of ten apart.
 * @param {number} low
 * @param {number} high
 * @param {number} most how many there may be
 * @param {number} least the smallest step
 * @returns {number[]}
 */
export function roundTicks(low, high, most, least = 0) {
  const rough = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(least, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough));
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.max(0, Math.floor(high / step + 1e-9) - first + 1);
  return Array.from({ length: count }, (_, place) => Number(((first + place) * step).toPrecision(12)));
}

/**
 * Ticks at the middles of tokens: their labels where there are any, else round positions.
 * @param {number} low first token seen, may be broken
 * @param {number} span tokens
 * @param {number} pixels
 * @param {string[]} labels of all tokens, or none
 * @returns {{at: number, label: string}[]}
 */
export function tokenTicks(low, span, pixels, labels) {
  if (labels.length) {
    const step = Math.ceil((LINE * span) / pixels);
    return tokensBetween(low, span, step).map((t) => ({ at: t + 0.5, label: shortened(labels[t]) }));
  }
  const ticks = roundTicks(low - 0.5, low + span - 0.5, pixels / ROOM, 1);
  return ticks.map((t) => ({ at: t + 0.5, label: number(t) }));
}

function tokensBetween(low, span, step) {
  const first = Math.ceil((low - 0.5) / step) * step;
  const tokens = [];
  for (let t = Math.max(0, first); t + 0.5 <= low + span; t += step) tokens.push(t);
  return tokens;
}

/**
 * Ticks of a colour bar.
 * @param {number} low
 * @param {number} high
 * @param {number} pixels
 * @param {boolean} powers whether the values are exponents of 2
 * @returns {{at: number, label: string}[]}
 */
export function barTicks(low, high, pixels, powers) {
  const written = (at) => ({ at, label: powers ? factor(at) : plain(at) });
  const apart = (ticks) => ((ticks[1].at - ticks[0].at) * pixels) / (high - low);
  const widest = (ticks) => Math.max(...ticks.map(({ label }) => label.length + 1)) * LETTER;
  for (let most = MOST; ; most -= 1) {
    const places = powers ? doublings(high, most) : roundTicks(low, high, most);
    const ticks = places.map(written);
    if (most === 1 || ticks.length < 2 || apart(ticks) > widest(ticks)) return ticks;
  }
}

/** Whole exponents of 2 up to a limit; where it is no doubling, its ends. */
function doublings(limit, most) {
  if (limit >= 1) return roundTicks(-limit, limit, most, 1);
  return factor(limit) === "1" ? [0] : [-limit, 0, limit];
}

function factor(power) {
  const size = rounded(2 ** Math.abs(power));
  return power < 0 ? `1/${size}` : `${size}`;
}

/**
 * Write the number at a tick.
 * @param {number} value
 * @returns {string}
 */
export function plain(value) {
  const size = Math.abs(value);
  return size >= 1e5 || (size > 0 && size < 1e-3) ? powered(value) : number(value);
}
