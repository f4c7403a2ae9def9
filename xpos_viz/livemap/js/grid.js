/**
 * Maps as grids of cells: which of them a part of the picture needs, which are seen, and what is
 * in them. A cell is a block of tokens a side; blocks are counted from the window's first token.
 *
 * A map is { values, rows, columns, block, mask, top, bottom, left, right }: its values row by
 * row, and the tokens at its edges.
 */

/**
 * The coarsest grid that shows a part of the maps with at most a cell per pixel, or one that is
 * coarser still so that no more than `most` cells are seen.
 * @param {{row: number, column: number, span: number}} part
 * @param {{start: number, stop: number, mask: string}} window
 * @param {number} pixels of a panel's side
 * @param {number} [most]
 * @returns {{start: number, stop: number, block: number, rows: number[], columns: number[]}}
 */
export function covering(part, window, pixels, most = Infinity) {
  const first = Math.max(1, Math.ceil(part.span / pixels));
  for (let block = first; ; block++) {
    const grid = gridOf(part, window, block);
    if (block >= part.span || seenCells(grid, window.mask) <= most) return grid;
  }
}

/**
 * The blocks that a part of the maps lies in.
 * @param {{row: number, column: number, span: number}} part
 * @param {{start: number, stop: number}} window
 * @param {number} block tokens a side
 * @returns {{start: number, stop: number, block: number, rows: number[], columns: number[]}}
 */
export function gridOf({ row, column, span }, { start, stop }, block) {
  const count = Math.ceil((stop - start) / block);
  const blocks = (low) => [
    Math.max(0, Math.floor((low - start) / block)),
    Math.min(count, Math.ceil((low + span - start) / block)),
  ];
  return { start, stop, block, rows: blocks(row), columns: blocks(column) };
}

/**
 * How many cells of a grid are seen.
 * @param {{rows: number[], columns: number[]}} grid
 * @param {string} mask
 * @returns {number}
 */
export function seenCells({ rows, columns }, mask) {
  if (mask === "none") return (rows[1] - rows[0]) * (columns[1] - columns[0]);
  let cells = 0;
  for (let a = rows[0]; a < rows[1]; a++) {
    cells += Math.max(0, Math.min(a + 1, columns[1]) - columns[0]);
  }
  return cells;
}

/**
 * How many cells of a row are seen: the first ones.
 * @param {object} map
 * @param {number} row
 * @returns {number}
 */
export function seenIn({ mask, columns, block, top, left }, row) {
  if (mask === "none") return columns;
  return Math.max(0, Math.min(columns, row + 1 + Math.round((top - left) / block)));
}

/**
 * The cell of a map that holds a query and a key.
 * @param {object} map
 * @param {{m: number, n: number}} cell
 * @returns {{value: number, queries: number[], keys: number[], seen: boolean}|null} first and
 *     last token of each side; null where the map does not go
 */
export function cellAt(map, { m, n }) {
  const { values, columns, block, top, bottom, left, right } = map;
  if (m < top || m >= bottom || n < left || n >= right) return null;
  const [row, queries] = side(m, top, bottom, block);
  const [column, keys] = side(n, left, right, block);
  const seen = column < seenIn(map, row);
  return { value: values[row * columns + column], queries, keys, seen };
}

function side(token, first, stop, block) {
  const index = Math.floor((token - first) / block);
  const low = first + index * block;
  return [index, [low, Math.min(low + block, stop) - 1]];
}

/**
 * Means over squares of single cells that are seen.
 * @param {object} map of single cells, of a whole window
 * @param {number} block cells a side of a square
 * @returns {object} a map
 */
export function coarser(map, block) {
  const count = Math.ceil(map.rows / block);
  const [sums, cells] = [new Float64Array(count), new Float64Array(count)];
  const values = new Float32Array(count * count).fill(NaN);
  for (let row = 0; row < map.rows; row++) {
    const seen = seenIn(map, row);
    for (let b = 0, column = 0; column < seen; b++) {
      const from = column;
      const at = row * map.columns;
      for (const end = Math.min(from + block, seen); column < end; column++) {
        sums[b] += map.values[at + column];
      }
      cells[b] += column - from;
    }
    if ((row + 1) % block !== 0 && row + 1 !== map.rows) continue;
    const into = Math.floor(row / block) * count;
    for (let b = 0; b < count && cells[b] > 0; b++) values[into + b] = sums[b] / cells[b];
    sums.fill(0);
    cells.fill(0);
  }
  return { ...map, values, rows: count, columns: count, block };
}

/**
 * The values of a map of a whole window where no key of a block is ahead: growth sets no limit.
 * @param {object} map
 * @returns {Float32Array}
 */
export function behind({ values, rows, columns, block, mask }) {
  if (mask === "causal") return values;
  const own = block === 1 ? 1 : 0; // whether the diagonal itself is kept
  const kept = new Float32Array((rows * (rows - 1)) / 2 + own * rows);
  for (let row = 0, at = 0; row < rows; at += row + own, row++) {
    kept.set(values.subarray(row * columns, row * columns + row + own), at);
  }
  return kept;
}

/**
 * Compare two maps cell by cell.
 * @param {string} how "plain", "weights": last − first; "ratio": log2(|last| / |first|)
 * @param {object} first
 * @param {object} last
 * @param {Float32Array} [old] memory that may be written
 * @returns {object} a map
 */
export function compared(how, first, last, old) {
  const [a, b] = [first.values, last.values];
  const values = old?.length === a.length ? old : new Float32Array(a.length);
  if (how === "ratio") {
    for (let cell = 0; cell < a.length; cell++) {
      values[cell] = Math.log2(Math.abs(b[cell]) / Math.abs(a[cell]));
    }
  } else {
    for (let cell = 0; cell < a.length; cell++) values[cell] = b[cell] - a[cell];
  }
  return { ...last, values };
}

/**
 * How many cells of a map are seen and have no number.
 * @param {object} map
 * @returns {number}
 */
export function unknown(map) {
  let count = 0;
  for (let row = 0; row < map.rows; row++) {
    const at = row * map.columns;
    const end = at + seenIn(map, row);
    for (let cell = at; cell < end; cell++) if (map.values[cell] !== map.values[cell]) count++;
  }
  return count;
}
