/**
 * The numbers of the picture, from the kernel. Each is kept under all that it depends on and
 * nothing else, so that RoPE is not computed again while γ moves.
 */
import { rates, createMap, curve, limit } from "./kernel.js";
import { floats } from "./payload.js";

const MOST = { resting: 1024, moving: 384 }; // cells a side that are asked of the kernel
const SINGLE = 64; // tokens a side of a part that is taken cell by cell
const POINTS = 1024; // of a curve

/**
 * Keep the data of one picture, and compute what is asked of it. What was computed last stands
 * in a slot, a place in the picture, and is left as it is while it still is the answer.
 * @returns {object}
 */
export function createNumbers() {
  const slots = new Map();
  let map = null;
  let data = null;
  let headDim = 0;

  /** The value of a slot, computed anew only if what it depends on is not the same. */
  function kept(slot, needs, compute) {
    const old = slots.get(slot);
    if (old && needs.length === old.needs.length && needs.every((n, i) => n === old.needs[i])) {
      return old.value;
    }
    const value = compute(old?.value);
    slots.set(slot, { needs, value });
    return value;
  }

  function load(payload) {
    if (!payload.q || payload.data === data) return false;
    slots.clear();
    data = payload.data;
    headDim = payload.head_dim;
    const [q, k] = [floats(payload.q), floats(payload.k)];
    map = createMap({ q, k, tokens: payload.tokens, headDim });
    return true;
  }

  const ratesOf = ({ name, parameters }) => rates(name, parameters, headDim);

  function valuesOf(slot, encoding, request) {
    const asked = JSON.stringify([encoding.name, encoding.parameters, request]);
    return kept(slot, [data, asked], (old) => {
      const full = { rates: ratesOf(encoding), ...request };
      if (request.part) return cellByCell(map, full);
      return placed(map.values({ ...full, into: old?.panel ?? {} }));
    });
  }

  const comparedOf = (slot, how, first, last) =>
    kept(slot, [how, first, last], (old) => compared(how, first, last, old?.values));

  const limitOf = (slot, maps) => kept(slot, maps, () => limit(maps.map(behind)));

  function curveOf(slot, encoding, lags) {
    const asked = JSON.stringify([encoding.name, encoding.parameters, lags.length, lags[0], lags.at(-1)]);
    return kept(slot, [headDim, asked], () => curve(ratesOf(encoding), lags));
  }

  /** The points of the curves at one lag. */
  const marksOf = (encodings, lag) =>
    encodings.map((encoding, place) => curveOf(`mark ${place}`, encoding, [lag])[0]);

  const cellOf = (encoding, { stage, mask, m, n }) =>
    map.cell({ rates: ratesOf(encoding), stage, mask, m, n });

  const sharesOf = (encoding, { m, n }) => map.shares({ rates: ratesOf(encoding), m, n });

  return {
    load,
    valuesOf,
    comparedOf,
    limitOf,
    curveOf,
    marksOf,
    cellOf,
    sharesOf,
    get data() {
      return data;
    },
  };
}

/**
 * What to ask for so that a part of the maps shows a cell per pixel where there are as many.
 * The kernel's windows lie on the diagonal, so all tokens from the part's first to its last are
 * spanned: coarsely while a control moves, and cell by cell where a small part is far off.
 * @param {{row: number, column: number, span: number}} part
 * @param {{start: number, stop: number}} window
 * @param {number} pixels of a panel's side
 * @param {boolean} resting
 * @returns {{start: number, stop: number, size: number, part: (object|undefined)}}
 */
export function covering(part, window, pixels, resting) {
  const { row, column, span } = part;
  const start = Math.max(window.start, Math.floor(Math.min(row, column)));
  const stop = Math.min(window.stop, Math.ceil(Math.max(row, column) + span));
  const fine = Math.max(1, Math.ceil(span / pixels));
  const most = resting ? MOST.resting : MOST.moving;
  const block = Math.max(fine, Math.ceil((stop - start) / most));
  if (block > fine && span <= SINGLE) return { start, stop, size: stop - start, part: grid(part) };
  return { start, stop, size: Math.ceil((stop - start) / block) };
}

function grid({ row, column, span }) {
  const ends = (low) => [Math.floor(low), Math.ceil(low + span)];
  const [[top, bottom], [left, right]] = [ends(row), ends(column)];
  return { top, bottom, left, right };
}

function cellByCell(map, { rates, stage, mask, part }) {
  const [rows, columns] = [part.bottom - part.top, part.right - part.left];
  const values = Float32Array.from({ length: rows * columns }, (_, at) => {
    const [m, n] = [part.top + Math.floor(at / columns), part.left + (at % columns)];
    return map.cell({ rates, stage, mask, m, n });
  });
  return { values, rows, columns, block: 1, ...part };
}

/**
 * A map with the tokens at its edges, as a window on the diagonal has them.
 * @param {{start: number, stop: number}} panel
 * @returns {object}
 */
export function placed(panel) {
  const { values, rows, columns, block, start, stop } = panel;
  const edges = { top: start, bottom: stop, left: start, right: stop };
  return { values, rows, columns, block, ...edges, panel };
}

/** The values of a map of a window where no key of a block is ahead: growth sets no limit. */
function behind({ values, rows, columns, block }) {
  if (rows !== columns || Number.isNaN(values[columns - 1])) return values; // nothing is ahead
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
 * The lags that a curve is drawn at: whole tokens, thinned where there are more than pixels.
 * @param {number} last
 * @param {string} axis "linear", or "log" which begins at 1
 * @returns {Float64Array}
 */
export function lagsUpTo(last, axis) {
  const log = axis === "log";
  const count = Math.min(last, POINTS);
  const at = (place) => (log ? last ** (place / count) : (last * place) / count);
  const lags = Array.from({ length: count + 1 }, (_, place) => Math.round(at(place)));
  return Float64Array.from(new Set(count ? lags : [log ? 1 : 0]));
}

/**
 * The cell of a map that holds a query and a key.
 * @param {object} map
 * @param {{m: number, n: number}} cell
 * @returns {{value: number, queries: number[], keys: number[]}} first and last token of each side
 */
export function cellAt(map, { m, n }) {
  const [row, queries] = side(m, map.top, map.bottom, map.block);
  const [column, keys] = side(n, map.left, map.right, map.block);
  return { value: map.values[row * map.columns + column], queries, keys };
}

function side(token, first, stop, block) {
  const index = Math.floor((token - first) / block);
  const low = first + index * block;
  return [index, [low, Math.min(low + block, stop) - 1]];
}
