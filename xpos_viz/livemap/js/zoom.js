/**
 * The part of the maps that is seen: a square { row, column, span } in tokens, so that a lag
 * is always a line at 45°. Token t covers t … t + 1.
 */

const SMALLEST = 4; // tokens

/**
 * The whole window of tokens start ≤ t < stop.
 * @param {number} start
 * @param {number} stop
 * @returns {{row: number, column: number, span: number}}
 */
export function whole(start, stop) {
  return { row: start, column: start, span: stop - start };
}

/**
 * The nearest part that lies in the whole.
 * @param {{row: number, column: number, span: number}} part
 * @param {{row: number, column: number, span: number}} all
 * @returns {{row: number, column: number, span: number}}
 */
export function inside(part, all) {
  const span = Math.min(Math.max(part.span, SMALLEST), all.span);
  const fit = (low, first) => Math.min(Math.max(low, first), first + all.span - span);
  return { row: fit(part.row, all.row), column: fit(part.column, all.column), span };
}

/**
 * Magnify about a point that stays where it is.
 * @param {{row: number, column: number, span: number}} part
 * @param {number} factor more than 1 to come nearer
 * @param {{row: number, column: number}} point
 * @returns {{row: number, column: number, span: number}}
 */
export function magnified(part, factor, point) {
  const span = Math.max(part.span / factor, SMALLEST);
  const share = span / part.span;
  return {
    row: point.row - (point.row - part.row) * share,
    column: point.column - (point.column - part.column) * share,
    span,
  };
}

/**
 * Move by some tokens.
 * @param {{row: number, column: number, span: number}} part
 * @param {number} rows
 * @param {number} columns
 * @returns {{row: number, column: number, span: number}}
 */
export function shifted(part, rows, columns) {
  return { ...part, row: part.row + rows, column: part.column + columns };
}

/**
 * The square around the box between two corners.
 * @param {{row: number, column: number}} a
 * @param {{row: number, column: number}} b
 * @returns {{row: number, column: number, span: number}}
 */
export function around(a, b) {
  const span = Math.max(Math.abs(a.row - b.row), Math.abs(a.column - b.column), SMALLEST);
  return { row: (a.row + b.row - span) / 2, column: (a.column + b.column - span) / 2, span };
}

/**
 * Move as little as needed to see a token on each axis.
 * @param {{row: number, column: number, span: number}} part
 * @param {{m: number, n: number}} cell
 * @returns {{row: number, column: number, span: number}}
 */
export function revealing(part, { m, n }) {
  const fit = (low, token) => Math.min(Math.max(low, token + 1 - part.span), token);
  return { ...part, row: fit(part.row, m), column: fit(part.column, n) };
}

/**
 * The point in the middle, a little below the diagonal where the part lies on it.
 * @param {{row: number, column: number, span: number}} part
 * @returns {{row: number, column: number}}
 */
export function middle({ row, column, span }) {
  return { row: row + 0.6 * span, column: column + 0.4 * span };
}
