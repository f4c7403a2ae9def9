/** The curves over the lag, on a canvas. */
import { plain, roundTicks } from "./axes.js";
import { drawSideways, greatest, least, line, setFont, tickBelow, tickBeside, write } from "./brush.js";

const DASHES = { solid: [], dash: [8, 4], dot: [2, 3], dashdot: [8, 3, 2, 3] };

/**
 * Draw the curves over the lag, and the marked lag on them.
 * @param {CanvasRenderingContext2D} ctx
 * @param {object} graph box, lags, curves, limits, lag, words, look, lines, dashes
 */
export function drawCurves(ctx, graph) {
  const { box, lags, curves, look, words } = graph;
  const low = Math.min(0, ...curves.map(({ values }) => least(values)));
  const high = Math.max(1e-9, ...curves.map(({ values }) => greatest(values)));
  const last = Math.max(1, lags[lags.length - 1]);
  const room = (high - low) * 0.06;
  const scale = {
    x: (lag) => box.x + shareOf(lag, last, graph.axis) * box.width,
    y: (g) => box.y + box.height * (1 - (g - low + room) / (high - low + 2 * room)),
  };
  drawGrid(ctx, graph, scale, [low, high], last);
  curves.forEach((curve) => drawLine(ctx, curve, lags, scale));
  if (graph.lag !== null && graph.lag >= lags[0] && graph.lag <= last) drawMark(ctx, graph, scale);
  drawHead(ctx, graph);
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  const title = { colour: look.ink.text };
  write(ctx, words.lag_axis, box.x + box.width / 2, box.y + box.height + 36, look, title);
  drawSideways(ctx, words.g_axis, 14, box.y + box.height / 2, look, title);
}

/**
 * How far along its axis a lag stands, from 0 to 1.
 * @param {number} lag
 * @param {number} last
 * @param {string} axis "linear", or "log" which begins at 1
 * @returns {number}
 */
export function shareOf(lag, last, axis) {
  return axis === "log" ? Math.log(lag) / Math.log(Math.max(last, 2)) : lag / last;
}

/**
 * The whole lag at a share of its axis.
 * @param {number} share
 * @param {number} last
 * @param {string} axis
 * @returns {number}
 */
export function lagOn(share, last, axis) {
  return Math.round(axis === "log" ? Math.max(last, 2) ** share : last * share);
}

function lagTicks(last, axis, most) {
  if (axis !== "log") return roundTicks(0, last, most, 1);
  const decades = Math.floor(Math.log10(Math.max(last, 2))) + 1;
  const steps = 3 * decades <= most ? [1, 2, 5] : [1];
  const ticks = Array.from({ length: decades }, (_, power) => steps.map((m) => m * 10 ** power));
  return ticks.flat().filter((tick) => tick <= last);
}

function drawGrid(ctx, { box, look, axis }, scale, [low, high], last) {
  ctx.lineWidth = 1;
  for (const at of roundTicks(low, high, 4)) {
    ctx.strokeStyle = at === 0 ? look.ink.faint : look.ink.grid;
    line(ctx, box.x, scale.y(at), box.x + box.width, scale.y(at));
    tickBeside(ctx, box.x, scale.y(at), plain(at), look);
  }
  ctx.strokeStyle = look.ink.faint;
  for (const at of lagTicks(last, axis, Math.min(10, box.width / 60))) {
    tickBelow(ctx, scale.x(at), box.y + box.height, plain(at), false, look);
  }
  ctx.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
}

function drawLine(ctx, { values, colour, dash }, lags, scale) {
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.8;
  ctx.lineJoin = "round";
  ctx.setLineDash(DASHES[dash]);
  ctx.beginPath();
  values.forEach((g, place) => ctx.lineTo(scale.x(lags[place]), scale.y(g)));
  ctx.stroke();
  if (values.length === 1) {
    ctx.arc(scale.x(lags[0]), scale.y(values[0]), 4, 0, 2 * Math.PI);
    ctx.fillStyle = colour;
    ctx.fill();
  }
  ctx.restore();
}

function drawMark(ctx, { box, lag, curves, marks, look }, scale) {
  const x = scale.x(lag);
  ctx.strokeStyle = look.ink.text;
  ctx.lineWidth = 1;
  line(ctx, x, box.y, x, box.y + box.height);
  marks.forEach((g, place) => {
    ctx.beginPath();
    ctx.arc(x, scale.y(g), 4, 0, 2 * Math.PI);
    ctx.fillStyle = curves[place].colour;
    ctx.fill();
    ctx.strokeStyle = look.ink.page;
    ctx.lineWidth = 1.5;
    ctx.stroke();
  });
}

/** The title, what it assumes, and what the lines are. */
function drawHead(ctx, { box, curves, look, words }) {
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  const title = { size: 14, weight: 600, colour: look.ink.text, room: box.width };
  write(ctx, words.decay_title, box.x, box.y - 38, look, title);
  write(ctx, words.assumption, box.x, box.y - 21, look, { room: box.width });
  let right = box.x + box.width - 10;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  setFont(ctx, look, { size: 12 });
  [...curves].reverse().forEach(({ label, colour, dash }) => {
    write(ctx, label, right, box.y + 13, look, { colour: look.ink.text });
    right -= ctx.measureText(label).width + 6;
    ctx.save();
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2;
    ctx.setLineDash(DASHES[dash]);
    line(ctx, right - 24, box.y + 13, right, box.y + 13);
    ctx.restore();
    right -= 40;
  });
}
