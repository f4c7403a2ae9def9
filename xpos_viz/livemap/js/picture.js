/** What is to be drawn: three maps and two colour bars, from what is set and what is seen. */
import { covering, gridOf, seenCells } from "./grid.js";
import { floats } from "./payload.js";
import { encodingsOf, valuesOf } from "./state.js";
import { fill, settings } from "./text.js";

const SWIFT = 170_000; // cells of a map that are computed within a frame
const PATIENT = 2 ** 24; // and over some frames, while nothing moves
const SLICE = 12; // milliseconds of a frame that are given to the latter

/**
 * Make a function that gives the picture; it remembers the last one for while it has to wait.
 *
 * Colours end where those of the core do: they are set by maps of the whole window in the core's
 * blocks. What is shown has as many cells as there are pixels, or fewer while something moves.
 * @param {object} numbers from createNumbers
 * @returns {function(object): object} of { payload, values, part, pixels, resting }; `single`
 *     says whether cells are single tokens once all is there, and `unfinished` that it is not,
 *     and that the picture is to be asked for again
 */
export function createPicture(numbers) {
  const last = new Map(); // the maps and limits that were shown last, by stage
  let rest = {}; // of what the difference was and where its colours ended when all rested last

  function shown(scene, stage) {
    const mapsOf = heavy(scene.payload, stage) ? heavyMaps : liveMaps;
    const result = mapsOf(numbers, scene, stage);
    if (!result.whole) return { ...last.get(stage), ...result, waits: true };
    last.set(stage, result);
    return { ...result, waits: false };
  }

  return function picture(scene) {
    const { payload, values, part, pixels, resting } = scene;
    const encodings = encodingsOf(payload, values);
    const until = resting ? performance.now() + SLICE : 0;
    const full = { ...scene, encodings, until };
    const how = values.difference;
    const own = shown(full, values.stage);
    const other = how === "weights" ? shown(full, "weights") : own;
    const single = covering(part, values, pixels).block === 1;
    const unfinished = resting && (own.unfinished || other.unfinished);
    const { panels, bars } = panelsOf(numbers, full, own, other, how);
    return { encodings, single, unfinished, panels, bars: steadied(bars, scene) };
  };

  /** What grows or fades under the hand shall be seen to: its limits stay until all rests. */
  function steadied([own, compared], { values: { stage, mask, difference }, resting }) {
    const of = [stage, mask, difference].join();
    if (resting || rest.of !== of) rest = { of, limit: compared.limit };
    return [own, { ...compared, limit: rest.limit }];
  }
}

/**
 * Whether the browser leaves the weights of so many tokens to the host while a finger moves.
 * @param {object} payload
 * @param {string} stage
 * @returns {boolean}
 */
export function heavy(payload, stage) {
  return stage === "weights" && payload.tokens > payload.live_weights;
}

/** Maps that are computed as they are asked for: at once, and finer ones as soon as all rests. */
function liveMaps(numbers, scene, stage) {
  const { values, part, pixels } = scene;
  const core = coreGrid(scene.payload, values);
  const rough = roughGrid(scene, stage, core);
  const now = atOnce(numbers, scene, stage, "rough", rough);
  const whole = coreMaps(numbers, scene, stage, core, rough, now);
  const fine = covering(part, values, pixels);
  if (fine.block === rough.block) return { whole, maps: now };
  const maps = gradually(numbers, scene, stage, "fine", fine);
  return { whole, maps: maps ?? now, unfinished: !maps };
}

/** What a frame has time for; weights take the same in any blocks. */
function roughGrid({ values, part, pixels }, stage, core) {
  const fine = covering(part, values, pixels);
  if (stage === "weights") return fine;
  const few = seenCells(fine, values.mask) <= SWIFT;
  if (isWhole(part, values)) return few && fine.block === 1 ? fine : core;
  return few ? fine : covering(part, values, pixels, SWIFT);
}

/** Weights of long texts: those of the core, and finer ones where they can be waited for. */
function heavyMaps(numbers, scene, stage) {
  const { payload, values, part, pixels } = scene;
  const core = coreGrid(payload, values);
  const own = payload.streamed === undefined; // whether there is no host that sends them
  const whole = own
    ? gradually(numbers, scene, stage, "core", core)
    : streamedMaps(payload, values);
  if (!whole) return { unfinished: own };
  const fine = covering(part, values, pixels);
  if (fine.block >= core.block || products(fine, payload.tokens, values.mask) > PATIENT) {
    return { whole, maps: whole };
  }
  const maps = gradually(numbers, scene, stage, "fine", fine);
  return { whole, maps: maps ?? whole, unfinished: !maps };
}

