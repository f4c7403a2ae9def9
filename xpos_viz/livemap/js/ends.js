/** Two handles on one track, the first and the last of some tokens. */
import { enlargement } from "./sheet.js";

const KEYS = ["start", "stop"];
const LEAST = 2; // tokens from one end to the other
const THUMB = 18; // pixels of usual type

/**
 * Build the track. A press takes the nearest handle; where both are under the pointer, the one
 * that can follow it. A key that its handle cannot follow moves the other one.
 * @param {function(string, string, object): HTMLElement} make
 * @param {{move: function(number[]): void, release: function(): void}} actions
 * @returns {{node: HTMLElement, show: function(number[], number, string[], string[]): void}}
 */
export function createEnds(make, { move, release }) {
  const node = make("div", "track");
  const inputs = KEYS.map((key) => make("input", `range lm-${key}`, { type: "range", min: 0 }));
  let [ends, tokens] = [[0, 0], 0];
  let press = null; // { at, place, grip }: where it began, which handle, and how far beside it
  node.append(...inputs);

  function limited(place, wish) {
    const [low, high] = place ? [ends[0] + LEAST, tokens] : [0, ends[1] - LEAST];
    return Math.max(low, Math.min(high, Math.round(wish)));
  }

  const follows = (place, wish) =>
    (limited(place, wish) - ends[place]) * (wish - ends[place]) > 0;

  function put(place, wish) {
    if (follows(place, wish)) ends = ends.with(place, limited(place, wish));
    inputs.forEach((input, at) => (input.value = ends[at]));
    move(ends);
  }

  /** Where the pointer is, and how far from the middle of a handle to its edge, in tokens. */
  function located({ clientX }) {
    const box = node.getBoundingClientRect();
    const thumb = THUMB * enlargement(node.ownerDocument);
    const scale = tokens / (box.width - thumb);
    return { at: (clientX - box.left - thumb / 2) * scale, reach: (thumb / 2) * scale };
  }

  function taken({ at, reach }) {
    const far = ends.map((end) => Math.abs(at - end));
    if (Math.max(...far) <= reach) return null;
    const place = far[0] < far[1] ? 0 : 1;
    return { at, place, grip: far[place] <= reach ? at - ends[place] : 0 };
  }

  /** Of two handles under the pointer, the one ahead of it that can follow. */
  function ahead(at) {
    const moved = at - press.at;
    const order = moved < 0 ? [0, 1] : [1, 0];
    const place = order.find((place) => follows(place, ends[place] + moved));
    return place === undefined ? press : { at: press.at, place, grip: press.at - ends[place] };
  }

  function pull({ at }) {
    if (press.place === null) press = ahead(at);
    if (press.place === null) return;
    inputs[press.place].focus({ preventScroll: true });
    put(press.place, at - press.grip);
  }

  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    node.setPointerCapture(event.pointerId);
    const where = located(event);
    press = taken(where) ?? { at: where.at, place: null };
    pull(where);
  });
  node.addEventListener("mousedown", (event) => event.preventDefault()); // it would take the focus
  node.addEventListener("pointermove", (event) => press && pull(located(event)));
  for (const event of ["pointerup", "pointercancel"]) {
    node.addEventListener(event, () => {
      press = null;
      release();
    });
  }
  inputs.forEach((input, place) => {
    input.dataset.key = KEYS[place];
    input.addEventListener("input", () => {
      const wish = Number(input.value);
      const [other, follow] = [1 - place, ends[1 - place] + wish - ends[place]];
      const handed = !follows(place, wish) && follows(other, follow);
      put(...(handed ? [other, follow] : [place, wish]));
      if (handed) inputs[other].focus();
    });
    for (const event of ["change", "blur"]) input.addEventListener(event, release);
  });

  function show(now, last, names, words) {
    [ends, tokens] = [now, last];
    inputs.forEach((input, place) => {
      Object.assign(input, { max: last, step: 1, value: now[place] });
      input.setAttribute("aria-label", names[place]);
      input.setAttribute("aria-valuetext", words[place]);
      node.style.setProperty(["--from", "--to"][place], `${(100 * now[place]) / last}%`);
    });
  }

  return { node, show };
}
