/**
 * Sums of scores over blocks of tokens, at a cost that does not depend on their length.
 *
 * Queries are summed about the first token of their block and keys about the last of theirs, so
 * that no factor grows; a product of two such sums is the sum over all cells of the two blocks.
 * Causal cells are computed as they are. Among acausal cells, where XPos grows, the fastest
 * pair's growth is divided out, which makes them causal with queries and keys exchanged; it is
 * multiplied back last. A block that the diagonal cuts takes a running sum over its keys.
 */

import { lagTerms, raise, scaled } from "./kernel_rates.js";
import { Side, room, turn } from "./kernel_side.js";

const LOST = 1e-100; // a sum without its growth that is smaller may have lost terms

/** Block sums of some queries and keys; all room is kept between calls. */
export class BlockSums {
  /**
   * @param {Float64Array} q queries (tokens, width) at the positions 0 … tokens−1
   * @param {Float64Array} k keys, likewise
   * @param {number} width d
   */
  constructor(q, k, width) {
    Object.assign(this, { q, k, width });
    this.causal = new Side(width);
    this.acausal = new Side(width);
    this.sums = this.powers = this.diagonal = new Float64Array(0);
    this.pooledQ = this.pooledK = this.lateQ = this.lateK = new Float64Array(0);
    this.halves = this.lastHalves = new Float64Array(0);
    this.factor = new Float64Array(width);
    this.state = new Float64Array(width);
    this.terms = new Float64Array(width / 2);
  }

  /**
   * Take up a window, its blocks and an encoding for the calls of `fill` that follow.
   *
   * @param {import("./kernel_rates.js").Rates} rates
   * @param {"causal" | "none"} mask
   * @param {number} start first token
   * @param {number} stop token after the last
   * @param {number} block tokens in a block; the last block may be shorter
   */
  take(rates, mask, start, stop, block) {
    const count = Math.ceil((stop - start) / block);
    Object.assign(this, { rates, mask, start, stop, block, count });
    this.growth = -Math.min(...rates.logDecay);
    this.pool();
    this.diagonal = room(this.diagonal, count);
    this.takeCausal();
    if (mask === "none") this.takeAcausal();
    else this.cutDiagonal();
  }

  /** How many tokens a block has. */
  length(a) {
    return a === this.count - 1 ? this.stop - this.start - a * this.block : this.block;
  }

  /** Sum queries and keys over their blocks. */
  pool() {
    const { rates, width, start, stop, block, count } = this;
    this.rowsQ = this.q.subarray(start * width, stop * width);
    this.rowsK = this.k.subarray(start * width, stop * width);
    if (block === 1) return;
    const [tokensQ, tokensK] = [this.rowsQ, this.rowsK];
    this.powers = room(this.powers, block * width);
    for (let x = 0; x < block; x++) raise(rates, x, this.powers, x * width);
    this.rowsQ = this.pooledQ = room(this.pooledQ, count * width).fill(0);
    this.rowsK = this.pooledK = room(this.pooledK, count * width).fill(0);
    for (let a = 0, t = 0; a < count; a++) {
      for (let x = 0, rest = this.length(a) - 1; rest >= 0; x++, rest--, t++) {
        turn(tokensQ, t * width, this.powers, x * width, 1, this.state, 0, width);
        add(this.state, 0, this.rowsQ, a * width, width);
        turn(tokensK, t * width, this.powers, rest * width, -1, this.state, 0, width);
        add(this.state, 0, this.rowsK, a * width, width);
      }
    }
  }

  /** Prepare the cells below the diagonal: the last key of a block is one token from the next. */
  takeCausal() {
    const { rates, width, block, count, factor, rowsQ, rowsK } = this;
    this.lateQ = room(this.lateQ, count * width);
    raise(rates, 1, factor, 0);
    for (let a = 0; a < count; a++) {
      turn(rowsQ, a * width, factor, 0, 1, this.lateQ, a * width, width);
    }
    this.causal.prepare(rates, block, count, this.lateQ, rowsK);
  }

