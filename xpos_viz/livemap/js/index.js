/**
 * The live map: mount(element, payload) → { update(payload), on(event, listener), destroy() }.
 *
 * Every input redraws on the next frame, and a frame draws the latest state only. While a
 * control is dragged nothing is said to the host; on release "commit" tells it what changed, as
 * { changes, number, holds }, where holds names the data that need not be sent again. The host
 * answers by update(payload), with `echo` the number of the last commit that the payload knows
 * of. "need" says that a payload came without the data it is of.
 */
import { readCell } from "./cell.js";
import { createControls, placeBetween } from "./controls.js";
import { listen } from "./input.js";
import { createNumbers } from "./numbers.js";
import { read } from "./payload.js";
import { createPage, download } from "./page.js";
import { createPicture } from "./picture.js";
import { createPlayer } from "./play.js";
import { createReadout } from "./readout.js";
import { createStore } from "./state.js";
import { createView, labelled, lagAt } from "./view.js";
import { around, inside, magnified, middle, revealing, shifted, whole } from "./zoom.js";

/**
 * Show the live map in an element.
 * @param {HTMLElement|ShadowRoot} element
 * @param {object|Uint8Array} first the payload, with its data
 * @returns {{update: function(object|Uint8Array): void, on: function(string, function): function,
 *     destroy: function(): void}} `on` returns a function that ends the listening
 */
