/** What the keys do on the maps. */

/** The magnification of a key or of half a wheel notch. */
export const STEP = 1.25;

const FAR = 10; // steps of an arrow with Shift

/**
 * The action of a key, or undefined.
 * @param {KeyboardEvent} event
 * @param {object} gestures
 * @returns {function(): void|undefined}
 */
export function actionOf({ key, shiftKey }, gestures) {
  const far = shiftKey ? FAR : 1;
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
