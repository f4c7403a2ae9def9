/**
 * One side of a map's diagonal, in factor form without growth.
 *
 * Rows are numbered and stand a step apart. A cell joins a late row l with an early row e < l:
 *
 *     Re Σ_i late_i(l) · conj(early_i(e)) · e^(λ_i · step · (l − e − 1))
 *
 * Any rectangle of cells has an origin between its early and its late rows, and about it both
 * factors only shrink. A triangle is two triangles of half the size and the rectangle between
 * them. So nothing overflows, whatever the rates: work is that of the bare product, and a
 * little for turning each row once per halving.
 *
 * @typedef {[number, number]} Span
 *     Numbers of rows: the first, and the one after the last.
 * @typedef {{rows: Float64Array, first: number, stop: number}} Rows
 *     The rows first … stop−1, (stop − first, d), kept by reference.
 * @typedef {{sums: Float64Array, base: number, late: number, early: number}} Target
 *     Where cells are written: sums[base + l · late + e · early].
 */

import { ladder } from "./kernel_rates.js";

/** Cells of late with early rows, and the room that computing them takes. */
export class Side {
  /** @param {number} width d, numbers in a row */
  constructor(width) {
    this.width = width;
    this.late = this.early = this.steps = new Float64Array(0);
    this.turnedLate = this.turnedEarly = new Float64Array(0);
  }

  /**
   * Take up rows and rates for the calls that follow.
   *
   * @param {import("./kernel_rates.js").Rates} rates that do not grow
   * @param {number} step tokens between rows
   * @param {Rows} late
   * @param {Rows} early
   */
  prepare(rates, step, late, early) {
    const { width } = this;
    const reach = Math.max(late.stop - early.first, 1); // steps from the first to the last
    this.steps = room(this.steps, reach * width);
    this.turnedLate = room(this.turnedLate, (late.stop - late.first + 4) * width); // the product
    this.turnedEarly = room(this.turnedEarly, (early.stop - early.first + 4) * width); // reads four
    this.late = late;
    this.early = early;
    ladder(rates, step, reach, this.steps);
  }

  /**
   * All cells of some late with some early rows; of these only what is earlier has cells.
   *
   * @param {Span} late
   * @param {Span} early
   * @param {Target} target
   */
  cells(late, early, target) {
    const lo = Math.max(late[0], early[0]);
    const hi = Math.min(late[1], early[1]);
    this.rectangle([lo, late[1]], [early[0], Math.min(early[1], lo)], target);
    this.rectangle([Math.max(late[0], early[1]), late[1]], [lo, early[1]], target);
    this.triangle(lo, hi, target);
  }

  /** All cells of the rows lo … hi−1 with each other. */
  triangle(lo, hi, target) {
    if (hi - lo < 2) return;
    const middle = (lo + hi) >> 1;
    this.triangle(lo, middle, target);
    this.triangle(middle, hi, target);
    this.rectangle([middle, hi], [lo, middle], target);
  }

  /** Cells of late rows with early rows, all of which are before them. */
  rectangle([first, last], [lo, hi], target) {
    if (first >= last || lo >= hi) return;
    const { width, steps, late, early } = this;
    const origin = (first + hi) >> 1;
    for (let l = first; l < last; l++) {
      const [at, to] = [(l - late.first) * width, (l - first) * width];
      turn(late.rows, at, steps, (l - origin) * width, 1, this.turnedLate, to, width);
    }
    for (let e = lo; e < hi; e++) {
      const [at, to] = [(e - early.first) * width, (e - lo) * width];
      turn(early.rows, at, steps, (origin - 1 - e) * width, -1, this.turnedEarly, to, width);
    }
    const base = target.base + first * target.late + lo * target.early;
    product(this.turnedLate, this.turnedEarly, last - first, hi - lo, width, base, target);
  }
}

/**
 * The same array if it is long enough, else a longer one with nothing in it.
 *
 * @param {Float64Array} array
 * @param {number} length
 * @returns {Float64Array}
 */
export function room(array, length) {
  return array.length < length ? new Float64Array(length) : array;
}

/**
 * Multiply each pair of a row by its entry of a table.
 *
 * @param {Float64Array} from
 * @param {number} row index of the row
 * @param {Float64Array} table
 * @param {number} at index of the table's row
 * @param {1 | -1} sign -1 takes the entries' conjugates
 * @param {Float64Array} into
 * @param {number} to index of the result
 * @param {number} width
 */
export function turn(from, row, table, at, sign, into, to, width) {
  for (let i = 0; i < width; i += 2) {
    const real = table[at + i];
    const imaginary = sign * table[at + i + 1];
    const x = from[row + i];
    const y = from[row + i + 1];
    into[to + i] = x * real - y * imaginary;
    into[to + i + 1] = x * imaginary + y * real;
  }
}

/** Products of all late with all early rows, four by two at a time: eight sums in registers. */
function product(late, early, rows, columns, width, base, { sums, late: down, early: across }) {
  for (let l = 0; l < rows; l += 4) {
    const l0 = l * width;
    const l1 = l0 + width;
    const l2 = l1 + width;
    const l3 = l2 + width;
    for (let e = 0; e < columns; e += 2) {
      const e0 = e * width;
      const e1 = e0 + width;
      let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
      for (let i = 0; i < width; i++) {
        const a = early[e0 + i];
        const b = early[e1 + i];
        const p = late[l0 + i];
        const q = late[l1 + i];
        const r = late[l2 + i];
        const s = late[l3 + i];
        a0 += p * a;
        a1 += q * a;
        a2 += r * a;
        a3 += s * a;
        b0 += p * b;
        b1 += q * b;
        b2 += r * b;
        b3 += s * b;
      }
      const at = base + l * down + e * across;
      write(sums, at, down, rows - l, a0, a1, a2, a3);
      if (e + 1 < columns) write(sums, at + across, down, rows - l, b0, b1, b2, b3);
    }
  }
}

/** Write up to four late cells of one early row. */
function write(sums, at, down, rows, a, b, c, d) {
  sums[at] = a;
  if (rows > 1) sums[at + down] = b;
  if (rows > 2) sums[at + 2 * down] = c;
  if (rows > 3) sums[at + 3 * down] = d;
}
