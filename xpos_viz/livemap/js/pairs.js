/** What each pair adds to a score, as bars on a canvas. */
import { plain, roundTicks } from "./axes.js";
import { greatest, least, line, tickBelow, tickBeside, write } from "./brush.js";

/**
 * Draw what each pair adds to the scores of a cell.
 * @param {CanvasRenderingContext2D} ctx
 * @param {object} chart box, series ({shares, colour}[]), title, words, look
 */
export function drawPairs(ctx, { box, series, title, words, look }) {
  const low = Math.min(0, ...series.map(({ shares }) => least(shares)));
  const high = Math.max(0, ...series.map(({ shares }) => greatest(shares)));
  const pairs = series[0].shares.length;
  const scale = (value) => box.y + box.height * (1 - (value - low) / (high - low || 1));
  const step = box.width / pairs;
  ctx.lineWidth = 1;
  for (const at of roundTicks(low, high || 1, 4)) {
    ctx.strokeStyle = at === 0 ? look.ink.faint : look.ink.grid;
    line(ctx, box.x, scale(at), box.x + box.width, scale(at));
    tickBeside(ctx, box.x, scale(at), plain(at), look);
  }
  const wide = (step * 0.8) / series.length;
  series.forEach(({ shares, colour }, place) => {
    ctx.fillStyle = colour;
    shares.forEach((share, pair) => {
      const x = box.x + pair * step + step * 0.1 + place * wide;
      ctx.fillRect(x, Math.min(scale(0), scale(share)), wide, Math.abs(scale(share) - scale(0)));
    });
  });
  ctx.strokeStyle = look.ink.faint;
  for (const at of roundTicks(0, pairs - 1, Math.min(8, box.width / 46), 1)) {
    tickBelow(ctx, box.x + (at + 0.5) * step, box.y + box.height, plain(at), false, look);
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "alphabetic";
  const strong = { colour: look.ink.text, room: box.width };
  write(ctx, words.pairs_axis, box.x + box.width / 2, box.y + box.height + 36, look, strong);
  ctx.textAlign = "left";
  write(ctx, title, box.x, box.y - 14, look, { ...strong, size: 13 });
}
