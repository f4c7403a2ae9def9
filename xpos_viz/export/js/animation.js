/** Show the frame that the slider points at, and play all of them. */

const STEP = 350; // milliseconds that a frame is shown
const told = JSON.parse(document.getElementById("sweep").textContent);
const [picture, notes, place, value, play] = ["picture", "notes", "place", "value", "play"].map(
  (name) => document.getElementById(name),
);
let timer = 0;

function show() {
  const frame = told.frames[Number(place.value)];
  const { data, layout } = frame.figure;
  Plotly.react(picture, data.map(taken), taken(layout), { displayModeBar: false, responsive: true });
  picture.setAttribute("aria-label", frame.alt);
  place.setAttribute("aria-valuetext", frame.value);
  value.textContent = frame.value;
  notes.replaceChildren(...frame.notes.map(paragraph));
}

/** A part of a figure from its places in the pool; the library may change what it is given. */
function taken(places) {
  const entries = Object.entries(places);
  return Object.fromEntries(entries.map(([key, at]) => [key, structuredClone(told.pool[at])]));
}

function paragraph(line) {
  const node = document.createElement("div");
  node.textContent = line;
  return node;
}

function halt() {
  clearInterval(timer);
  timer = 0;
  play.textContent = told.play;
}

function advance() {
  place.value = Number(place.value) + 1;
  show();
  if (place.value === place.max) halt();
}

play.addEventListener("click", () => {
  if (timer) {
    halt();
    return;
  }
  if (place.value === place.max) {
    place.value = 0;
    show();
  }
  timer = setInterval(advance, STEP);
  play.textContent = told.stop;
});
place.addEventListener("input", () => {
  halt();
  show();
});
halt();
show();
