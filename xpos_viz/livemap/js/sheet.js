/** A canvas that is sharp at every density of pixels, and as large as the page's type. */

const USUAL = 16; // pixels of usual type

/**
 * How much larger than usual the page's type is; what is drawn grows with it.
 * @param {Document} document
 * @returns {number}
 */
export function enlargement(document) {
  const { fontSize } = document.defaultView.getComputedStyle(document.documentElement);
  return parseFloat(fontSize) / USUAL || 1;
}

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

  /** Give it a size in units of usual type's pixels, and an empty surface. */
  function clean(width, height) {
    const larger = enlargement(document);
    const density = larger * (document.defaultView.devicePixelRatio || 1);
    const [across, down] = [Math.round(width * density), Math.round(height * density)];
    if (canvas.width !== across || canvas.height !== down) {
      [canvas.width, canvas.height] = [across, down];
      [canvas.style.width, canvas.style.height] = [width, height].map(
        (side) => `${side * larger}px`,
      );
    }
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.clearRect(0, 0, across, down);
    ctx.setTransform(across / width, 0, 0, down / height, 0, 0);
    return ctx;
  }

  return { canvas, clean };
}
