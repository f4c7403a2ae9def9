/** What is read at a cell: where it is, and its three numbers. */
import { cellAt } from "./grid.js";
import { heavy } from "./picture.js";
import { fill, measured } from "./text.js";

/**
 * The cell of the picture that holds a query and a key.
 * @param {object} numbers
 * @param {object} scene payload, values
 * @param {object} picture
 * @param {{m: number, n: number}} at
 * @returns {{queries: number[], keys: number[], lag: number, masked: boolean, waits: boolean[],
 *     readings: number[]}|null}
 */
export function readCell(numbers, { payload, values }, picture, at) {
  const maps = picture.panels.map(({ map }) => map);
  const cells = maps.map((map) => map && cellAt(map, at));
  if (!cells.every(Boolean)) return null;
  const [{ queries, keys, seen }] = cells;
  const waits = picture.panels.map((panel) => panel.waits);
  const shown = cells.map((cell) => cell.value);
  const readings = maps[0].block === 1 ? exact(numbers, payload, values, picture, at, shown) : shown;
  if (values.difference === "ratio" && readings === shown) readings[2] = 2 ** readings[2];
  const lag = (queries[0] + queries[1] - keys[0] - keys[1]) / 2;
  return { queries, keys, lag, masked: !seen, waits, readings };
}

/** The readings of single cells in double precision, where they are cheap. */
function exact(numbers, payload, values, { encodings }, { m, n }, shown) {
  const { stage, mask, difference } = values;
  const other = difference === "weights" ? "weights" : stage;
  if (heavy(payload, stage) || heavy(payload, other)) return shown;
  const at = (of) => encodings.map((encoding) => numbers.cellOf(encoding, { stage: of, mask, m, n }));
  const own = at(stage);
  const [first, last] = other === stage ? own : at(other);
  return [...own, difference === "ratio" ? Math.abs(last) / Math.abs(first) : last - first];
}

/**
 * Where a cell is, in words: query 20 “the” · key 4 “sea” · lag 16.
 * @param {object} payload
 * @param {{queries: number[], keys: number[], lag: number}} cell
 * @returns {string}
 */
export function placeOf(payload, cell) {
  const { text, labels } = payload;
  const [query, key] = [cell.queries, cell.keys].map(([first, last]) => {
    if (first !== last) return `${first}–${last}`;
    return labels.length ? fill(text.token, { position: first, token: labels[first] }) : `${first}`;
  });
  return fill(text.cell, { query, key, lag: measured(cell.lag) });
}
