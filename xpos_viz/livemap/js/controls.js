/** Sliders, switches and choices, made once and brought up to date in place. */
import { createEnds } from "./ends.js";
import { stepsWith } from "./state.js";
import { fill, number } from "./text.js";

const CHOICES = ["mask", "difference", "axis"]; // from lists
let mounts = 0; // radio buttons of one group share a name that no other group has

/**
 * Build the controls.
 * @param {Document} document
 * @param {{move: function(object, string), release: function(string), play: function(string),
 *     save: function()}} actions
 * @returns {{node: HTMLElement, show: function(object): void, steps: function(string): number[]}}
 */
export function createControls(document, actions) {
  const make = maker(document);
  const node = make("div", "controls");
  const [sliders, choices] = [make("div", "sliders"), make("div", "choices")];
  const parts = { sliders: new Map(), choices: new Map() };
  const window = createWindow(make, actions);
  const menu = createMenu(make, actions);
  const stages = createSegments(make, `lm-stage-${++mounts}`, (value) => choose("stage", value));
  node.append(sliders, choices);

  function choose(key, value) {
    actions.move({ [key]: value }, key);
    actions.release(key);
  }

  function partFor(kind, key, create) {
    if (!parts[kind].has(key)) parts[kind].set(key, create());
    return parts[kind].get(key);
  }

  function arrange(home, wanted) {
    const same = wanted.every((part, i) => home.children[i] === part);
    if (!same || home.children.length !== wanted.length) home.replaceChildren(...wanted);
  }

  function show({ payload, values, playing }) {
    const offered = (key) => !payload.only?.length || payload.only.includes(key);
    const named = payload.sliders.filter(({ key }) => offered(key));
    const rows = named.map((slider) => {
      const part = partFor("sliders", slider.key, () => createSlider(make, slider.key, actions));
      part.show(slider, values[slider.key], payload.text, playing === slider.key);
      return part.node;
    });
    window.show(payload, values);
    arrange(sliders, offered("window") ? [...rows, window.node] : rows);
    const { text } = payload;
    stages.show(text.controls.stage, text.help.stage, payload.choices.stage, values.stage);
    const selects = CHOICES.filter(offered).map((key) => {
      const part = partFor("choices", key, () => createSelect(make, (value) => choose(key, value)));
      part.show(text.choices[key], text.help[key], payload.choices[key], values[key]);
      return part.node;
    });
    const colours = partFor("choices", "colours", () =>
      createSelect(make, (value) => choose("colours", value)),
    );
    const palettes = payload.choices.colours;
    colours.show(text.choices.colours, text.help.colours, palettes, values.colours);
    menu.show(text, offered("colours") ? [colours.node] : []);
    arrange(choices, [...(offered("stage") ? [stages.node] : []), ...selects, menu.node]);
  }

  return { node, show, steps: (key) => parts.sliders.get(key).steps(), destroy: menu.destroy };
}

function maker(document) {
  return (kind, name, properties = {}) => {
    const node = document.createElement(kind);
    node.className = `lm-${name}`;
    return Object.assign(node, properties);
  };
}

/** A mark that tells in one line what a control does, also when it is tapped. */
function createHelp(make) {
  const node = make("span", "help", { textContent: "?", tabIndex: 0 });
  node.setAttribute("role", "note");
  node.addEventListener("click", (event) => event.preventDefault()); // its label keeps the focus off

  function show(words) {
    node.hidden = !words;
    node.title = words ?? "";
    node.setAttribute("aria-label", node.title);
  }

  return { node, show };
}

/** A slider over steps; between them while it is played. */
function createSlider(make, key, actions) {
  const [node, name, value] = [make("div", "slider"), make("span", "name"), make("span", "now")];
  const help = createHelp(make);
  const input = make("input", "range", { type: "range", min: 0 });
  const play = make("button", "play", { type: "button" });
  const label = make("label", "label");
  input.dataset.key = key;
  label.append(name, help.node, value, input);
  node.append(label, play);
  const seen = new Set();
  let steps = [];
  input.addEventListener("input", () => {
    actions.move({ [key]: steps[Math.round(Number(input.value))] }, key);
  });
  onRelease(input, () => actions.release(key));
  play.addEventListener("click", () => actions.play(key));

  function show(slider, current, text, playing) {
    if (!playing) seen.add(current);
    steps = stepsWith(slider.steps, seen);
    input.max = steps.length - 1;
    input.step = playing ? "any" : 1;
    input.value = playing ? placeBetween(steps, current) : steps.indexOf(current);
    input.setAttribute("aria-valuetext", number(current));
    input.setAttribute("aria-label", slider.label);
    name.textContent = slider.label;
    help.show(slider.help);
    value.textContent = number(current);
    play.textContent = playing ? "❚❚" : "▶";
    play.setAttribute("aria-label", fill(playing ? text.stop : text.play, { name: slider.label }));
    play.title = play.getAttribute("aria-label");
    play.classList.toggle("lm-on", playing);
  }

  return { node, show, steps: () => steps };
}

