/** The live map in an element: its parts, each told of those that it acts on. */
import { createControls } from "./controls.js";
import { createDrawing } from "./drawing.js";
import { createExplorer } from "./explore.js";
import { createFrames } from "./frames.js";
import { listen, listenToLags } from "./input.js";
import { createMoves } from "./moves.js";
import { createNumbers } from "./numbers.js";
import { createPage } from "./page.js";
import { createReadout } from "./readout.js";
import { enlargement } from "./sheet.js";
import { createStore } from "./state.js";
import { createView } from "./view.js";

/**
 * Show a whole payload, and update what is shown.
 * @param {HTMLElement|ShadowRoot} element
 * @param {object} first
 * @param {object} events
 * @returns {{update: function(object): void, destroy: function(): void}}
 */
export function show(element, first, events) {
  const document = element.ownerDocument;
  const numbers = createNumbers();
  const store = createStore(first);
  const frames = createFrames(document.defaultView, draw);
  const parts = assembled(document, { events, numbers, store, redraw: frames.ask });
  const { drawing, explorer, moves, page } = parts;
  let width = 0;
  let asked = ""; // the parts that the host was asked for last

  function draw(maps) {
    const lacking = store.lacks().join();
    if (lacking && lacking !== asked) events.emit("need");
    asked = lacking;
    if (width && !lacking) drawing.draw(width, maps);
  }

  function update(payload) {
    measure(); // the page's type may have grown
    moves.receive(payload);
    drawing.lookAgain();
    if (numbers.load(store.payload)) explorer.startAnew();
  }

  function measure() {
    width = Math.floor(page.root.clientWidth / enlargement(document));
    frames.ask();
  }

  const unsized = onResize(page.root, measure);
  numbers.load(store.payload);
  element.append(page.root);
  document.fonts.ready.then(() => frames.ask());
  frames.ask();

  function destroy() {
    moves.drop();
    unsized();
    frames.cancel();
    parts.controls.destroy();
    parts.readout.destroy();
    page.root.remove();
  }

  return { update, destroy };
}

/** The parts. */
function assembled(document, { events, numbers, store, redraw }) {
  const explorer = createExplorer(store, { redraw, shown: () => drawing.shown() });
  const moves = createMoves(document.defaultView, store, {
    steps: (key) => controls.steps(key),
    redraw,
    commit: (commit) => events.emit("commit", { ...commit, holds: store.holds() }),
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
      if (on) explorer.keepOne();
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

/** Call now and whenever an element may have another size, until the returned function is called. */
function onResize(element, call) {
  const window = element.ownerDocument.defaultView;
  const observer = new window.ResizeObserver(call);
  observer.observe(element);
  window.addEventListener("resize", call); // the density of pixels may change alone
  return () => {
    observer.disconnect();
    window.removeEventListener("resize", call);
  };
}
