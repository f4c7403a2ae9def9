/** Pointer, wheel and keys as gestures on the maps. */

const STEP = 1.25; // a key's or a wheel notch's magnification
const CLICK = 5; // pixels within which a press is no drag
const NOTCH = 100; // wheel pixels

/**
 * Listen to an element that shows the maps.
 * @param {HTMLElement} node focusable
 * @param {object} gestures
 *     locate(x, y) → {row, column} in tokens inside a panel, or null; clamped(x, y, from) the same
 *     for a drag that left its panel; point(at | null); pick(at); box(a, b | null); zoomBox(a, b);
 *     magnify(factor, at); pan(rows, columns); reset(); step(rows, columns); zoomed() → boolean
 */
export function listen(node, gestures) {
  const pointers = new Map();
  let press = null; // {at, x, y, pans, moved}
  let pinch = null; // {distance, centre}

  const place = ({ clientX, clientY }) => {
    const box = node.getBoundingClientRect();
    return [clientX - box.left, clientY - box.top];
  };

  function down(event) {
    const [x, y] = place(event);
    pointers.set(event.pointerId, [x, y]);
    const at = gestures.locate(x, y);
    if (event.button !== 0 || !at) return;
    node.focus({ preventScroll: true });
    node.setPointerCapture(event.pointerId);
    if (pointers.size === 2) return startPinch();
    const touch = event.pointerType === "touch";
    press = { at, x, y, pans: event.shiftKey || (touch && gestures.zoomed()), touch, moved: false };
    if (touch) gestures.pick(at);
  }

  function move(event) {
    const [x, y] = place(event);
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, [x, y]);
    if (pinch) return movePinch();
    if (!press) return gestures.point(gestures.locate(x, y));
    press.moved ||= Math.hypot(x - press.x, y - press.y) > CLICK;
    if (press.moved) drag(x, y);
  }

  function drag(x, y) {
    const at = gestures.clamped(x, y, press);
    if (press.pans) return gestures.pan(press.at.row - at.row, press.at.column - at.column);
    if (press.touch) return gestures.pick(at);
    return gestures.box(press.at, at);
  }

  function up(event) {
    pointers.delete(event.pointerId);
    if (pointers.size < 2) pinch = null;
    if (!press) return;
    const { at, moved, pans, touch } = press;
    const end = gestures.clamped(...place(event), press);
    press = null;
    if (pans || touch) return;
    if (!moved) return gestures.pick(at);
    gestures.box(null);
    gestures.zoomBox(at, end);
  }

  function cancel(event) {
    pointers.delete(event.pointerId);
    [press, pinch] = [null, null];
    gestures.box(null);
  }

  function startPinch() {
    press = null;
    gestures.box(null);
    pinch = between();
  }

  function movePinch() {
    if (pointers.size < 2) return;
    const now = between();
    const at = gestures.locate(...now.centre);
    if (at) gestures.magnify(now.distance / pinch.distance, at);
    pinch = now;
  }

  function between() {
    const [[ax, ay], [bx, by]] = [...pointers.values()];
    const distance = Math.max(10, Math.hypot(ax - bx, ay - by));
    return { distance, centre: [(ax + bx) / 2, (ay + by) / 2] };
  }

  function wheel(event) {
    const at = gestures.locate(...place(event));
    const focused = node.getRootNode().activeElement === node;
    if (!at || !(focused || event.ctrlKey || event.metaKey)) return; // the page scrolls
    if (event.deltaY > 0 && !gestures.zoomed()) return;
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? 33 * event.deltaY : event.deltaY;
    const notches = Math.max(-2, Math.min(2, pixels / NOTCH));
    gestures.magnify(STEP ** (-2 * notches), at);
  }

  function key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const action = keyAction(event, gestures);
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  }

  const leave = () => !press && gestures.point(null);
  const double = (event) => gestures.locate(...place(event)) && gestures.reset();
  const events = { wheel, keydown: key, dblclick: double };
  events.pointerdown = down;
  events.pointermove = move;
  events.pointerup = up;
  events.pointercancel = cancel;
  events.pointerleave = (event) => event.pointerType !== "touch" && leave();
  for (const [name, listener] of Object.entries(events)) {
    node.addEventListener(name, listener, { passive: false });
  }
}

/**
 * Listen to the canvas of the curves.
 * @param {HTMLElement} canvas
 * @param {function(number|null): void} point told where the pointer is across, or null
 */
export function listenToLags(canvas, point) {
  canvas.addEventListener("pointermove", (event) => point(event.offsetX));
  canvas.addEventListener("pointerleave", () => point(null));
}

function keyAction({ key, shiftKey }, gestures) {
  const far = shiftKey ? 10 : 1;
  const actions = {
    ArrowUp: () => gestures.step(-far, 0),
    ArrowDown: () => gestures.step(far, 0),
    ArrowLeft: () => gestures.step(0, -far),
    ArrowRight: () => gestures.step(0, far),
    "+": () => gestures.magnify(STEP),
    "=": () => gestures.magnify(STEP),
    "-": () => gestures.magnify(1 / STEP),
    "−": () => gestures.magnify(1 / STEP),
    0: () => gestures.reset(),
    Escape: () => gestures.escape(),
  };
  return actions[key];
}