/** Call when a slider is let go: a drag that ends where it began gives no "change". */
function onRelease(input, release) {
  for (const event of ["change", "pointerup", "pointercancel", "blur"]) {
    input.addEventListener(event, release);
  }
}

/**
 * Where a value stands among steps, broken between two of them.
 * @param {number[]} steps
 * @param {number} value
 * @returns {number}
 */
export function placeBetween(steps, value) {
  const above = steps.findIndex((step) => step >= value);
  if (above <= 0) return above < 0 ? steps.length - 1 : 0;
  const [low, high] = [steps[above - 1], steps[above]];
  return above - 1 + Math.log(value / low) / Math.log(high / low);
}

/** The tokens that are shown: one track with a handle at each end. */
function createWindow(make, actions) {
  const [node, name, value] = [make("div", "slider"), make("span", "name"), make("span", "now")];
  const help = createHelp(make);
  const ends = createEnds(make, {
    move: ([start, stop]) => actions.move({ start, stop }, "start", "stop"),
    release: () => actions.release("start", "stop"),
  });
  const head = make("div", "label");
  head.append(name, help.node, value, ends.node);
  node.append(head);

  function show({ tokens, text }, { start, stop }) {
    const words = [start, stop - 1].map(number);
    node.hidden = tokens <= 2;
    ends.show([start, stop], tokens, [text.first, text.last], words);
    name.textContent = text.controls.window;
    help.show(text.help.window);
    value.textContent = words.join(" – ");
  }

  return { node, show };
}

/** A few options side by side, of which one is chosen. */
function createSegments(make, group, choose) {
  const node = make("fieldset", "segments");
  const legend = make("legend", "name");
  const [title, help] = [make("span", "name"), createHelp(make)];
  legend.append(title, help.node);
  const row = make("div", "row");
  node.append(legend, row);
  const inputs = new Map();

  function entry(value) {
    if (inputs.has(value)) return inputs.get(value);
    const label = make("label", "segment");
    const input = make("input", "radio", { type: "radio", name: group, value });
    const words = make("span", "words");
    input.addEventListener("change", () => choose(value));
    label.append(input, words);
    row.append(label);
    inputs.set(value, { input, words });
    return inputs.get(value);
  }

  function show(name, words, options, current) {
    title.textContent = name;
    node.setAttribute("aria-label", name); // the legend has the mark as well
    help.show(words);
    for (const { value, label } of options) {
      const { input, words } = entry(value);
      words.textContent = label;
      input.checked = value === current;
    }
  }

  return { node, show };
}

/** A choice from a list. */
function createSelect(make, choose) {
  const [node, name, select] = [
    make("label", "choice"),
    make("span", "name"),
    make("select", "select"),
  ];
  const [head, help] = [make("span", "head"), createHelp(make)];
  head.append(name, help.node);
  node.append(head, select);
  select.addEventListener("change", () => choose(select.value));

  function show(label, words, options, current) {
    name.textContent = label;
    help.show(words);
    select.setAttribute("aria-label", label);
    while (select.options.length > options.length) select.remove(options.length);
    options.forEach((option, place) => {
      if (!select.options[place]) select.add(make("option", "option"));
      Object.assign(select.options[place], { value: option.value, textContent: option.label });
    });
    select.value = current;
  }

  return { node, show };
}

/** What is needed seldom. */
function createMenu(make, actions) {
  const [node, head, body] = [
    make("details", "menu"),
    make("summary", "button"),
    make("div", "sheet"),
  ];
  const save = make("button", "button", { type: "button" });
  node.append(head, body);
  save.addEventListener("click", () => {
    actions.save();
    node.open = false;
  });
  const close = (event) => {
    if (!event.composedPath().includes(node)) node.open = false;
  };
  node.ownerDocument.addEventListener("pointerdown", close);
  node.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !node.contains(relatedTarget)) node.open = false;
  });
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    event.stopPropagation();
    node.open = false;
    head.focus();
  });

  function show(text, colours) {
    head.textContent = text.more;
    save.textContent = text.png;
    if (body.children.length !== colours.length + 1) body.replaceChildren(...colours, save);
  }

  const destroy = () => node.ownerDocument.removeEventListener("pointerdown", close);
  return { node, show, destroy };
}
