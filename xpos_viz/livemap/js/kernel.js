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
 * @typedef {import("./kernel_side.js").Span} Span
 * @typedef {{
 *   rates: Rates, stage: Stage, mask: Mask, start: number, stop: number, block: number,
 *   rows?: Span, columns?: Span, into?: Panel
 * }} Request
 * @typedef {{
 *   values: Float32Array, rows: number, columns: number, block: number, mask: Mask,
 *   top: number, bottom: number, left: number, right: number
 * }} Panel
 */

import { BlockSums, total } from "./kernel_blocks.js";
import { robustLimit } from "./kernel_limit.js";
import { decayCurve, encodingRates, lagTerms, sameRates, scaled } from "./kernel_rates.js";

const STAGES = ["scores", "scaled", "masked", "weights"];
const MASKS = ["causal", "none"];
const BAND = 64; // rows that are computed at a time, which bounds the memory
const STEP = 2 ** 17; // scores of weights that are, which bounds how long a step takes

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
    this.kept = null; // the row of weights that was asked for last
  }

  /**
   * A map of a window: exact means over the visible cells of each block, NaN where there are none.
   *
   * @param {Request} request window start ≤ t < stop of queries and keys (weights still see
   *     every key) in blocks, the first of which begins at `start`; of these the spans `rows`
   *     and `columns`, or all. `into` is a panel of an earlier call, or an empty object: it is
   *     filled and returned, and left as it is where it already holds the answer; so its values
   *     are the caller's until it is passed again, to be read but not written. Without `into`
   *     there is a new panel.
   * @returns {Panel} values (rows, columns), rows are queries, and the tokens at its edges;
   *     acausal cells are true means, or ±Infinity of the true sign beyond float32
   * @throws {RangeError} for an unknown stage or mask, or a window that does not fit
   */
  values({ into = {}, ...request }) {
    const asked = this.asked(request);
    if (into.asked && same(into.asked, asked)) return into;
    const filling = this.filling(asked, into, this.sums);
    while (!filling.next().done);
    return into;
  }

  /**
   * The same a little at a time: each step computes some rows, and the last returns the panel.
   *
   * @param {Request} request without `into`
   * @returns {Generator<undefined, Panel>}
   * @throws {RangeError} likewise
   */
  gradually(request) {
    return this.filling(this.asked(request), {}, new BlockSums(this.q, this.k, this.width));
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

  /** All that a panel depends on; throw RangeError for what is no map. */
  asked({ rates, stage, mask, start, stop, block, ...spans }) {
    checkWord("stage", stage, STAGES);
    checkWord("mask", mask, MASKS);
    const whole = [start, stop, block].every(Number.isInteger);
    if (!whole || start < 0 || start >= stop || stop > this.tokens || block < 1) {
      throw new RangeError(
        `a map needs 0 ≤ start < stop ≤ ${this.tokens} and block ≥ 1, ` +
          `got ${start}, ${stop} and ${block}; use whole numbers in that order.`,
      );
    }
    const count = Math.ceil((stop - start) / block);
    const { rows = [0, count], columns = [0, count] } = spans;
    checkSpan("rows", rows, count);
    checkSpan("columns", columns, count);
    return { map: this, rates, stage, mask, start, stop, block, rows, columns };
  }

  /** Fill a panel in steps. */
  *filling(asked, into, sums) {
    const { stage, mask, start, stop, block, rows, columns } = asked;
    const [height, width] = [rows[1] - rows[0], columns[1] - columns[0]];
    const [top, bottom, left, right] = [...rows, ...columns].map((a) =>
      Math.min(start + a * block, stop),
    );
    resize(into, height * width);
    Object.assign(into, { asked, rows: height, columns: width, block, mask });
    Object.assign(into, { top, bottom, left, right });
    if (stage === "weights") yield* this.meanWeights(into, sums);
    else yield* this.meanScores(into, sums, stage === "scores" ? 1 : this.scale);
    return into;
  }

  /** Write the terms of a score over e^peak; return the peak. */
  lagForm(rates, m, n) {
    const { q, k, width, powers, terms } = this;
    const [query, key] = [q.subarray(m * width), k.subarray(n * width)];
    return lagTerms(rates, m - n, query, key, powers, terms);
  }

  /** Fill a panel with block means of scores × factor. */
  *meanScores(panel, sums, factor) {
    const { asked, columns } = panel;
    const [from, to] = asked.rows;
    sums.take(asked);
    for (let first = from; first < to; first += BAND) {
      const last = Math.min(first + BAND, to);
      const cells = sums.fill(first, last);
      for (let a = first; a < last; a++) writeMeans(panel, a, cells, (a - first) * columns, factor);
      yield;
    }
  }

  /** Fill a panel with block means of weights. */
  *meanWeights(panel, sums) {
    const { asked, columns, block, top, bottom, left, right } = panel;
    const { rates, mask, start } = asked;
    const means = new Float64Array(columns);
    for (const band of this.weights(sums, rates, mask, top, bottom)) {
      for (let m = band.first; m < band.last; m++) {
        const at = (m - band.first) * band.keys;
        const seen = Math.min(right, band.keys);
        for (let b = 0, n = left; n < seen; b++) {
          for (const end = Math.min(n + block, seen); n < end; n++) means[b] += band.rows[at + n];
        }
        if ((m + 1 - start) % block !== 0 && m + 1 !== bottom) continue;
        writeMeans(panel, Math.floor((m - start) / block), means, 0, 1);
        means.fill(0);
      }
      yield;
    }
  }

  /** The weights of one query; a row that was asked for last is kept. */
  weightsOf(m, rates, mask) {
    const kept = this.kept;
    if (kept && kept.m === m && kept.mask === mask && sameRates(kept.rates, rates)) return kept.row;
    const [band] = this.weights(this.sums, rates, mask, m, m + 1);
    this.kept = { m, mask, rates, row: band.rows.slice(0, band.keys) };
    return this.kept.row;
  }

  /** The weights of the queries start … stop−1 on all keys that any of them sees, in bands. */
  *weights(sums, rates, mask, start, stop) {
    const keys = mask === "causal" ? stop : this.tokens;
    sums.take({ rates, mask, start: 0, stop: keys, block: 1, rows: [start, stop], columns: [0, keys] });
    const most = Math.max(8, Math.min(BAND, Math.floor(STEP / keys)));
    for (let first = start; first < stop; first += most) {
      const last = Math.min(first + most, stop);
      const rows = sums.fill(first, last);
      for (let m = first; m < last; m++) {
        softmax(rows, (m - first) * keys, mask === "causal" ? m + 1 : keys, keys, this.scale);
      }
      yield { rows, first, last, keys };
    }
  }
}

