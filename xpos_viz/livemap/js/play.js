/** Sweeping one parameter back and forth over the steps of its slider. */

const PERIOD = 9000; // milliseconds there and back
const CALM = 1000; // milliseconds a step where motion is to be reduced

/**
 * Make a player.
 * @param {Window} window
 * @param {{steps: function(string): number[], move: function(string, number),
 *     ended: function(string, number)}} actions
 * @returns {{toggle: function(string, number): void, stop: function(): void,
 *     drop: function(): void, key: string|null}} `drop` ends it without a word
 */
export function createPlayer(window, actions) {
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  let key = null;
  let place = 0; // among the steps
  let direction = 1;
  let before = 0; // the time of the last move, milliseconds
  let request = 0;

  function toggle(wanted, start) {
    const same = wanted === key;
    stop();
    if (same) return;
    [key, place, direction, before] = [wanted, start, 1, 0];
    request = window.requestAnimationFrame(tick);
  }

  function tick(now) {
    if (!before) before = now;
    const last = actions.steps(key).length - 1;
    if (!calm.matches) glide(now, last);
    else if (now - before >= CALM) hop(now, last);
    request = window.requestAnimationFrame(tick);
  }

  function glide(now, last) {
    place += (direction * 2 * last * Math.min(now - before, 100)) / PERIOD;
    before = now;
    turn(last);
    actions.move(key, valueBetween(actions.steps(key), place));
  }

  function hop(now, last) {
    place = Math.round(place) + direction;
    before = now;
    turn(last);
    actions.move(key, actions.steps(key)[place]);
  }

  function turn(last) {
    if (place >= last) direction = -1;
    if (place <= 0) direction = 1;
    place = Math.max(0, Math.min(last, place));
  }

  function drop() {
    window.cancelAnimationFrame(request);
    key = null;
  }

  function stop() {
    if (key === null) return;
    const ended = key;
    drop();
    actions.ended(ended, actions.steps(ended)[Math.round(place)]);
  }

  return {
    toggle,
    stop,
    drop,
    get key() {
      return key;
    },
  };
}

function valueBetween(steps, place) {
  const low = Math.min(Math.floor(place), steps.length - 2);
  const [a, b] = [steps[low], steps[low + 1]];
  return Number((a * (b / a) ** (place - low)).toPrecision(3));
}
