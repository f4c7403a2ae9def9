/** What the host listens to. */

/**
 * Make the events.
 * @returns {{on: function(string, function): function, emit: function(string, *): void,
 *     clear: function(): void}} `on` returns a function that ends the listening
 */
export function createEvents() {
  const listeners = new Map();

  function on(event, listener) {
    if (!listeners.has(event)) listeners.set(event, new Set());
    listeners.get(event).add(listener);
    return () => listeners.get(event).delete(listener);
  }

  function emit(event, detail) {
    for (const listener of listeners.get(event) ?? []) listener(detail);
  }

  return { on, emit, clear: () => listeners.clear() };
}
