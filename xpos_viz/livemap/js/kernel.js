/**
 * The formula of the Python core, fast enough to follow a finger.
 *
 *     s(m, n) = Re Σ_i q_i(m) · conj(k_i(n)) · e^(λ_i (m − n))
 *
 * `rates` gives the λ of an encoding, `createMap` takes up queries and keys, `curve` is what
 * remains without them, `limit` the range of colours. Modules beside this one: kernel_rates.js
 * raises rates, kernel_side.js multiplies rows, kernel_blocks.js sums over blocks.
 *
 * @typedef {import("./kernel_rates.js").Rates} Rates
 * @typedef {"scores" | "scaled" | "masked" | "weights"} Stage
 * @typedef {"causal" | "none"} Mask
 * @typedef {{
 *   rates: Rates, stage: Stage, mask: Mask, start: number, stop: number, size: number, into?: Panel
 * }} Request
 * @typedef {{
 *   values: Float32Array, rows: number, columns: number, block: number, start: number, stop: number
 * }} Panel
 */

import { BlockSums, total } from "./kernel_blocks.js";
import { robustLimit } from "./kernel_limit.js";
import { decayCurve, encodingRates, lagTerms, sameRates, scaled } from "./kernel_rates.js";
import { room } from "./kernel_side.js";

const STAGES = ["scores", "scaled", "masked", "weights"];
const MASKS = ["causal", "none"];
const BAND = 64; // queries whose weights are computed at a time, which bounds the memory

/** Rates of an encoding: {@link encodingRates}. */
export const rates = encodingRates;

/** The expectation curve: {@link decayCurve}. */
export const curve = decayCurve;

/** The colour limit of maps: {@link robustLimit}. */
export const limit = robustLimit;

/**
 * Take up queries and keys at the positions 0 … tokens−1.
 *
 * @param {{q: ArrayLike<number>, k: ArrayLike<number>, tokens: number, headDim: number}} data
 *     q and k (tokens, headDim), columns 2i and 2i + 1 are pair i; they are copied
 * @returns {ScoreMap}
 * @throws {RangeError} for arrays that do not fit
 */
export function createMap({ q, k, tokens, headDim }) {
  const length = tokens * headDim;
  if (q.length !== length || k.length !== length || headDim % 2 !== 0) {
    throw new RangeError(
      `q and k must hold ${tokens} × ${headDim} numbers in pairs, ` +
        `got ${q.length} and ${k.length}; use the shape that they have.`,
    );
  }
  return new ScoreMap(Float64Array.from(q), Float64Array.from(k), tokens, headDim);
}

/** Scores and weights of some queries and keys; {@link createMap} makes one. */
class ScoreMap {
  constructor(q, k, tokens, width) {
    Object.assign(this, { q, k, tokens, width });
    this.scale = width ** -0.5;
    this.sums = new BlockSums(q, k, width);
    this.powers = new Float64Array(width);
    this.terms = new Float64Array(width / 2);
    this.means = new Float64Array(0);
    this.kept = null; // the row of weights that was asked for last
  }

  /**
   * A map of a window: exact means over the visible cells of each block, NaN where there are none.
   *
   * @param {Request} request window start ≤ t < stop of queries and keys (weights still see
   *     every key), at most `size` blocks a side, the first of which begins at `start`. `into`
   *     is a panel of an earlier call, or an empty object: it is filled and returned, and left
   *     as it is where it already holds the answer; so its values are the caller's until it is
   *     passed again, to be read but not written. Without `into` there is a new panel.
   * @returns {Panel} values (rows, columns), rows are queries; acausal cells are true means, or
   *     ±Infinity of the true sign beyond float32
   * @throws {RangeError} for an unknown stage or mask, or a window that does not fit
   */
  values(request) {
    const { rates, stage, mask, start, stop, size, into = {} } = request;
    this.check(request);
    const asked = { map: this, rates, stage, mask, start, stop, size };
    if (into.asked && same(into.asked, asked)) return into;
    const block = Math.ceil((stop - start) / size);
    const rows = Math.ceil((stop - start) / block);
    resize(into, rows * rows);
    Object.assign(into, { asked, rows, columns: rows, block, start, stop });
    if (stage === "weights") this.meanWeights(into);
    else this.meanScores(into, stage === "scores" ? 1 : this.scale);
    return into;
  }

  /**
   * One cell in float64, for a read-out; NaN where it is masked.
   *
   * @param {{rates: Rates, stage: Stage, mask: Mask, m: number, n: number}} request
   * @returns {number}
   */
  cell({ rates, stage, mask, m, n }) {
    if (mask === "causal" && n > m) return NaN;
    if (stage === "weights") return this.weightsOf(m, rates, mask)[n];
    const peak = this.lagForm(rates, m, n);
    const score = scaled(total(this.terms), peak);
    return stage === "scores" ? score : score * this.scale;
  }

  /**
   * What each pair contributes to the raw score of a cell.
   *
   * @param {{rates: Rates, m: number, n: number}} request
   * @returns {Float64Array} a new array (pairs); it sums to the score
   */
  shares({ rates, m, n }) {
    const peak = this.lagForm(rates, m, n);
    return this.terms.map((term) => scaled(term, peak));
  }