export function mount(element, first) {
  const document = element.ownerDocument;
  const window = document.defaultView;
  const listeners = new Map();
  const store = createStore(read(first));
  const numbers = createNumbers();
  const picture = createPicture(numbers);
  const view = createView(document, numbers);
  const held = new Set(); // keys of controls that are being moved
  const seen = { hover: null, pinned: null, lag: null, box: null, zoom: null, pairs: false };
  let look = null; // ink and font
  let last = null; // scene, picture, layout and look that were drawn last
  let width = 0;
  let request = 0;
  let asked = null; // the data that the host was asked for last
  let stale = true; // whether the maps have to be drawn, not only what lies over them

  const readout = createReadout(document, {
    pairs: (on) => change({ pairs: on }),
    whole: () => zoomTo(null),
  });
  const controls = createControls(document, { move: taken, release, play, save });
  const player = createPlayer(window, {
    steps: controls.steps,
    move: (key, value) => move({ [key]: value }, key),
    ended: (key, value) => {
      move({ [key]: value }, key);
      release(key);
    },
  });
  const page = createPage(document, view, controls, readout);

  function emit(event, detail) {
    for (const listener of listeners.get(event) ?? []) listener(detail);
  }

  function redraw(maps = true) {
    stale ||= maps;
    request ||= window.requestAnimationFrame(frame);
  }

  function change(changes, maps = false) {
    Object.assign(seen, changes);
    redraw(maps);
  }

  // What is set

  function move(changes, ...keys) {
    keys.forEach((key) => held.add(key));
    store.set(changes);
    redraw();
  }

  /** A hand on a slider that is being played ends the playing. */
  function taken(changes, ...keys) {
    if (keys.includes(player.key)) player.stop();
    move(changes, ...keys);
  }

  function release(...keys) {
    keys.forEach((key) => held.delete(key));
    const commit = store.settle(held);
    if (commit) emit("commit", { ...commit, holds: numbers.data });
    redraw();
  }

  function play(key) {
    player.toggle(key, placeBetween(controls.steps(key), store.values[key]));
    redraw();
  }

  function update(next) {
    const payload = read(next);
    store.receive(payload, held);
    if (numbers.load(store.payload)) Object.assign(seen, { zoom: null, pinned: null, hover: null });
    look = null;
    redraw();
  }

  // What is seen of it

  const all = () => whole(store.values.start, store.values.stop);
  const part = () => (seen.zoom ? inside(seen.zoom, all()) : all());

  function zoomTo(wanted) {
    const zoom = wanted && inside(wanted, all());
    change({ zoom: zoom && zoom.span < all().span ? zoom : null }, true);
  }

  function located(x, y, near) {
    if (!last) return null;
    const { panels } = last.layout;
    const holds = (p) => x >= p.x && y >= p.y && x < p.x + p.size && y < p.y + p.size;
    const panel = near ?? panels.find(holds);
    if (!panel) return null;
    const { row, column, span } = part();
    const share = (at) => Math.max(0, Math.min(1, at / panel.size));
    return {
      row: row + span * share(y - panel.y),
      column: column + span * share(x - panel.x),
      panel,
    };
  }

  function tokenAt({ row, column }) {
    const { start, stop } = store.values;
    const [m, n] = [row, column].map((at) => Math.max(start, Math.min(stop - 1, Math.floor(at))));
    return { m, n };
  }

  function step(rows, columns) {
    const { start, stop } = store.values;
    const from = seen.pinned ?? tokenAt(middle(part()));
    const block = last?.picture.panels[0].map?.block ?? 1;
    const fit = (token) => Math.max(start, Math.min(stop - 1, token));
    const moved = seen.pinned ? block : 0; // the first key shows where the cross-hair is
    const pinned = { m: fit(from.m + rows * moved), n: fit(from.n + columns * moved) };
    const zoom = seen.zoom && inside(revealing(part(), pinned), all());
    change({ pinned, hover: null, lag: null, zoom }, seen.zoom !== null);
  }

  function magnify(factor, at) {
    const { pinned } = seen;
    const centre = pinned ? { row: pinned.m + 0.5, column: pinned.n + 0.5 } : middle(part());
    zoomTo(magnified(part(), factor, at ?? centre));
  }

  listen(page.maps, {
    locate: (x, y) => located(x, y),
    clamped: (x, y, press) => located(x, y, press.at.panel),
    point: (at) => change({ hover: at && tokenAt(at), lag: null }),
    pick: (at) => change({ pinned: tokenAt(at), hover: null, lag: null }),
    box: (a, b) => change({ box: a && around(a, b), hover: null }),
    zoomBox: (a, b) => zoomTo(around(a, b)),
    pan: (rows, columns) => zoomTo(shifted(part(), rows, columns)),
    magnify,
    reset: () => zoomTo(null),
    escape: () => (seen.zoom ? zoomTo(null) : change({ pinned: null, hover: null, lag: null })),
    zoomed: () => seen.zoom !== null,
    step,
  });
  const { canvas: graph } = view.sheets.graph;
  graph.addEventListener("pointermove", (event) => {
    const { start, stop } = store.values;
    if (last) change({ lag: lagAt(event.offsetX, last.layout, stop - start) });
  });
  graph.addEventListener("pointerleave", () => change({ lag: null }));

  // Drawing

  function frame() {
    request = 0;
    const { payload, values } = store;
    if (numbers.data !== payload.data) return need(payload.data);
    if (!width) return;
    look ??= page.look(payload);
    if (stale) drawAll({ payload, values, width, part: part() });
    stale = false;
    drawPointer();
  }

  function need(data) {
    if (asked !== data) emit("need", data);
    asked = data;
  }

  function drawAll(scene) {
    const palette = scene.payload.theme.palettes[scene.values.colours];
    const full = { ...look, palette };
    const resting = held.size === 0 && player.key === null;
    const pixels = view.layoutOf(scene, full, false).size * (window.devicePixelRatio || 1);
    const shown = picture({ ...scene, pixels, resting });
    const layout = view.layoutOf(scene, full, labelled(scene.payload, shown));
    last = { scene, picture: shown, layout, look: full };
    view.drawPicture(scene, shown, layout, full);
    controls.show({ ...scene, playing: player.key });
    readout.label(scene.payload);
    page.show(last, seen.zoom !== null);
  }

  function drawPointer() {
    const { scene, picture: shown, layout } = last;
    const at = seen.lag === null ? (seen.hover ?? seen.pinned) : null;
    const cell = at && readCell(numbers, scene, shown, at);
    const lag = cell ? cell.lag : seen.lag;
    const pairs = seen.pairs && cell && !cell.masked ? at : null;
    view.drawPointer(scene, shown, layout, { cell, lag, box: seen.box, pairs }, last.look);
    const colours = scene.payload.theme.lines.slice(0, 2);
    const zoomed = seen.zoom !== null;
    readout.show({ ...scene, picture: shown, cell, lag, zoomed, colours });
  }

  function save() {
    const { scene, picture: shown, layout } = last;
    const ink = scene.payload.theme.inks.light;
    const canvas = view.saved(scene, shown, layout, { ...last.look, ink });
    canvas.toBlob((blob) => download(document, blob, "xpos_viz-live.png"));
  }

  // Life

  const resized = () => {
    width = Math.floor(page.root.clientWidth);
    redraw();
  };
  const observer = new window.ResizeObserver(resized);
  window.addEventListener("resize", resized); // the density of pixels may change alone
  numbers.load(store.payload);
  element.append(page.root);
  observer.observe(page.root);
  document.fonts.ready.then(() => redraw());
  redraw();

  return {
    update,
    on(event, listener) {
      if (!listeners.has(event)) listeners.set(event, new Set());
      listeners.get(event).add(listener);
      return () => listeners.get(event).delete(listener);
    },
    destroy() {
      listeners.clear();
      player.stop();
      window.removeEventListener("resize", resized);
      window.cancelAnimationFrame(request);
      observer.disconnect();
      controls.destroy();
      readout.destroy();
      page.root.remove();
    },
  };
}
