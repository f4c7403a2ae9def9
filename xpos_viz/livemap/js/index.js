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
import { createExplorer } from "./explore.js";
import { listen, listenToLags } from "./input.js";
import { createNumbers } from "./numbers.js";
import { read } from "./payload.js";
import { createPage, download } from "./page.js";
import { createPicture } from "./picture.js";
import { createPlayer } from "./play.js";
import { createReadout } from "./readout.js";
import { createStore } from "./state.js";
import { createView, labelled, lagAt } from "./view.js";

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
  let look = null; // ink and font
  let last = null; // scene, picture, layout and look that were drawn last
  let width = 0;
  let request = 0;
  let asked = null; // the data that the host was asked for last
  let pairs = false; // whether the pairs of the cell are drawn
  let stale = true; // whether the maps have to be drawn, not only what lies over them

  const explorer = createExplorer(store, { redraw, shown: () => last });
  const readout = createReadout(document, {
    pairs: (on) => {
      pairs = on;
      redraw(false);
    },
    whole: explorer.gestures.reset,
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
    store.receive(read(next), held);
    if (numbers.load(store.payload)) {
      explorer.startAnew();
      asked = null;
    }
    look = null;
    redraw();
  }

  // Drawing

  function frame() {
    request = 0;
    const { payload, values } = store;
    if (numbers.data !== payload.data) return need(payload.data);
    if (!width) return;
    look ??= page.look(payload);
    const whole = stale;
    stale = false;
    if (whole) drawAll({ payload, values, width, part: explorer.part() });
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
    page.show(last, explorer.gestures.zoomed());
    if (shown.unfinished) redraw();
  }

  function drawPointer() {
    const { scene, picture: shown, layout } = last;
    const at = explorer.cell();
    const cell = at && readCell(numbers, scene, shown, at);
    const lag = cell ? cell.lag : explorer.lag();
    const apart = pairs && cell && !cell.masked ? at : null;
    const marks = lag === null || lag < 0 ? [] : numbers.marksOf(shown.encodings, lag);
    const over = { cell, lag, marks, box: explorer.box(), pairs: apart };
    view.drawPointer(scene, shown, layout, over, last.look);
    const colours = scene.payload.theme.lines.slice(0, 2);
    const zoomed = explorer.gestures.zoomed();
    readout.show({ ...scene, picture: shown, cell, lag, marks, zoomed, colours });
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
  listen(page.maps, explorer.gestures);
  listenToLags(view.sheets.graph.canvas, (x) => {
    explorer.pointAtLag(x === null || !last ? null : lagAt(x, last.layout, store.values));
  });
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
