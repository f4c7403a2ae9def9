/**
 * The live map: mount(element, payload) → { update(payload), on(event, listener), destroy() }.
 *
 * Every input redraws on the next frame, and a frame draws the latest state only. While a
 * control is dragged nothing is said to the host; on release "commit" tells it what changed, as
 * { changes, number, holds }, where holds names the data that need not be sent again. The host
 * answers by update(payload), with `echo` the number of the last commit that the payload knows
 * of. "need" says that a payload came without the data it is of.
 */
import { createControls } from "./controls.js";
import { createDrawing } from "./drawing.js";
import { createEvents } from "./events.js";
import { createExplorer } from "./explore.js";
import { createFrames } from "./frames.js";
import { listen, listenToLags } from "./input.js";
import { createMoves } from "./moves.js";
import { createNumbers } from "./numbers.js";
import { createPage } from "./page.js";
import { read } from "./payload.js";
import { createReadout } from "./readout.js";
import { createStore } from "./state.js";
import { createView } from "./view.js";

/**
 * Show the live map in an element.
 * @param {HTMLElement|ShadowRoot} element
 * @param {object|Uint8Array} first the payload, with its data
 * @returns {{update: function(object|Uint8Array): void, on: function(string, function): function,
 *     destroy: function(): void}} `on` returns a function that ends the listening
 */
export function mount(element, first) {
  const document = element.ownerDocument;
  const events = createEvents();
  const numbers = createNumbers();
  const store = createStore(read(first));
  const frames = createFrames(document.defaultView, draw);
  const parts = assembled(document, { events, numbers, store, redraw: frames.ask });
  const { drawing, explorer, moves, page } = parts;
  let width = 0;
  let asked = null; // the data that the host was asked for last

  function draw(maps) {
    const { data } = store.payload;
    if (numbers.data !== data) need(data);
    else if (width) drawing.draw(width, maps);
  }

  function need(data) {
    if (asked !== data) events.emit("need", data);
    asked = data;
  }

  function update(payload) {
    moves.receive(read(payload));
    drawing.lookAgain();
    if (!numbers.load(store.payload)) return;
    explorer.startAnew();
    asked = null;
  }

  const unsized = sized(page.root, (now) => {
    width = now;
    frames.ask();
  });
  numbers.load(store.payload);
  element.append(page.root);
  document.fonts.ready.then(() => frames.ask());
  frames.ask();

  function destroy() {
    events.clear();
    moves.drop();
    unsized();
    frames.cancel();
    parts.controls.destroy();
    parts.readout.destroy();
    page.root.remove();
  }

  return { update, on: events.on, destroy };
}

/** The parts, each told of those that it acts on. */
function assembled(document, { events, numbers, store, redraw }) {
  const explorer = createExplorer(store, { redraw, shown: () => drawing.shown() });
  const moves = createMoves(document.defaultView, store, {
    steps: (key) => controls.steps(key),
    redraw,
    commit: (commit) => events.emit("commit", { ...commit, holds: numbers.data }),
  });
  const controls = createControls(document, {
    move: moves.take,
    release: moves.release,
    play: moves.play,
    save: () => drawing.save(),
  });
  const readout = createReadout(document, {
    pairs: (on) => {
      drawing.showPairs(on);
      redraw(false);
    },
    whole: explorer.gestures.reset,
  });
  const view = createView(document, numbers);
  const page = createPage(document, view, controls, readout);
  const parts = { store, numbers, moves, explorer, view, controls, readout, page };
  const drawing = createDrawing(document, { ...parts, redraw });
  listen(page.maps, explorer.gestures);
  listenToLags(view.sheets.graph.canvas, (x) => explorer.pointAtLag(drawing.lagAt(x)));
  return { ...parts, drawing };
}

/** Tell of an element's width now and whenever it changes, until the returned function is called. */
function sized(element, tell) {
  const window = element.ownerDocument.defaultView;
  const resized = () => tell(Math.floor(element.clientWidth));
  const observer = new window.ResizeObserver(resized);
  observer.observe(element);
  window.addEventListener("resize", resized); // the density of pixels may change alone
  return () => {
    observer.disconnect();
    window.removeEventListener("resize", resized);
  };
}
