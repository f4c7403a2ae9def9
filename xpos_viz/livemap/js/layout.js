/** Where everything stands in the picture of the maps, in CSS pixels. */

const NARROW = 500; // below this width panels stand one above the other
const SMALL = 150; // over panels below this size the two remarks of a title have two lines each
const TITLE = 62;
const SECOND_LINES = 32;
const BAR = 58;
const LEFT = 58;
const RIGHT = 14;
const GAP = 32;
const GAPS = 25; // a gap is this part of the width, if that is less

/**
 * Arrange panels and colour bars.
 * @param {number} width
 * @param {number} labelSize pixels that the longest tick label takes; 0 for numbers
 * @param {number[]} bars index of the colour bar of each panel
 * @returns {{width: number, height: number, stacked: boolean, foot: number, left: number,
 *     panels: {x: number, y: number, size: number, lines: number}[],
 *     bars: {x: number, y: number, width: number}[]}} lines of each remark over a panel
 */
export function arranged(width, labelSize, bars) {
  const stacked = width < NARROW;
  const left = Math.max(LEFT, labelSize + 36);
  const foot = (labelSize ? labelSize + 10 : 20) + 22;
  const count = stacked ? 1 : bars.length;
  const gap = Math.min(GAP, Math.round(width / GAPS));
  const size = Math.max(80, Math.floor((width - left - RIGHT - gap * (count - 1)) / count));
  const lines = size < SMALL ? 2 : 1;
  const shape = { width, stacked, left, foot, size, gap, lines };
  const panels = stacked ? column(shape, bars) : row(shape, bars);
  const last = panels[panels.length - 1];
  const height = last.y + size + foot + BAR;
  return { ...shape, height, panels, bars: placedBars(panels, bars, foot) };
}

function row({ left, size, gap, lines }, bars) {
  const y = titleHeight(lines);
  return bars.map((_, place) => ({ x: left + place * (size + gap), y, size, lines }));
}

function titleHeight(lines) {
  return TITLE + SECOND_LINES * (lines - 1);
}

function column({ left, size, foot, lines }, bars) {
  let y = 0;
  return bars.map((bar, place) => {
    const panel = { x: left, y: y + titleHeight(lines), size, lines };
    y = panel.y + size + foot + (bar !== bars[place + 1] ? BAR : 8);
    return panel;
  });
}

function placedBars(panels, bars, foot) {
  return [...new Set(bars)].map((bar) => {
    const group = panels.filter((_, place) => bars[place] === bar);
    const [first, last] = [group[0], group[group.length - 1]];
    const room = last.x + last.size - first.x;
    const width = Math.min(room, Math.max(0.7 * room, 240));
    return { x: first.x + (room - width) / 2, y: last.y + last.size + foot + 8, width };
  });
}
