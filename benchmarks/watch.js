// Runs in a page before the page's own scripts. Counts the bytes that the server sends, and
// notes when a picture is on the screen: all heatmaps of the page with the γ in their titles,
// and none left over from the picture before.
(() => {
  const bench = { received: 0, moved: 0, pictures: [] };
  window.bench = bench;

  window.WebSocket = class extends WebSocket {
    constructor(...options) {
      super(...options);
      this.addEventListener("message", ({ data }) => {
        bench.received += data.byteLength ?? data.size ?? data.length;
      });
    }
  };

  addEventListener("keydown", (event) => (bench.moved = event.timeStamp), true);

  const look = () => {
    const plots = [...document.querySelectorAll(".js-plotly-plot")].filter((plot) =>
      plot.querySelector(".heatmaplayer image"),
    );
    const images = plots.flatMap((plot) => [...plot.querySelectorAll(".heatmaplayer image")]);
    const words = plots.map((plot) => plot.querySelector(".infolayer")?.textContent).join();
    const cells = images.map((image) => image.href.baseVal).join();
    return { images, cells, gamma: /γ\s([\d.]+)/.exec(words)?.[1] };
  };

  let seen = { cells: "", gamma: undefined };
  let drawing = 0;

  const painted = async (images) => {
    await Promise.allSettled(images.map((image) => image.decode()));
    await new Promise(requestAnimationFrame); // the frame that shows them begins,
    await new Promise(requestAnimationFrame); // and has ended
    return performance.now();
  };

  const note = async () => {
    const now = look();
    if (now.images.length !== window.benchMaps || !now.gamma || !now.cells) return;
    if (now.cells === seen.cells && now.gamma === seen.gamma) return;
    if (now.cells !== seen.cells) drawing += 1;
    seen = { cells: now.cells, gamma: now.gamma };
    const picture = { gamma: now.gamma, drawing };
    picture.at = await painted(now.images);
    bench.pictures.push(picture);
  };

  // Before the slider is moved: what is shown, and what has been received.
  bench.start = (slider) => {
    bench.before = { ...bench.latest(), received: bench.received };
    slider.focus();
  };

  // The first picture since then that has another γ and other cells.
  bench.next = () =>
    bench.pictures.find(
      ({ gamma, drawing }) => gamma !== bench.before.gamma && drawing > bench.before.drawing,
    );

  bench.sent = () => bench.received - bench.before.received;

  bench.latest = () => bench.pictures.at(-1);

  bench.atRest = (milliseconds) =>
    document.querySelector("[data-testid=stApp]")?.dataset.testScriptState === "notRunning" &&
    performance.now() - bench.latest().at > milliseconds;

  new MutationObserver(note).observe(document, {
    subtree: true,
    childList: true,
    characterData: true,
    attributes: true,
    attributeFilter: ["href"],
  });
})();