  /** Throw RangeError for what is no map. */
  check({ stage, mask, start, stop, size }) {
    checkWord("stage", stage, STAGES);
    checkWord("mask", mask, MASKS);
    const whole = [start, stop, size].every(Number.isInteger);
    if (whole && 0 <= start && start < stop && stop <= this.tokens && size > 0) return;
    throw new RangeError(
      `a map needs 0 ≤ start < stop ≤ ${this.tokens} and size ≥ 1, ` +
        `got ${start}, ${stop} and ${size}; use whole numbers in that order.`,
    );
  }

  /** Write the terms of a score over e^peak; return the peak. */
  lagForm(rates, m, n) {
    const { q, k, width, powers, terms } = this;
    const [query, key] = [q.subarray(m * width), k.subarray(n * width)];
    return lagTerms(rates, m - n, query, key, powers, terms);
  }

  /** Fill a panel with block means of scores × factor. */
  meanScores(panel, factor) {
    const { asked, start, stop, block, rows } = panel;
    this.sums.take(asked.rates, asked.mask, start, stop, block);
    const sums = this.sums.fill(0, rows, rows);
    for (let a = 0; a < rows; a++) writeMeans(panel, a, sums, a * rows, factor);
  }

  /** Fill a panel with block means of weights. */
  meanWeights(panel) {
    const { asked, start, stop, block, rows } = panel;
    const means = (this.means = room(this.means, rows).fill(0));
    this.eachRow(asked.rates, asked.mask, start, stop, (weights, at, m) => {
      for (let b = 0, n = start; b < rows; b++) {
        for (const end = Math.min(n + block, stop); n < end; n++) means[b] += weights[at + n];
      }
      if ((m + 1 - start) % block !== 0 && m + 1 !== stop) return;
      writeMeans(panel, Math.floor((m - start) / block), means, 0, 1);
      means.fill(0);
    });
  }

  /** The weights of one query; a row that was asked for last is kept. */
  weightsOf(m, rates, mask) {
    const kept = this.kept;
    if (kept && kept.m === m && kept.mask === mask && sameRates(kept.rates, rates)) return kept.row;
    const row = new Float64Array(this.tokens);
    this.eachRow(rates, mask, m, m + 1, (weights, at) => {
      row.set(weights.subarray(at, at + (mask === "causal" ? m + 1 : this.tokens)));
    });
    this.kept = { m, mask, rates, row };
    return row;
  }

  /** Call visit(weights, at, m) for each query of start … stop−1; its row begins at `at`. */
  eachRow(rates, mask, start, stop, visit) {
    const keys = mask === "causal" ? stop : this.tokens;
    this.sums.take(rates, mask, 0, keys, 1);
    for (let first = start; first < stop; first += BAND) {
      const last = Math.min(first + BAND, stop);
      const rows = this.sums.fill(first, last, keys);
      for (let m = first; m < last; m++) {
        const at = (m - first) * keys;
        softmax(rows, at, mask === "causal" ? m + 1 : keys, keys, this.scale);
        visit(rows, at, m);
      }
    }
  }
}

/** Write a row of blocks: sums × factor over the cells that the mask shows, NaN for none. */
function writeMeans({ asked, values, rows, block, start, stop }, a, sums, at, factor) {
  const row = a * rows;
  const length = Math.min(block, stop - start - a * block);
  const end = asked.mask === "causal" ? a : rows;
  for (let b = 0; b < end; b++) {
    const cells = length * Math.min(block, stop - start - b * block);
    values[row + b] = (sums[at + b] * factor) / cells;
  }
  if (asked.mask === "none") return;
  values[row + a] = (sums[at + a] * factor) / ((length * (length + 1)) / 2);
  values.fill(NaN, row + a + 1, row + rows);
}

/** Turn scores into weights in place: `seen` of them, and zero from there up to `length`. */
function softmax(row, at, seen, length, scale) {
  let top = -Infinity;
  for (let n = at; n < at + seen; n++) {
    row[n] = Math.min(row[n] * scale, Number.MAX_VALUE); // infinite logits share the weight
    if (row[n] > top) top = row[n];
  }
  let sum = 0;
  for (let n = at; n < at + seen; n++) sum += row[n] = Math.exp(row[n] - top);
  for (let n = at; n < at + seen; n++) row[n] /= sum;
  row.fill(0, at + seen, at + length);
}

/** Give a panel as many values as it needs, in the memory that it has if that is enough. */
function resize(panel, length) {
  if (panel.values?.length === length) return;
  const memory = panel.values?.buffer;
  const enough = memory?.byteLength >= length * Float32Array.BYTES_PER_ELEMENT;
  panel.values = new Float32Array(enough ? memory : new ArrayBuffer(4 * length), 0, length);
}

/** Whether two requests to be filled have the same answer. */
function same(a, b) {
  const names = ["map", "stage", "mask", "start", "stop", "size"];
  return names.every((name) => a[name] === b[name]) && sameRates(a.rates, b.rates);
}

/** Throw RangeError unless a word is legal. */
function checkWord(kind, word, legal) {
  if (legal.includes(word)) return;
  throw new RangeError(`unknown ${kind} "${word}"; use one of: ${legal.join(", ")}.`);
}
