// Runs in a page before the page's own scripts. Counts the bytes of the WebSockets both ways,
// notes when a picture is on the screen and when anything has changed last, and times the frame
// that follows each move of a slider. `window.benchMaps` is the number of Plotly heatmaps that
// make a picture; where there are none, the live map is the picture.
(() => {
  const frame = requestAnimationFrame.bind(window); // not counted as the page's own
  const roots = [document];
  const bench = {
    received: 0, given: 0, // bytes from and to the server
    moved: 0, stirred: 0, // when a key or link was pressed, and anything changed last
    frames: 0, script: 0, // frames with callbacks of the page's own, milliseconds in these
    first: null, latest: null, timed: null,
    drawn: 0, // when something was drawn last in any picture of the page
  };
  window.bench = bench;

  const sizeOf = (data) => data.byteLength ?? data.size ?? data.length;
  window.WebSocket = class extends WebSocket {
    constructor(...options) {
      super(...options);
      this.addEventListener("message", ({ data }) => (bench.received += sizeOf(data)));
    }

    send(data) {
      bench.given += sizeOf(data);
      super.send(data);
    }
  };

  for (const kind of ["keydown", "click"]) {
    addEventListener(kind, (event) => (bench.moved = event.timeStamp), true);
  }

  // What the page shows

  bench.within = (selector) => roots.map((root) => root.querySelector(selector)).find(Boolean);

  const main = () => document.querySelector("[data-testid=stMain]")?.textContent;

  const heatmaps = () => {
    const plots = [...document.querySelectorAll(".js-plotly-plot")].filter((plot) =>
      plot.querySelector(".heatmaplayer image"),
    );
    const images = plots.flatMap((plot) => [...plot.querySelectorAll(".heatmaplayer image")]);
    const words = plots.map((plot) => plot.querySelector(".infolayer")?.textContent).join();
    const cells = images.map((image) => image.href.baseVal).join();
    const whole = images.length === window.benchMaps && cells !== "";
    return { images, cells, gamma: whole ? /γ\s([\d.]+)/.exec(words)?.[1] : undefined };
  };

  let draws = 0;
  const liveMap = (records) => {
    const root = bench.within(".lm-root");
    if (records.some(({ target }) => root?.contains(target))) draws += 1;
    const ready = root?.dataset.state === "ready";
    const gamma = ready ? root.querySelector("[data-key=gamma]").ariaValueText : undefined;
    return { images: [], cells: draws, gamma };
  };

  let seen = { cells: "", gamma: undefined };
  let drawing = 0;
  let pending = 0;

  const painted = async (images) => {
    await Promise.allSettled(images.map((image) => image.decode()));
    await new Promise(frame); // the frame that shows them begins,
    await new Promise(frame); // and has ended
    return performance.now();
  };

  const inPicture = ({ target }) =>
    (target.closest ? target : target.parentElement)?.closest(".js-plotly-plot, .lm-root");

  const note = async (records) => {
    const drew = records.some(inPicture);
    const now = window.benchMaps ? heatmaps() : liveMap(records);
    const redrawn = now.cells !== seen.cells;
    const fresh = now.gamma && (redrawn || now.gamma !== seen.gamma);
    if (fresh && redrawn) drawing += 1;
    if (fresh) seen = { cells: now.cells, gamma: now.gamma };
    const picture = { gamma: now.gamma, drawing };
    pending += 1;
    bench.stirred = picture.at = await painted(fresh ? now.images : []);
    pending -= 1;
    if (drew) bench.drawn = picture.at;
    if (!fresh) return;
    bench.latest = picture;
    const { before } = bench;
    if (before && picture.gamma !== before.gamma && picture.drawing > before.drawing) {
      bench.first ??= picture;
    }
  };

  // Before the slider is moved: what is shown, and what has been received. After that, the first
  // picture that has another γ and other cells is bench.first.
  bench.start = (slider) => {
    bench.before = { ...bench.latest, text: main(), received: bench.received };
    bench.first = null;
    slider.focus();
  };

  // Before a page is left, or a control of any page is moved: whatever is drawn after it counts.
  bench.begin = (element) => {
    bench.before = { received: bench.received };
    bench.drawn = 0;
    element.focus();
  };

  bench.followed = () => bench.first && main() !== bench.before.text;

  bench.sent = () => bench.received - bench.before.received;

  bench.atRest = (milliseconds) =>
    document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" &&
    bench.drawn > 0 &&
    pending === 0 &&
    performance.now() - bench.stirred > milliseconds;

  const observer = new MutationObserver(note);
  const observe = (root) =>
    observer.observe(root, {
      subtree: true, childList: true, characterData: true, attributes: true,
      attributeFilter: ["href", "data-state", "data-test-script-state"],
    });
  observe(document);

  const { attachShadow } = Element.prototype;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    roots.push(root);
    observe(root);
    return root;
  };

  // Frames of a drag

  let last = 0;
  window.requestAnimationFrame = (callback) =>
    frame((time) => {
      const start = performance.now();
      callback(time);
      bench.script += performance.now() - start;
      if (time !== last) bench.frames += 1;
      last = time;
    });

  const nextTask = () =>
    new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    });

  let handled = 0;
  const timed = async () => {
    const began = performance.now();
    const earlier = bench.script;
    await new Promise(frame);
    const opened = performance.now(); // before the page's own callbacks, which came later
    const shown = new Promise(frame).then(() => performance.now() - began);
    await nextTask(); // callbacks, styles, layout and painting are over
    const work = handled - began + performance.now() - opened;
    const script = handled - began + bench.script - earlier;
    return { work, script, shown: await shown };
  };
  addEventListener("input", () => (bench.timed = timed()), true);
  addEventListener("input", () => (handled = performance.now()));

  bench.taken = async () => {
    const result = await bench.timed; // null where the slider did not move
    bench.timed = null;
    return result;
  };

  // Where the thumb of a slider has to be for each of its steps, and at which step it is.
  bench.track = (slider) => {
    slider.scrollIntoView({ block: "nearest" });
    const { left, top, width, height } = slider.getBoundingClientRect();
    return { left, width, y: top + height / 2, step: Number(slider.value), last: Number(slider.max) };
  };

  bench.image = () => bench.within("canvas.lm-canvas").toDataURL();
})();
