/** What lies over the maps and follows the pointer. */
import { haloed, line } from "./brush.js";

/**
 * Draw what lies over the maps: the cross-hair, its lag, and a box being dragged.
 * @param {CanvasRenderingContext2D} ctx
 * @param {object} over layout, part, cell ({queries, keys} or null), lag, box
 */
export function drawOver(ctx, { layout, part, cell, lag, box }) {
  for (const panel of layout.panels) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(panel.x, panel.y, panel.size, panel.size);
    ctx.clip();
    const at = placesIn(panel, part);
    if (lag !== null) haloed(ctx, [4, 4], 0.55, () => diagonal(ctx, at, part, lag));
    if (cell) drawCross(ctx, at, panel, cell);
    if (box) drawBox(ctx, at, box);
    ctx.restore();
  }
}

function placesIn({ x, y, size }, part) {
  const scale = size / part.span;
  return {
    x: (column) => x + (column - part.column) * scale,
    y: (row) => y + (row - part.row) * scale,
  };
}

function diagonal(ctx, at, part, lag) {
  const last = part.column + part.span;
  line(ctx, at.x(part.column), at.y(part.column + lag), at.x(last), at.y(last + lag));
}

function drawCross(ctx, at, { x, y, size }, { queries, keys }) {
  const [top, bottom] = [at.y(queries[0]), at.y(queries[1] + 1)];
  const [left, right] = [at.x(keys[0]), at.x(keys[1] + 1)];
  const [middleX, middleY] = [(left + right) / 2, (top + bottom) / 2];
  haloed(ctx, [], 0.8, () => {
    line(ctx, x, middleY, left, middleY);
    line(ctx, right, middleY, x + size, middleY);
    line(ctx, middleX, y, middleX, top);
    line(ctx, middleX, bottom, middleX, y + size);
    ctx.strokeRect(left, top, right - left, bottom - top);
  });
}

function drawBox(ctx, at, { row, column, span }) {
  const [left, top] = [at.x(column), at.y(row)];
  const [width, height] = [at.x(column + span) - left, at.y(row + span) - top];
  ctx.fillStyle = "rgba(128, 128, 128, 0.25)";
  ctx.fillRect(left, top, width, height);
  haloed(ctx, [], 1, () => ctx.strokeRect(left, top, width, height));
}