  /** Prepare the cells above the diagonal and on it, where lags are counted from query to key. */
  takeAcausal() {
    const { rates, width, block, count, factor, rowsQ, rowsK, growth } = this;
    const relative = { theta: rates.theta, logDecay: rates.logDecay.map((x) => -growth - x) };
    this.lateK = room(this.lateK, count * width);
    for (let b = 0; b < count; b++) {
      if (b === 0 || b === count - 1) raise(relative, this.length(b) - 1, factor, 0);
      turn(rowsK, b * width, factor, 0, 1, this.lateK, b * width, width);
      this.diagonal[b] = dot(this.lateK, rowsQ, b * width, b * width, width);
    }
    raise(relative, block, factor, 0);
    for (let b = 0; b < count; b++) {
      turn(this.lateK, b * width, factor, 0, 1, this.lateK, b * width, width);
    }
    this.acausal.prepare(relative, block, count, this.lateK, rowsQ);
    this.halves = halfGrowths(growth, block, block, count, this.halves);
    this.lastHalves = halfGrowths(growth, block, this.length(count - 1), count, this.lastHalves);
  }

  /** Sum the causal cells of each block with itself. */
  cutDiagonal() {
    const { rates, width, factor, state, q, k } = this;
    raise(rates, 1, factor, 0);
    for (let a = 0, t = this.start; a < this.count; a++) {
      this.diagonal[a] = 0;
      state.fill(0);
      for (let end = t + this.length(a); t < end; t++) {
        turn(state, 0, factor, 0, -1, state, 0, width);
        add(k, t * width, state, 0, width);
        this.diagonal[a] += dot(state, q, 0, t * width, width);
      }
    }
  }

  /**
   * Sums of the query rows first … last−1 with the key rows before `columns`.
   *
   * @param {number} first
   * @param {number} last
   * @param {number} columns at least `last`
   * @returns {Float64Array} (last − first, columns) from its beginning, valid until the next
   *     call; causal masks leave what is above the diagonal undefined
   */
  fill(first, last, columns) {
    this.sums = room(this.sums, (last - first) * columns);
    const target = { sums: this.sums, base: -first * columns };
    const below = { ...target, late: columns, early: 1 };
    this.causal.rectangle(0, first, last, below);
    this.causal.triangle(first, last, below);
    for (let a = first; a < last; a++) this.sums[target.base + a * columns + a] = this.diagonal[a];
    if (this.mask === "none") {
      const above = { ...target, late: 1, early: columns };
      this.acausal.triangle(first, last, above);
      this.acausal.rectangle(first, last, columns, above);
      if (this.growth > 0) this.grow(first, last, columns);
    }
    return this.sums;
  }

  /** Multiply the growth back to the cells on the diagonal and above it. */
  grow(first, last, columns) {
    const { sums, halves, lastHalves, count } = this;
    for (let a = first; a < last; a++) {
      for (let b = a, at = (a - first) * columns + a; b < columns; b++, at++) {
        const half = b === count - 1 ? lastHalves[b - a] : halves[b - a];
        if (Math.abs(sums[at]) < LOST) sums[at] = this.inLagForm(a, b);
        else sums[at] = sums[at] * half * half; // in this order: the square may be infinite
      }
    }
  }

  /** One acausal sum whose fastest pair may have no content. */
  inLagForm(a, b) {
    const { rates, width, rowsQ, rowsK, factor, terms } = this;
    const lag = (b - a) * this.block + this.length(b) - 1;
    const [query, key] = [rowsQ.subarray(a * width), rowsK.subarray(b * width)];
    const peak = lagTerms(rates, -lag, query, key, factor, terms);
    return scaled(total(terms), peak);
  }
}

/**
 * The sum of some numbers.
 *
 * @param {Float64Array} terms
 * @returns {number}
 */
export function total(terms) {
  let sum = 0;
  for (let i = 0; i < terms.length; i++) sum += terms[i];
  return sum;
}

/** Square roots of the growth from a query to the last key of a block, by blocks between. */
function halfGrowths(growth, block, length, count, array) {
  const halves = room(array, count);
  for (let j = 0; j < count; j++) {
    halves[j] = Math.exp(Math.min(700, (growth * (j * block + length - 1)) / 2));
  }
  return halves;
}

/** Add a row to another, both given by their beginnings. */
function add(from, row, into, to, width) {
  for (let i = 0; i < width; i++) into[to + i] += from[row + i];
}

/** Product of two rows, given by their beginnings. */
function dot(a, b, i, j, width) {
  let sum = 0;
  for (let at = 0; at < width; at++) sum += a[i + at] * b[j + at];
  return sum;
}
