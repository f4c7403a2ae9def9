/** What is shown: the maps and all around them on one frame, what follows the pointer on every. */
import { readCell } from "./cell.js";
import { download } from "./page.js";
import { createPicture } from "./picture.js";
import { enlargement } from "./sheet.js";
import { labelled, lagAt } from "./view.js";

const FILE = "xpos_viz-live.png";

/**
 * Make the drawing.
 * @param {Document} document
 * @param {object} parts store, numbers, moves, explorer, view, controls, readout, page, redraw
 * @returns {object}
 */
export function createDrawing(document, parts) {
  const { store, numbers, moves, explorer, view, controls, readout, page, redraw } = parts;
  const window = document.defaultView;
  const picture = createPicture(numbers);
  let look = null; // ink and font
  let last = null; // scene, picture, layout and look that were drawn last
  let pairs = false; // whether the pairs of the cell are drawn
  let sought = false; // whether they are to come into sight

  function draw(width, maps) {
    look ??= page.look(store.payload);
    if (maps) drawMaps(width);
    drawPointer();
  }

  function drawMaps(width) {
    const scene = { payload: store.payload, values: store.values, width, part: explorer.part() };
    const full = { ...look, palette: scene.payload.theme.palettes[scene.values.colours] };
    const density = enlargement(document) * (window.devicePixelRatio || 1);
    const pixels = view.layoutOf(scene, full, false).size * density;
    const shown = picture({ ...scene, pixels, resting: moves.resting() });
    const layout = view.layoutOf(scene, full, labelled(scene.payload, shown));
    last = { scene, picture: shown, layout, look: full };
    view.drawPicture(scene, shown, layout, full);
    controls.show({ ...scene, playing: moves.playing() });
    readout.label(scene.payload);
    page.show(last, explorer.gestures.zoomed());
    if (shown.unfinished) redraw();
  }

  function drawPointer() {
    const { scene, picture: shown, layout } = last;
    const at = explorer.cell();
    const cell = at && readCell(numbers, scene, shown, at);
    const lag = cell ? cell.lag : explorer.lag();
    const marks = lag === null || lag < 0 ? [] : numbers.marksOf(shown.encodings, lag);
    const apart = pairs && cell && !cell.masked ? at : null;
    view.drawPointer(
      scene,
      shown,
      layout,
      { cell, lag, marks, box: explorer.box(), pairs: apart },
      last.look,
    );
    if (sought && apart) {
      view.sheets.pairs.canvas.scrollIntoView({ block: "nearest" });
      sought = false;
    }
    const zoomed = explorer.gestures.zoomed();
    const colours = scene.payload.theme.lines.slice(0, 2);
    const playing = moves.playing() !== null;
    readout.show({ ...scene, picture: shown, cell, lag, marks, zoomed, colours, playing });
  }

  function save() {
    const { scene, picture: shown, layout } = last;
    const ink = scene.payload.theme.inks.light;
    const canvas = view.saved(scene, shown, layout, { ...last.look, ink });
    canvas.toBlob((blob) => download(document, blob, FILE));
  }

  return {
    draw,
    save,
    shown: () => last,
    /** The lag at a point across the curves, or null. */
    lagAt: (x) => (x === null || !last ? null : lagAt(x, last.layout, store.values)),
    showPairs: (on) => (pairs = sought = on),
    /** The theme may have changed. */
    lookAgain: () => (look = null),
  };
}