/** How many scores the weights of some blocks need: those of their queries with every key. */
function products({ start, stop, block, rows: [first, last] }, tokens, mask) {
  const rows = [start + first * block, Math.min(start + last * block, stop)];
  return seenCells({ rows, columns: [0, tokens] }, mask);
}

/** The maps of the whole window in the core's blocks, taken from those shown if these have them. */
function coreMaps(numbers, scene, stage, core, { block }, maps) {
  const whole = isWhole(scene.part, scene.values);
  if (whole && block === core.block) return maps;
  if (!whole || block > 1) return atOnce(numbers, scene, stage, "core", core);
  return maps.map((map, place) => numbers.coarserOf(`coarser ${stage} ${place}`, map, core.block));
}

const isWhole = ({ span }, { start, stop }) => span >= stop - start;

/** The whole window in the core's blocks. */
function coreGrid({ view }, { start, stop }) {
  const all = { row: start, column: start, span: stop - start };
  return gridOf(all, { start, stop }, Math.ceil((stop - start) / view.cells));
}

function atOnce(numbers, { values, encodings }, stage, name, grid) {
  const request = { stage, mask: values.mask, ...grid };
  return encodings.map((encoding, place) =>
    numbers.valuesOf(`${name} ${stage} ${place}`, encoding, request),
  );
}

/** The same over some frames; null until both are there. */
function gradually(numbers, { values, encodings, until }, stage, name, grid) {
  const request = { stage, mask: values.mask, ...grid };
  const maps = encodings.map((encoding, place) =>
    numbers.graduallyOf(`${name} ${stage} ${place}`, encoding, request, until),
  );
  return maps.every(Boolean) ? maps : null;
}

/** The maps that the host sent, if they are those of what is set. */
function streamedMaps(payload, values) {
  const { streamed } = payload;
  if (!streamed || asked(payload, valuesOf(payload)) !== asked(payload, values)) return null;
  streamed.read ??= streamed.maps.map((bytes) => {
    const { start, stop, block } = streamed;
    const side = Math.ceil((stop - start) / block);
    const edges = { top: start, bottom: stop, left: start, right: stop };
    return { values: floats(bytes), rows: side, columns: side, block, mask: values.mask, ...edges };
  });
  return streamed.read;
}

/** All that weights depend on. */
function asked(payload, values) {
  const { mask, start, stop } = values;
  return JSON.stringify([encodingsOf(payload, values), mask, start, stop]);
}

function panelsOf(numbers, { payload, values, encodings }, own, other, how) {
  const { stages, text } = payload;
  const [first, second] = encodings;
  const compare = (slot, maps) => maps && numbers.comparedOf(slot, how, ...maps);
  const mapOf = compare("compared", other.maps);
  const wholeOf =
    other.maps === other.whole ? mapOf : compare("compared whole", other.whole);
  const stageOf = how === "weights" ? "weights" : values.stage;
  const panels = encodings.map((encoding, place) => ({
    title: [encoding.label, settings(encoding, payload), stateOf(payload, values, values.stage)],
    map: own.maps?.[place],
    waits: own.waits,
    bar: 0,
  }));
  panels.push({
    title: [
      fill(text.comparison[how], { first: first.label, last: second.label }),
      settings(second, payload),
      stateOf(payload, values, stageOf),
    ],
    map: mapOf,
    waits: other.waits,
    bar: 1,
    unknown: mapOf ? numbers.unknownOf("unknown", mapOf) : 0,
  });
  const bars = [
    {
      label: stages[values.stage].value,
      limit: own.whole ? numbers.limitOf("limit", own.whole) : 1,
      scale: values.stage === "weights" ? "sequential" : "diverging",
    },
    {
      label: fill(text.comparison_value[how], { value: stages[stageOf].value }),
      limit: wholeOf ? numbers.limitOf("compared limit", [wholeOf]) : 1,
      scale: "diverging",
      powers: how === "ratio",
    },
  ];
  return { panels, bars };
}

/**
 * The stage and the mask, for a title.
 * @param {object} payload
 * @param {object} values
 * @param {string} stage
 * @returns {string}
 */
export function stateOf({ stages, choices, text }, { mask }, stage) {
  const { label } = choices.mask.find(({ value }) => value === mask);
  return fill(text.figure.state, { stage: stages[stage].title, mask: label });
}
