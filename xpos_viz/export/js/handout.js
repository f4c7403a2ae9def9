/** The host of the live map on a page without server: it answers by itself. */
/* global mount */

const packed = document.getElementById("payload").textContent;
const bytes = Uint8Array.from(atob(packed), (letter) => letter.codePointAt(0));
const handle = mount(document.getElementById("map"), bytes);
const opening = JSON.parse(document.getElementById("opening").textContent);
const darkness = matchMedia("(prefers-color-scheme: dark)");
let set = opening; // encodings and view
let resets = 0;

/** What is set, with what was moved: a slider's value goes to all encodings that it is of. */
function moved(changes) {
  const encodings = set.encodings.map((encoding, place) => {
    const own = set.sliders.filter(({ key, places }) => key in changes && places.includes(place));
    const news = own.map(({ key, parameter }) => [parameter, changes[key]]);
    return { ...encoding, parameters: { ...encoding.parameters, ...Object.fromEntries(news) } };
  });
  const seen = Object.keys(set.view).filter((key) => key in changes);
  const view = { ...set.view, ...Object.fromEntries(seen.map((key) => [key, changes[key]])) };
  return { ...set, encodings, view };
}

function tell() {
  const { encodings, view } = set;
  handle.update({ encodings, view, resets });
}

function look() {
  document.documentElement.classList.toggle("dark", darkness.matches);
  tell(); // the ink follows the colour of text
}

handle.on("commit", ({ changes }) => {
  set = moved(changes);
  tell();
});
document.getElementById("reset").addEventListener("click", () => {
  set = opening;
  resets += 1;
  tell();
});
darkness.addEventListener("change", look);
look();
