/** Words over the panels, broken where they are too long. */
import { setFont, write } from "./brush.js";

const FOOT = 9; // from the last line to the panel
const LINE = 16;
const NAME = { weight: 600, size: 15 };

/**
 * Write the titles of the panels: a name, and remarks of so many lines each, if they need them.
 * Panels in a row have their names at one height.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string[][]} titles of each panel the name, then the remarks
 * @param {{panels: object[], stacked: boolean}} layout
 * @param {object} look
 */
export function drawTitles(ctx, titles, { panels, stacked }, look) {
  const lines = titles.map(([, ...remarks], place) => {
    const { size, lines } = panels[place];
    return remarks.flatMap((words) => atMost(lines, words, size, ctx, look));
  });
  const most = Math.max(...lines.map(({ length }) => length));
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  titles.forEach(([name], place) => {
    const rows = stacked ? lines[place].length : most;
    drawTitle(ctx, name, lines[place], panels[place], rows, look);
  });
}

function drawTitle(ctx, name, lines, { x, y, size }, rows, look) {
  const top = y - FOOT - LINE * rows;
  write(ctx, name, x, top - 1, look, { ...NAME, colour: look.ink.text, room: size });
  lines.forEach((line, place) => {
    write(ctx, line, x, top + LINE * (place + 1), look, { room: size });
  });
}

/** Lines, the last of which may be too long; a number stays with its symbol. */
function atMost(count, words, room, ctx, look) {
  const bound = words.replaceAll(/ (?=\d)/g, "\u00a0");
  const lines = wrapped(ctx, bound, room, look, 12);
  return [...lines.slice(0, count - 1), lines.slice(count - 1).join("")].filter(Boolean);
}

/**
 * Words as lines no wider than the room; Chinese breaks anywhere but at its punctuation.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} words
 * @param {number} room
 * @param {object} look
 * @param {number} size of the letters
 * @returns {string[]}
 */
export function wrapped(ctx, words, room, look, size) {
  setFont(ctx, look, { size });
  const pieces = words.match(/（*(?:[\u2e80-\uffef]|[^\u2e80-\uffef ]+)[、。，；：）]* ?/g) ?? [];
  const lines = [""];
  for (const piece of pieces) {
    const longer = lines[lines.length - 1] + piece;
    if (ctx.measureText(longer.trimEnd()).width > room) lines.push(piece);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
