/** The read-out below the maps, and its words for a screen reader. */
import { placeOf } from "./cell.js";
import { fill, measured } from "./text.js";

const PAUSE = 350; // milliseconds of rest before a screen reader is told

/**
 * Build the read-out.
 * @param {Document} document
 * @param {{pairs: function(boolean): void, whole: function(): void}} actions
 * @returns {{node: HTMLElement, show: function(object): void, label: function(object): void}}
 */
export function createReadout(document, actions) {
  const make = (kind, name) => {
    const node = document.createElement(kind);
    node.className = `lm-${name}`;
    return node;
  };
  const [node, words, numbers, buttons] = [
    make("div", "readout"),
    make("div", "place"),
    make("div", "numbers"),
    make("div", "buttons"),
  ];
  const [pairs, whole] = [make("button", "button"), make("button", "button")];
  const spoken = make("div", "spoken");
  spoken.setAttribute("role", "status");
  spoken.setAttribute("aria-live", "polite");
  pairs.type = whole.type = "button";
  pairs.setAttribute("aria-pressed", "false");
  pairs.addEventListener("click", () => {
    const on = pairs.getAttribute("aria-pressed") !== "true";
    pairs.setAttribute("aria-pressed", String(on));
    actions.pairs(on);
  });
  whole.addEventListener("click", actions.whole);
  buttons.append(whole, pairs);
  node.append(words, numbers, buttons, spoken);
  let timer = 0;
  let said = "";

  function speak(sentence) {
    if (sentence === said) return;
    said = sentence;
    clearTimeout(timer);
    timer = setTimeout(() => {
      spoken.textContent = sentence;
    }, PAUSE);
  }

  function show({ payload, values, picture, cell, lag, marks, zoomed, colours, playing }) {
    whole.hidden = !zoomed;
    const place = cell ? placeOf(payload, cell) : lagOnly(payload, lag);
    words.textContent = place || hintFor(document, payload);
    words.classList.toggle("lm-hint", !place);
    node.classList.toggle("lm-reading", place !== "");
    const entries = cell ? entriesOf({ payload, values }, picture, cell) : pointsOf(picture, marks);
    numbers.replaceChildren(...entries.map((entry, i) => chip(make, entry, colours[i])));
    if (!playing) speak([place, ...entries.map(({ name, value }) => `${name} ${value}`)].join(", "));
  }

  function label({ text }) {
    pairs.textContent = text.pairs;
    whole.textContent = text.whole;
  }

  return { node, show, label, destroy: () => clearTimeout(timer) };
}

/**
 * How to read and move the picture, with the pointer that there is.
 * @param {Document} document
 * @param {object} payload
 * @returns {string}
 */
export function hintFor(document, { text }) {
  const coarse = document.defaultView.matchMedia("(pointer: coarse)").matches;
  return coarse ? text.hint_touch : text.hint;
}

function lagOnly({ text }, lag) {
  return lag === null ? "" : fill(text.lag, { lag: measured(lag) });
}

function entriesOf({ payload: { text }, values }, { panels }, { masked, waits, readings }) {
  if (masked) return [{ name: text.masked, value: "" }];
  const terms = termsOf(values.difference, readings);
  const written = (reading) =>
    Number.isNaN(reading) ? fill(text.no_number, { terms }) : measured(reading);
  return panels.map(({ title }, i) => ({
    name: title[0],
    value: waits[i] ? "…" : written(readings[i]),
  }));
}

/** What was compared, where it has no result: 0 / 0 or ∞ − ∞. */
function termsOf(how, [first, last]) {
  if (how === "ratio") return [last, first].map((x) => measured(Math.abs(x))).join(" / ");
  return [last, first].map((x) => measured(x)).join(" − ");
}

/** The points of the curves at a lag that is pointed at. */
function pointsOf({ encodings }, marks) {
  return marks.map((g, i) => ({ name: `g, ${encodings[i].label}`, value: measured(g) }));
}

function chip(make, { name, value }, colour) {
  const [node, mark, number] = [make("span", "chip"), make("i", "mark"), make("b", "value")];
  mark.style.background = value && colour ? colour : "transparent";
  number.textContent = value;
  node.append(mark, `${name} `, number);
  return node;
}
