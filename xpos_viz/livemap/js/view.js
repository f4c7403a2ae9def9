/** All that is drawn: the maps, what lies over them, the curves and the pairs. */
import { drawCurves, lagOn } from "./curves.js";
import { arranged } from "./layout.js";
import { createPainter, drawMaps } from "./maps.js";
import { lagsUpTo } from "./numbers.js";
import { drawOver } from "./over.js";
import { drawPairs } from "./pairs.js";
import { createSheet } from "./sheet.js";
import { fill, measured, named, shortened } from "./text.js";
import { curvesInWords } from "./words.js";

const BARS = [0, 0, 1]; // the colour bar of each panel
const LABEL = 84; // most pixels for a token beside an axis
const GRAPH = { top: 54, height: 150, foot: 44 };
const PAIRS = { top: 34, height: 110, foot: 44 };
const SAVED = 2; // pixels of a saved picture per CSS pixel
const MARGIN = 16;

/**
 * Make the view.
 * @param {Document} document
 * @param {object} numbers
 * @returns {object}
 */
export function createView(document, numbers) {
  const painter = createPainter(document);
  const sheets = {
    maps: createSheet(document, "lm-canvas"),
    over: createSheet(document, "lm-over"),
    graph: createSheet(document, "lm-graph"),
    pairs: createSheet(document, "lm-graph"),
  };
  let measuredLabels = { labels: null, size: 0 };

  /** Pixels that the longest label takes. */
  function labelSize({ labels }, look) {
    if (measuredLabels.labels === labels) return measuredLabels.size;
    const { canvas } = sheets.maps;
    const ctx = canvas.getContext("2d");
    ctx.font = `11px ${look.font}`;
    const sizes = labels.map((label) => ctx.measureText(shortened(label)).width);
    measuredLabels = { labels, size: Math.min(LABEL, Math.ceil(Math.max(0, ...sizes))) };
    return measuredLabels.size;
  }

  /** Where everything stands; there is room for labels only if there are labels. */
  function layoutOf(scene, look, labelled) {
    return arranged(scene.width, labelled ? labelSize(scene.payload, look) : 0, BARS);
  }

  function mapsOn(ctx, scene, picture, layout, look) {
    const { payload, part } = scene;
    const { queries, keys } = payload.text.figure;
    const waiting = fill(payload.text.waiting, { tokens: payload.live_weights });
    const labels = labelled(payload, picture) ? payload.labels : [];
    const words = { queries, keys };
    drawMaps(ctx, { layout, part, labels, words, look, waiting, ...picture }, painter);
  }

  function graphOn(ctx, scene, picture, { lag, marks }, look) {
    const { payload, values, width, left } = scene;
    const { lines, dashes } = payload.theme;
    const { axis } = values;
    const lags = lagsUpTo(values.stop - values.start - 1, axis);
    const curves = picture.encodings.map((encoding, i) => ({
      label: width < 640 ? encoding.label : named(encoding, payload),
      values: numbers.curveOf(`curve ${i}`, encoding, lags),
      colour: lines[i],
      dash: dashes[i],
    }));
    const box = boxIn(width, left, GRAPH);
    drawCurves(ctx, { box, axis, lags, curves, marks, lag, look, words: payload.text.figure });
  }

  function drawPicture(scene, picture, layout, look) {
    mapsOn(sheets.maps.clean(layout.width, layout.height), scene, picture, layout, look);
    const { payload, values } = scene;
    const last = values.stop - values.start - 1;
    const [low, high] = [0, last].map((lag) => numbers.marksOf(picture.encodings, lag));
    const words = curvesInWords(payload, picture.encodings, low, high, last);
    sheets.graph.canvas.setAttribute("aria-label", words);
  }

  function drawPointer(scene, picture, layout, { cell, lag, marks, box, pairs }, look) {
    const { part, payload } = scene;
    const marked = cell !== null || lag !== null || box !== null;
    if (marked || sheets.over.used) {
      drawOver(sheets.over.clean(layout.width, layout.height), { layout, part, cell, lag, box });
    }
    sheets.over.used = marked;
    const graph = sheets.graph.clean(layout.width, heightOf(GRAPH));
    graphOn(graph, { ...scene, left: layout.left }, picture, { lag, marks }, look);
    sheets.pairs.canvas.hidden = !pairs;
    if (!pairs) return;
    const ctx = sheets.pairs.clean(layout.width, heightOf(PAIRS));
    const series = picture.encodings.map((encoding, i) => ({
      name: encoding.label,
      shares: numbers.sharesOf(encoding, pairs),
      colour: payload.theme.lines[i],
    }));
    const title = fill(payload.text.pairs_title, { ...pairs, sums: sums(series) });
    const drawn = { box: boxIn(layout.width, layout.left, PAIRS), series, title, look };
    drawPairs(ctx, { ...drawn, words: payload.text });
  }

  /** The present view on a canvas of its own, with ink for paper. */
  function saved(scene, picture, layout, look) {
    const canvas = document.createElement("canvas");
    const height = layout.height + heightOf(GRAPH) + 2 * MARGIN;
    [canvas.width, canvas.height] = [layout.width + 2 * MARGIN, height].map((p) => SAVED * p);
    const ctx = canvas.getContext("2d");
    ctx.scale(SAVED, SAVED);
    ctx.fillStyle = look.ink.page;
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    ctx.translate(MARGIN, MARGIN);
    mapsOn(ctx, scene, picture, layout, look);
    ctx.translate(0, layout.height);
    graphOn(ctx, { ...scene, left: layout.left }, picture, { lag: null, marks: [] }, look);
    return canvas;
  }

  return { sheets, layoutOf, drawPicture, drawPointer, saved };
}

/**
 * Whether single tokens are seen that have names.
 * @param {object} payload
 * @param {object} picture
 * @returns {boolean}
 */
export function labelled({ labels }, { single }) {
  return labels.length > 0 && single;
}

/**
 * The lag at a point of the curves, or null.
 * @param {number} x CSS pixels
 * @param {object} layout
 * @param {{start: number, stop: number, axis: string}} values
 * @returns {number|null}
 */
export function lagAt(x, layout, { start, stop, axis }) {
  const box = boxIn(layout.width, layout.left, GRAPH);
  const last = stop - start - 1;
  const lag = lagOn((x - box.x) / box.width, last, axis);
  const first = axis === "log" ? 1 : 0;
  return lag >= first && lag <= last ? lag : null;
}

function boxIn(width, left, { top, height }) {
  return { x: left, y: top, width: width - left - 14, height };
}

function heightOf({ top, height, foot }) {
  return top + height + foot;
}

function sums(series) {
  return series
    .map(({ name, shares }) => `${name} ${measured(shares.reduce((sum, share) => sum + share, 0))}`)
    .join(" · ");
}
