/** The maps with their titles, axes and colour bars, on a canvas. */
import { barTicks, tokenTicks } from "./axes.js";
import { drawSideways, line, tickBelow, tickBeside, write } from "./brush.js";
import { colourTable, paint, solid } from "./colours.js";
import { drawTitles, wrapped } from "./titles.js";

const FADED = 0.3; // of a map that is out of date

/**
 * Make a painter that keeps the bitmaps it needs.
 * @param {Document} document
 * @returns {{mapOf: function}}
 */
export function createPainter(document) {
  const bitmaps = new Map();

  function bitmapOf(place, columns, rows) {
    let bitmap = bitmaps.get(place);
    if (!bitmap || bitmap.canvas.width !== columns || bitmap.canvas.height !== rows) {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [columns, rows];
      const image = new ImageData(columns, rows);
      bitmap = { canvas, image, pixels: new Uint32Array(image.data.buffer) };
      bitmaps.set(place, bitmap);
    }
    return bitmap;
  }

  function mapOf(place, map, key) {
    const bitmap = bitmapOf(place, map.columns, map.rows);
    paint(bitmap.pixels, map, key);
    bitmap.canvas.getContext("2d").putImageData(bitmap.image, 0, 0);
    return bitmap.canvas;
  }

  return { mapOf };
}

/**
 * What colours a map: scale, limit, table and the colours of cells without a number.
 * @param {{scale: string, limit: number}} bar
 * @param {{palette: object, ink: object}} look
 * @returns {object}
 */
export function keyOf({ scale, limit }, { palette, ink }) {
  const table = colourTable(palette.scales[scale], palette.clipped[scale]);
  return { scale, limit, table, masked: solid(ink.masked), unknown: solid(ink.unknown) };
}

/**
 * Draw the maps with everything around them.
 * @param {CanvasRenderingContext2D} ctx scaled to CSS pixels
 * @param {object} picture layout, panels, bars, part, labels, words, look, waiting
 * @param {{mapOf: function}} painter
 */
export function drawMaps(ctx, picture, painter) {
  const { layout, panels, bars, look } = picture;
  const keys = bars.map((bar) => keyOf(bar, look));
  panels.forEach((panel, place) => {
    const box = layout.panels[place];
    drawMap(ctx, panel, box, keys[panel.bar], picture, painter, place);
    drawAxes(ctx, box, place, picture);
  });
  const titles = panels.map(({ title }) => title);
  drawTitles(ctx, titles, layout, look);
  bars.forEach((bar, place) => drawBar(ctx, bar, layout.bars[place], look));
}

function drawMap(ctx, panel, box, key, { part, look, waiting }, painter, place) {
  const { x, y, size } = box;
  ctx.save();
  ctx.fillStyle = look.ink.masked;
  ctx.fillRect(x, y, size, size);
  ctx.beginPath();
  ctx.rect(x, y, size, size);
  ctx.clip();
  if (panel.map) drawCells(ctx, painter.mapOf(place, panel.map, key), panel, box, part);
  ctx.restore();
  if (panel.waits && waiting) drawWaiting(ctx, waiting, box, look);
}

function drawCells(ctx, bitmap, { map, waits }, { x, y, size }, part) {
  const scale = size / part.span;
  ctx.imageSmoothingEnabled = false;
  ctx.globalAlpha = waits ? FADED : 1;
  const [left, top] = [x + (map.left - part.column) * scale, y + (map.top - part.row) * scale];
  const cell = map.block * scale;
  ctx.drawImage(bitmap, left, top, map.columns * cell, map.rows * cell);
}

function drawWaiting(ctx, words, { x, y, size }, look) {
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  const lines = wrapped(ctx, words, size - 32, look, 13);
  const height = 18 * lines.length + 20;
  ctx.fillStyle = look.ink.page;
  ctx.globalAlpha = 0.88;
  ctx.fillRect(x + 8, y + (size - height) / 2, size - 16, height);
  ctx.globalAlpha = 1;
  const top = y + size / 2 - 9 * (lines.length - 1);
  lines.forEach((line, place) => {
    write(ctx, line, x + size / 2, top + 18 * place, look, { size: 13, colour: look.ink.text });
  });
}

function drawAxes(ctx, box, place, { layout, part, labels, words, look }) {
  const { x, y, size } = box;
  const across = tokenTicks(part.column, part.span, size, labels);
  const down = tokenTicks(part.row, part.span, size, labels);
  const scale = size / part.span;
  const outer = place === 0 || layout.stacked;
  ctx.strokeStyle = look.ink.faint;
  ctx.lineWidth = 1;
  ctx.strokeRect(x - 0.5, y - 0.5, size + 1, size + 1);
  for (const { at, label } of across) {
    tickBelow(ctx, x + (at - part.column) * scale, y + size, label, labels.length > 0, look);
  }
  for (const { at, label } of down) {
    tickBeside(ctx, x, y + (at - part.row) * scale, outer ? label : "", look);
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  const title = { colour: look.ink.text, room: size };
  write(ctx, words.keys, x + size / 2, y + size + layout.foot - 8, look, title);
  if (outer) drawSideways(ctx, words.queries, 14, y + size / 2, look, title);
}

function drawBar(ctx, bar, { x, y, width }, look) {
  const low = bar.scale === "diverging" ? -bar.limit : 0;
  const stops = ctx.createLinearGradient(x, 0, x + width, 0);
  const colours = look.palette.scales[bar.scale];
  colours.forEach((colour, place) => stops.addColorStop(place / (colours.length - 1), colour));
  ctx.fillStyle = stops;
  ctx.fillRect(x, y, width, 11);
  drawEnds(ctx, bar, { x, y, width }, look);
  ctx.strokeStyle = look.ink.faint;
  ctx.strokeRect(x - 0.5, y - 0.5, width + 1, 12);
  ctx.textAlign = "center";
  for (const { at, label } of barTicks(low, bar.limit, width, bar.powers)) {
    const place = x + ((at - low) / (bar.limit - low)) * width;
    line(ctx, place, y + 11, place, y + 15);
    ctx.textBaseline = "top";
    write(ctx, label, place, y + 17, look, { size: 11 });
  }
  ctx.textBaseline = "alphabetic";
  const middle = { colour: look.ink.text, room: width * 1.2 };
  write(ctx, bar.label, x + width / 2, y + 44, look, middle);
}

/** Arrow heads in the colours of what lies beyond the limits. */
function drawEnds(ctx, bar, { x, y, width }, look) {
  const [below, above] = look.palette.clipped[bar.scale];
  ctx.strokeStyle = look.ink.faint; // to be seen on a dark page
  ctx.lineWidth = 1;
  const head = (from, to, colour) => {
    ctx.fillStyle = colour;
    ctx.beginPath();
    ctx.moveTo(from, y);
    ctx.lineTo(to, y + 5.5);
    ctx.lineTo(from, y + 11);
    ctx.closePath();
    ctx.fill();
    ctx.stroke();
  };
  head(x + width + 2, x + width + 10, above);
  if (bar.scale === "diverging") head(x - 2, x - 10, below);
}
