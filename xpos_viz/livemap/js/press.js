/**
 * One pointer that is down on the maps: without a drag it picks a cell; a drag draws a box to
 * zoom into, pans with Shift, and of a finger picks, or pans where the maps are zoomed.
 */

const CLICK = 5; // pixels within which a press is no drag

/**
 * Make the press.
 * @param {object} gestures as in input.js
 * @returns {object} start(event, place, cell), move(place), end(place), cancel(), on()
 */
export function createPress(gestures) {
  let press = null; // where it began, and what it does

  function start({ shiftKey, pointerType }, [x, y], at) {
    const touch = pointerType === "touch";
    const pans = shiftKey || (touch && gestures.zoomed());
    press = { at, x, y, pans, touch, moved: false };
    if (touch) gestures.pick(at);
  }

  function move([x, y]) {
    press.moved ||= Math.hypot(x - press.x, y - press.y) > CLICK;
    if (press.moved) drag(gestures.clamped(x, y, press));
  }

  function drag(to) {
    const { at, pans, touch } = press;
    if (pans) gestures.pan(at.row - to.row, at.column - to.column);
    else if (touch) gestures.pick(to);
    else gestures.box(at, to);
  }

  function end(place) {
    if (!press) return;
    const { at, moved, pans, touch } = press;
    const to = gestures.clamped(...place, press);
    press = null;
    if (pans || touch) return;
    if (!moved) return gestures.pick(at);
    gestures.box(null);
    gestures.zoomBox(at, to);
  }

  function cancel() {
    press = null;
    gestures.box(null);
  }

  return { start, move, end, cancel, on: () => press !== null };
}