/** Write a row of blocks: sums × factor over the cells that the mask shows, NaN for none. */
function writeMeans({ asked, values, columns, block }, a, sums, at, factor) {
  const { mask, start, stop, rows } = asked;
  const [from, to] = asked.columns;
  const row = (a - rows[0]) * columns - from;
  const tokens = (b) => Math.min(block, stop - start - b * block);
  const length = tokens(a);
  const end = mask === "causal" ? Math.max(from, Math.min(a, to)) : to;
  for (let b = from; b < end; b++) {
    values[row + b] = (sums[at + b - from] * factor) / (length * tokens(b));
  }
  if (end === to) return;
  values.fill(NaN, row + end, row + to);
  if (end === a) values[row + a] = (sums[at + a - from] * factor) / ((length * (length + 1)) / 2);
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
  const names = ["map", "stage", "mask", "start", "stop", "block"];
  const spans = ["rows", "columns"].every((name) => a[name].join() === b[name].join());
  return spans && names.every((name) => a[name] === b[name]) && sameRates(a.rates, b.rates);
}

/** Throw RangeError unless a span holds some of so many blocks. */
function checkSpan(name, [first, last], count) {
  const whole = Number.isInteger(first) && Number.isInteger(last);
  if (whole && 0 <= first && first < last && last <= count) return;
  throw new RangeError(
    `${name} must be 0 ≤ first < last ≤ ${count}, got ${first} and ${last}; ` +
      "use whole numbers in that order.",
  );
}

/** Throw RangeError unless a word is legal. */
function checkWord(kind, word, legal) {
  if (legal.includes(word)) return;
  throw new RangeError(`unknown ${kind} "${word}"; use one of: ${legal.join(", ")}.`);
}
