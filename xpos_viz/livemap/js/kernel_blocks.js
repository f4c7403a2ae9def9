/**
 * Sums of scores over blocks of tokens, at a cost that does not depend on their length.
 *
 * Queries are summed about the first token of their block and keys about the last of theirs, so
 * that no factor grows; a product of two such sums is the sum over all cells of the two blocks.
 * Causal cells are computed as they are. Among acausal cells, where XPos grows, the fastest
 * pair's growth is divided out, which makes them causal with queries and keys exchanged; it is
 * multiplied back last. A block that the diagonal cuts takes a running sum over its keys.
 *
 * @typedef {{
 *   rates: import("./kernel_rates.js").Rates, mask: "causal" | "none",
 *   start: number, stop: number, block: number,
 *   rows: import("./kernel_side.js").Span, columns: import("./kernel_side.js").Span,
 * }} Grid
 *     Blocks of tokens, counted from the one that begins at `start`; the one that ends at `stop`
 *     may be shorter. Queries are taken from the blocks in `rows`, keys from those in `columns`.
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
   * Take up blocks and an encoding for the calls of `fill` that follow.
   *
   * @param {Grid} grid
   */
  take(grid) {
    const { start, stop, block, rows, columns } = grid;
    Object.assign(this, grid, { count: Math.ceil((stop - start) / block) });
    this.growth = -Math.min(...this.rates.logDecay);
    this.shared = [Math.max(rows[0], columns[0]), Math.min(rows[1], columns[1])];
    this.pool();
    this.diagonal = room(this.diagonal, this.count);
    this.takeCausal();
    if (this.mask === "none") this.takeAcausal();
    else this.cutDiagonal();
  }

  /** How many tokens a block has. */
  length(a) {
    return a === this.count - 1 ? this.stop - this.start - a * this.block : this.block;
  }

  /** Sum queries and keys over the blocks of the rows and of the columns. */
  pool() {
    const { rates, width, block, rows, columns } = this;
    this.powers = room(this.powers, block * width);
    for (let x = 0; x < block; x++) raise(rates, x, this.powers, x * width);
    this.pooledQ = room(this.pooledQ, (rows[1] - rows[0]) * width);
    this.pooledK = room(this.pooledK, (columns[1] - columns[0]) * width);
    this.queries = this.pooled(this.q, rows, this.pooledQ, (x) => x, 1);
    this.keys = this.pooled(this.k, columns, this.pooledK, (x, length) => length - 1 - x, -1);
  }

  /** Some blocks of tokens as rows: sums about the token to which `power` counts. */
  pooled(tokens, [first, stop], into, power, sign) {
    const { start, block, width, powers } = this;
    const from = (start + first * block) * width;
    if (block === 1) return { rows: tokens.subarray(from), first, stop };
    into.fill(0);
    for (let a = first, t = from; a < stop; a++) {
      const length = this.length(a);
      for (let x = 0; x < length; x++, t += width) {
        addTurned(tokens, t, powers, power(x, length) * width, sign, into, (a - first) * width, width);
      }
    }
    return { rows: into, first, stop };
  }

  /** Prepare the cells below the diagonal: the last key of a block is one token from the next. */
  takeCausal() {
    const { rates, width, block, factor, queries, keys } = this;
    const { first, stop } = queries;
    this.lateQ = room(this.lateQ, (stop - first) * width);
    raise(rates, 1, factor, 0);
    for (let at = 0; at < (stop - first) * width; at += width) {
      turn(queries.rows, at, factor, 0, 1, this.lateQ, at, width);
    }
    this.causal.prepare(rates, block, { rows: this.lateQ, first, stop }, keys);
  }

  /** Prepare the cells above the diagonal and on it, where lags are counted from query to key. */
  takeAcausal() {
    const { rates, width, block, count, factor, queries, keys, growth, shared } = this;
    const relative = { theta: rates.theta, logDecay: rates.logDecay.map((x) => -growth - x) };
    const { first, stop } = keys;
    this.lateK = room(this.lateK, (stop - first) * width);
    const place = (b) => (b - first) * width;
    for (let b = first; b < stop; b++) {
      if (b === first || b === count - 1) raise(relative, this.length(b) - 1, factor, 0);
      turn(keys.rows, place(b), factor, 0, 1, this.lateK, place(b), width);
    }
    for (let b = shared[0]; b < shared[1]; b++) {
      const query = (b - queries.first) * width;
      this.diagonal[b] = dot(this.lateK, queries.rows, place(b), query, width);
    }
    raise(relative, block, factor, 0);
    for (let b = first; b < stop; b++) {
      turn(this.lateK, place(b), factor, 0, 1, this.lateK, place(b), width);
    }
    this.acausal.prepare(relative, block, { rows: this.lateK, first, stop }, queries);
    this.halves = halfGrowths(growth, block, block, count, this.halves);
    this.lastHalves = halfGrowths(growth, block, this.length(count - 1), count, this.lastHalves);
  }

  /** Sum the causal cells of each block with itself. */
  cutDiagonal() {
    const { rates, width, factor, state, q, k, start, block, shared } = this;
    raise(rates, 1, factor, 0);
    for (let a = shared[0], t = start + shared[0] * block; a < shared[1]; a++) {
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
   * Sums of the query blocks first … last−1 with all key blocks.
   *
   * @param {number} first
   * @param {number} last
   * @returns {Float64Array} (last − first, columns) from its beginning, valid until the next
   *     call; causal masks leave what is above the diagonal undefined
   */
  fill(first, last) {
    const { columns, shared } = this;
    const across = columns[1] - columns[0];
    this.sums = room(this.sums, (last - first) * across);
    const target = { sums: this.sums, base: -first * across - columns[0] };
    const some = [first, last];
    this.causal.cells(some, columns, { ...target, late: across, early: 1 });
    for (let a = Math.max(first, shared[0]); a < Math.min(last, shared[1]); a++) {
      this.sums[target.base + a * across + a] = this.diagonal[a];
    }
    if (this.mask === "none") {
      this.acausal.cells(columns, some, { ...target, late: 1, early: across });
      if (this.growth > 0) this.grow(first, last, target.base, across);
    }
    return this.sums;
  }

  /** Multiply the growth back to the cells on the diagonal and above it. */
  grow(first, last, base, across) {
    const { sums, halves, lastHalves, count, columns } = this;
    for (let a = first; a < last; a++) {
      for (let b = Math.max(a, columns[0]); b < columns[1]; b++) {
        const at = base + a * across + b;
        const half = b === count - 1 ? lastHalves[b - a] : halves[b - a];
        if (Math.abs(sums[at]) < LOST) sums[at] = this.inLagForm(a, b);
        else sums[at] = sums[at] * half * half; // in this order: the square may be infinite
      }
    }
  }

  /** One acausal sum whose fastest pair may have no content. */
  inLagForm(a, b) {
    const { rates, width, queries, keys, factor, terms } = this;
    const lag = (b - a) * this.block + this.length(b) - 1;
    const query = queries.rows.subarray((a - queries.first) * width);
    const key = keys.rows.subarray((b - keys.first) * width);
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

/** Add a row to another, turned by a row of a table ({@link turn}). */
function addTurned(from, row, table, at, sign, into, to, width) {
  for (let i = 0; i < width; i += 2) {
    const real = table[at + i];
    const imaginary = sign * table[at + i + 1];
    const x = from[row + i];
    const y = from[row + i + 1];
    into[to + i] += x * real - y * imaginary;
    into[to + i + 1] += x * imaginary + y * real;
  }
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
