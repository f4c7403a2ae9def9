/** A canvas that is sharp at every density of pixels. */

/**
 * Make a sheet.
 * @param {Document} document
 * @param {string} name of its class
 * @returns {{canvas: HTMLCanvasElement, clean: function(number, number): CanvasRenderingContext2D}}
 */
export function createSheet(document, name) {
  const canvas = document.createElement("canvas");
  canvas.className = name;
  const ctx = canvas.getContext("2d");

  /** Give it a size in CSS pixels and an empty surface. */
  function clean(width, height) {
    const density = document.defaultView.devicePixelRatio || 1;
    const [across, down] = [Math.round(width * density), Math.round(height * density)];
    if (canvas.width !== across || canvas.height !== down) {
      [canvas.width, canvas.height] = [across, down];
      [canvas.style.width, canvas.style.height] = [`${width}px`, `${height}px`];
    }
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, across, down);
    ctx.setTransform(across / width, 0, 0, down / height, 0, 0);
    return ctx;
  }

  return { canvas, clean };
}
