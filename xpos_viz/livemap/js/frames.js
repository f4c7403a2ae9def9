/** One frame for however many wishes to draw. */

/**
 * Make the frames.
 * @param {Window} window
 * @param {function(boolean): void} draw told whether the maps, or only what lies over them
 * @returns {{ask: function(boolean=): void, cancel: function(): void}}
 */
export function createFrames(window, draw) {
  let request = 0;
  let maps = false; // whether the maps are asked for

  function ask(wanted = true) {
    maps ||= wanted;
    request ||= window.requestAnimationFrame(frame);
  }

  function frame() {
    const asked = maps;
    [request, maps] = [0, false];
    draw(asked);
  }

  return { ask, cancel: () => window.cancelAnimationFrame(request) };
}
