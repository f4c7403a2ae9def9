/**
 * The live map: mount(element, payload) → { update(payload), on(event, listener), destroy() }.
 *
 * Every input redraws on the next frame, and a frame draws the latest state only. While a
 * control is dragged nothing is said to the host; on release "commit" tells it what changed, as
 * { changes, number, echo, holds }: echo is the last commit that the host is known to know of,
 * and holds the names of the parts that need not be sent again. The host answers by
 * update(payload), with `echo` the number of the last commit that the payload knows of. "need"
 * says that a payload came without parts it is of, before which nothing is drawn.
 */
import { createEvents } from "./events.js";
import { read } from "./payload.js";
import { show } from "./shown.js";
import { isWhole } from "./state.js";

/**
 * Show the live map in an element.
 * @param {HTMLElement|ShadowRoot} element
 * @param {object|Uint8Array} first the payload, with its parts
 * @returns {{update: function(object|Uint8Array): void, on: function(string, function): function,
 *     destroy: function(): void}} `on` returns a function that ends the listening
 */
export function mount(element, first) {
  const events = createEvents();
  let shown = null;

  function update(payload) {
    const described = read(payload);
    if (shown) shown.update(described);
    else if (isWhole(described)) shown = show(element, described, events);
    else queueMicrotask(() => events.emit("need"));
  }

  update(first);
  return {
    update,
    on: events.on,
    destroy() {
      events.clear();
      shown?.destroy();
    },
  };
}
