/** The elements of the live map, and how they are told of the theme. */
import { hintFor } from "./readout.js";
import { STYLE } from "./style.js";
import { alternative, notes } from "./words.js";

/**
 * Build the elements.
 * @param {Document} document
 * @param {object} view
 * @param {{node: HTMLElement}} controls
 * @param {{node: HTMLElement}} readout
 * @returns {{root: HTMLElement, maps: HTMLElement, show: function(object, boolean): void,
 *     look: function(object): object}}
 */
export function createPage(document, view, controls, readout) {
  const make = (kind, name) => {
    const node = document.createElement(kind);
    node.className = name;
    return node;
  };
  const [root, maps, remarks] = [
    make("div", "lm-root"),
    make("div", "lm-maps"),
    make("div", "lm-notes"),
  ];
  const style = document.createElement("style");
  const { sheets } = view;
  style.textContent = STYLE;
  maps.tabIndex = 0;
  maps.setAttribute("role", "application");
  maps.append(sheets.maps.canvas, sheets.over.canvas);
  sheets.pairs.canvas.hidden = true;
  sheets.graph.canvas.setAttribute("role", "img");
  sheets.pairs.canvas.setAttribute("role", "img");
  const drawn = [maps, readout.node, sheets.pairs.canvas, sheets.graph.canvas];
  root.append(style, controls.node, ...drawn, remarks);

  let noted = "";

  function show({ scene, picture, layout }, zoomed) {
    const { text } = scene.payload;
    const { row, column, span } = scene.part;
    const waits = picture.panels.some((panel) => panel.waits);
    root.dataset.state = waits ? "waiting" : picture.unfinished ? "refining" : "ready";
    root.dataset.part = [row, column, span].join(" ");
    if (layout.stacked !== root.classList.contains("lm-stacked")) place(layout.stacked);
    maps.classList.toggle("lm-zoomed", zoomed);
    maps.setAttribute("aria-label", alternative(scene, picture));
    maps.setAttribute("aria-description", hintFor(document, scene.payload));
    sheets.pairs.canvas.setAttribute("aria-label", text.pairs);
    const lines = notes(scene, picture);
    if (noted !== lines.join("\n")) remarks.replaceChildren(...lines.map(paragraph));
    noted = lines.join("\n");
  }

  /** Controls stand above the maps, or where these are stacked below all, at the foot of the screen. */
  function place(stacked) {
    root.classList.toggle("lm-stacked", stacked);
    if (stacked) root.append(controls.node);
    else maps.before(controls.node);
  }

  function paragraph(line) {
    const node = make("div", "lm-note");
    node.textContent = line;
    return node;
  }

  /** The ink and the font: the host's text, if it has a colour of its own, says which ink. */
  function look({ theme }) {
    const { text, page } = theme.inks[theme.mode];
    root.style.setProperty("--lm-text", text);
    root.style.setProperty("--lm-page", page);
    const { color, fontFamily } = document.defaultView.getComputedStyle(root);
    const mode = brightness(color) > 0.5 ? "dark" : "light";
    root.style.colorScheme = mode; // for lists that the browser draws
    return { ink: { ...theme.inks[mode], text: color }, font: fontFamily };
  }

  return { root, maps, show, look };
}

/** How bright a computed colour is, from 0 to 1. */
function brightness(colour) {
  const channels = colour.match(/[\d.]+/g).slice(0, 3).map(Number);
  const scale = colour.startsWith("rgb") ? 255 : 1;
  return channels.reduce((sum, channel) => sum + channel, 0) / (3 * scale);
}

/**
 * Give the reader a file.
 * @param {Document} document
 * @param {Blob} blob
 * @param {string} name
 */
export function download(document, blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
