/** Words over the panels, broken where they are too long. */
import { setFont, write } from "./brush.js";

const FOOT = 9; // from the last line to the panel
const LINE = 16;
const NAME = { weight: 600, size: 15 };

/**
 * Write the title of a panel: its name, and remarks of so many lines each, if they need them.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string[]} words the name, then the remarks
 * @param {{x: number, y: number, size: number, lines: number}} box
 * @param {object} look
 */
export function drawTitle(ctx, [name, ...remarks], { x, y, size, lines: most }, look) {
  const lines = remarks.flatMap((words) => atMost(most, words, size, ctx, look));
  const above = (count) => y - FOOT - LINE * count;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  lines.forEach((line, place) => {
    write(ctx, line, x, above(lines.length - 1 - place), look, { room: size });
  });
  const style = { ...NAME, colour: look.ink.text, room: size };
  write(ctx, name, x, above(lines.length) - 1, look, style);
}

/** Lines, the last of which may be too long. */
function atMost(count, words, room, ctx, look) {
  const lines = wrapped(ctx, words, room, look, 12);
  return [...lines.slice(0, count - 1), lines.slice(count - 1).join("")].filter(Boolean);
}

/**
 * Words as lines no wider than the room; Chinese breaks anywhere.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} words
 * @param {number} room
 * @param {object} look
 * @param {number} size of the letters
 * @returns {string[]}
 */
export function wrapped(ctx, words, room, look, size) {
  setFont(ctx, look, { size });
  const pieces = words.match(/[\u2e80-\uffef]|[^\u2e80-\uffef\s]+\s?/g) ?? [];
  const lines = [""];
  for (const piece of pieces) {
    const longer = lines[lines.length - 1] + piece;
    if (ctx.measureText(longer.trimEnd()).width > room) lines.push(piece);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
