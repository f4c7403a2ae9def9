/** Lines and letters on a canvas. A look holds the ink, the font and the palette. */
/**
 * A tick below an axis, and its label.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {string} label
 * @param {boolean} sideways whether the label is turned
 * @param {object} look
 */
export function tickBelow(ctx, x, y, label, sideways, look) {
  line(ctx, x, y, x, y + 4);
  if (sideways) return drawSideways(ctx, label, x, y + 8, look, { size: 11 }, "right", "middle");
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  return write(ctx, label, x, y + 7, look, { size: 11 });
}

/**
 * A tick left of an axis, and its label.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {string} label
 * @param {object} look
 */
export function tickBeside(ctx, x, y, label, look) {
  line(ctx, x - 4, y, x, y);
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  write(ctx, label, x - 7, y, look, { size: 11 });
}

/**
 * Write a text from below upwards.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {object} look
 * @param {object} style
 * @param {CanvasTextAlign} align
 * @param {CanvasTextBaseline} baseline
 */
export function drawSideways(ctx, text, x, y, look, style, align = "center", baseline = "alphabetic") {
  ctx.save();
  ctx.translate(x, y);
  ctx.rotate(-Math.PI / 2);
  ctx.textAlign = align;
  ctx.textBaseline = baseline;
  write(ctx, text, 0, 0, look, style);
  ctx.restore();
}

/**
 * A dark stroke on a light one, to be seen on every colour of the maps.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number[]} dash
 * @param {number} alpha
 * @param {function(): void} stroke
 */
export function haloed(ctx, dash, alpha, stroke) {
  ctx.globalAlpha = alpha;
  ctx.setLineDash(dash);
  ctx.strokeStyle = "#ffffff";
  ctx.lineWidth = 3;
  stroke();
  ctx.strokeStyle = "#10141c";
  ctx.lineWidth = 1.2;
  stroke();
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

/**
 * A straight line.
 * @param {CanvasRenderingContext2D} ctx
 * @param {number} x
 * @param {number} y
 * @param {number} toX
 * @param {number} toY
 */
export function line(ctx, x, y, toX, toY) {
  ctx.beginPath();
  ctx.moveTo(x, y);
  ctx.lineTo(toX, toY);
  ctx.stroke();
}

/**
 * Set the type.
 * @param {CanvasRenderingContext2D} ctx
 * @param {object} look
 * @param {{size: (number|undefined), weight: (number|undefined)}} style
 */
export function setFont(ctx, look, { size = 12, weight = 400 }) {
  ctx.font = `${weight} ${size}px ${look.font}`;
}

/**
 * Write a text, always as letters and never as markup.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {object} look
 * @param {{size: (number|undefined), weight: (number|undefined), colour: (string|undefined),
 *     room: (number|undefined)}} style
 */
export function write(ctx, text, x, y, look, style = {}) {
  setFont(ctx, look, style);
  ctx.fillStyle = style.colour ?? look.ink.faint;
  if (style.room) ctx.fillText(text, x, y, style.room);
  else ctx.fillText(text, x, y);
}

/**
 * The least of some numbers.
 * @param {Float64Array} values
 * @returns {number}
 */
export function least(values) {
  return values.reduce((low, value) => Math.min(low, value), Infinity);
}

/**
 * The greatest of some numbers.
 * @param {Float64Array} values
 * @returns {number}
 */
export function greatest(values) {
  return values.reduce((high, value) => Math.max(high, value), -Infinity);
}
