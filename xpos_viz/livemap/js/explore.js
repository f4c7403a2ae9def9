/** What is looked at: the part that is seen, the cell that is read, the box being dragged. */
import { around, inside, magnified, middle, revealing, shifted, whole } from "./zoom.js";

const NOTHING = { hover: null, pinned: null, lag: null, box: null, zoom: null };

/**
 * Make the explorer; it gives the gestures that input.js listens for.
 * @param {object} store
 * @param {{redraw: function(boolean): void, shown: function(): object|null}} host redraw(maps) and
 *     what was drawn last
 * @returns {object}
 */
export function createExplorer(store, { redraw, shown }) {
  const seen = { ...NOTHING };
  const all = () => whole(store.values.start, store.values.stop);
  const part = () => (seen.zoom ? inside(seen.zoom, all()) : all());

  function change(changes, maps = false) {
    Object.assign(seen, changes);
    redraw(maps);
  }

  function zoomTo(wanted) {
    const zoom = wanted && inside(wanted, all());
    change({ zoom: zoom && zoom.span < all().span ? zoom : null }, true);
  }

  /** The tokens at a point of a panel; of the given one also for points beside it. */
  function locate(x, y, given) {
    const holds = (p) => x >= p.x && y >= p.y && x < p.x + p.size && y < p.y + p.size;
    const panel = given ?? shown()?.layout.panels.find(holds);
    if (!panel) return null;
    const { row, column, span } = part();
    const along = (at) => span * Math.max(0, Math.min(1, at / panel.size));
    return { row: row + along(y - panel.y), column: column + along(x - panel.x), panel };
  }

  function fit(token) {
    const { start, stop } = store.values;
    return Math.max(start, Math.min(stop - 1, Math.floor(token)));
  }

  const cellOf = ({ row, column }) => ({ m: fit(row), n: fit(column) });

  /** Move the kept cell; the first step only shows where it is. */
  function step(rows, columns) {
    const from = seen.pinned ?? cellOf(middle(part()));
    const block = seen.pinned ? (shown()?.picture.panels[0].map?.block ?? 1) : 0;
    const pinned = { m: fit(from.m + rows * block), n: fit(from.n + columns * block) };
    const zoom = seen.zoom && inside(revealing(part(), pinned), all());
    change({ pinned, hover: null, lag: null, zoom }, zoom !== null);
  }

  function magnify(factor, at) {
    const { pinned } = seen;
    const centre = pinned ? { row: pinned.m + 0.5, column: pinned.n + 0.5 } : middle(part());
    zoomTo(magnified(part(), factor, at ?? centre));
  }

  const forget = () => change({ pinned: null, hover: null, lag: null });
  const gestures = {
    locate,
    clamped: (x, y, press) => locate(x, y, press.at.panel),
    point: (at) => change({ hover: at && cellOf(at), lag: null }),
    pick: (at) => change({ pinned: cellOf(at), hover: null, lag: null }),
    box: (a, b) => change({ box: a && around(a, b), hover: null }),
    zoomBox: (a, b) => zoomTo(around(a, b)),
    pan: (rows, columns) => zoomTo(shifted(part(), rows, columns)),
    magnify,
    step,
    reset: () => zoomTo(null),
    escape: () => (seen.zoom ? zoomTo(null) : forget()),
    zoomed: () => seen.zoom !== null,
  };

  return {
    gestures,
    part,
    /** The cell to be read, { m, n }, or null. */
    cell: () => (seen.lag === null ? (seen.hover ?? seen.pinned) : null),
    lag: () => seen.lag,
    box: () => seen.box,
    pointAtLag: (lag) => change({ lag }),
    /** Keep a cell where none is: the last query that is seen, and a key far behind it. */
    keepOne: () => {
      const { row, span } = part();
      const last = { row: row + span - 0.5, column: middle(part()).column };
      change({ pinned: seen.pinned ?? cellOf(last), lag: null });
    },
    startAnew: () => Object.assign(seen, NOTHING),
  };
}
