/** Pointers that are down on the maps: two of them magnify. */

const CLOSE = 10; // pixels; nearer fingers count as so far apart

/**
 * Make the pinch.
 * @param {object} gestures as in input.js
 * @returns {object} put, follow and lift a finger; start, move and end the pinch; on(), fingers()
 */
export function createPinch(gestures) {
  const fingers = new Map(); // pointer → place
  let last = null; // {distance, centre}

  function between() {
    const [[ax, ay], [bx, by]] = [...fingers.values()];
    const distance = Math.max(CLOSE, Math.hypot(ax - bx, ay - by));
    return { distance, centre: [(ax + bx) / 2, (ay + by) / 2] };
  }

  function move() {
    const now = between();
    const at = gestures.locate(...now.centre);
    if (at) gestures.magnify(now.distance / last.distance, at);
    last = now;
  }

  function lift(id) {
    fingers.delete(id);
    if (fingers.size < 2) last = null;
  }

  return {
    put: (id, place) => fingers.set(id, place),
    follow: (id, place) => fingers.has(id) && fingers.set(id, place),
    lift,
    start: () => (last = between()),
    move,
    end: () => (last = null),
    on: () => last !== null,
    fingers: () => fingers.size,
  };
}
