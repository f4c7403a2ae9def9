/** Pointer, wheel and keys as gestures on the maps. */
import { actionOf, STEP } from "./keys.js";
import { createPinch } from "./pinch.js";
import { createPress } from "./press.js";
import { enlargement } from "./sheet.js";

const NOTCH = 100; // wheel pixels
const LINE = 33; // pixels of a wheel that counts in lines

/**
 * Listen to an element that shows the maps.
 * @param {HTMLElement} node focusable
 * @param {object} gestures
 *     locate(x, y) → {row, column} in tokens inside a panel, or null; clamped(x, y, from) the same
 *     for a drag that left its panel; point(at | null); pick(at); box(a, b | null); zoomBox(a, b);
 *     magnify(factor, at); pan(rows, columns); reset(); escape(); step(rows, columns);
 *     zoomed() → boolean
 */
export function listen(node, gestures) {
  const place = ({ clientX, clientY }) => {
    const box = node.getBoundingClientRect();
    const larger = enlargement(node.ownerDocument);
    return [(clientX - box.left) / larger, (clientY - box.top) / larger];
  };
  const listeners = {
    ...pointerListeners(node, gestures, place),
    wheel: (event) => wheel(event, node, gestures, place),
    keydown: (event) => press(event, gestures),
    dblclick: (event) => gestures.locate(...place(event)) && gestures.reset(),
  };
  for (const [name, listener] of Object.entries(listeners)) {
    node.addEventListener(name, listener, { passive: false });
  }
}

/** One pointer presses and drags, two pinch, and one that is not down points. */
function pointerListeners(node, gestures, place) {
  const press = createPress(gestures);
  const pinch = createPinch(gestures);

  function pointerdown(event) {
    const at = place(event);
    pinch.put(event.pointerId, at);
    const cell = gestures.locate(...at);
    if (event.button !== 0 || !cell) return;
    node.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    if (pinch.fingers() !== 2) return press.start(event, at, cell);
    press.cancel();
    pinch.start();
  }

  function pointermove(event) {
    const at = place(event);
    pinch.follow(event.pointerId, at);
    if (pinch.on()) pinch.move();
    else if (press.on()) press.move(at);
    else gestures.point(gestures.locate(...at));
  }

  function pointerup(event) {
    pinch.lift(event.pointerId);
    press.end(place(event));
  }

  function pointercancel(event) {
    pinch.lift(event.pointerId);
    pinch.end();
    press.cancel();
  }

  function pointerleave(event) {
    if (event.pointerType !== "touch" && !press.on()) gestures.point(null);
  }

  return { pointerdown, pointermove, pointerup, pointercancel, pointerleave };
}

/** A wheel magnifies where the maps have the focus, and elsewhere scrolls the page. */
function wheel(event, node, gestures, place) {
  const at = gestures.locate(...place(event));
  const focused = node.getRootNode().activeElement === node;
  if (!at || !(focused || event.ctrlKey || event.metaKey)) return;
  if (event.deltaY > 0 && !gestures.zoomed()) return;
  event.preventDefault();
  const pixels = event.deltaMode === 1 ? LINE * event.deltaY : event.deltaY;
  const notches = Math.max(-2, Math.min(2, pixels / NOTCH));
  gestures.magnify(STEP ** (-2 * notches), at);
}

function press(event, gestures) {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const action = actionOf(event, gestures);
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}

/**
 * Listen to the canvas of the curves.
 * @param {HTMLElement} canvas
 * @param {function(number|null): void} point told where the pointer is across, or null
 */
export function listenToLags(canvas, point) {
  canvas.addEventListener("pointermove", ({ offsetX }) => {
    point(offsetX / enlargement(canvas.ownerDocument));
  });
  canvas.addEventListener("pointerleave", () => point(null));
}
