/** What is to be drawn: three maps and two colour bars, from what is set and what is seen. */
import { covering, placed } from "./numbers.js";
import { floats } from "./payload.js";
import { encodingsOf, valuesOf } from "./state.js";
import { fill, settings } from "./text.js";

const AT_REST = 4; // times the work of a drag that weights may take once it is over

/**
 * Make a function that gives the picture; it remembers the last one for while it has to wait.
 * @param {object} numbers from createNumbers
 * @returns {function(object): object} of { payload, values, part, pixels, resting }
 */
export function createPicture(numbers) {
  const last = new Map(); // the maps and limits that were shown last, by stage

  function shown(scene, stage) {
    const whole = wholeMaps(numbers, scene, stage);
    if (!whole) return { ...last.get(stage), waits: true };
    const maps = partMaps(numbers, scene, stage, whole);
    const result = { whole, maps, waits: false };
    last.set(stage, result);
    return result;
  }

  return function picture(scene) {
    const { payload, values } = scene;
    const encodings = encodingsOf(payload, values);
    const full = { ...scene, encodings };
    const how = values.difference;
    const own = shown(full, values.stage);
    const other = how === "weights" ? shown(full, "weights") : own;
    return { encodings, ...panelsOf(numbers, full, own, other, how) };
  };
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

function wholeMaps(numbers, { payload, values, encodings, resting }, stage) {
  const { mask, start, stop } = values;
  const request = { stage, mask, start, stop, size: payload.view.cells };
  const compute = () =>
    encodings.map((encoding, place) => numbers.valuesOf(`${stage} ${place}`, encoding, request));
  if (!heavy(payload, stage)) return compute();
  if (payload.streamed !== undefined) return streamedMaps(payload, values);
  return resting ? compute() : null;
}

/** The maps that the host sent, if they are those of what is set. */
function streamedMaps(payload, values) {
  const { streamed } = payload;
  if (!streamed || asked(payload, valuesOf(payload)) !== asked(payload, values)) return null;
  streamed.read ??= streamed.maps.map((bytes) => {
    const { start, stop, block } = streamed;
    const side = Math.ceil((stop - start) / block);
    return placed({ values: floats(bytes), rows: side, columns: side, block, start, stop });
  });
  return streamed.read;
}

/** All that weights depend on. */
function asked(payload, values) {
  const { mask, start, stop } = values;
  return JSON.stringify([encodingsOf(payload, values), mask, start, stop]);
}

function partMaps(numbers, { payload, values, encodings, part, pixels, resting }, stage, whole) {
  const { mask, start, stop } = values;
  if (part.span >= stop - start) return whole;
  const request = { stage, mask, ...covering(part, values, pixels, resting) };
  const work = (request.stop - request.start) * payload.tokens;
  const costly = work > AT_REST * payload.live_weights ** 2 || !resting;
  if (heavy(payload, stage) && costly) return whole;
  return encodings.map((encoding, place) =>
    numbers.valuesOf(`part ${stage} ${place}`, encoding, request),
  );
}

function panelsOf(numbers, { payload, values, encodings }, own, other, how) {
  const { stages, symbols, text } = payload;
  const [first, second] = encodings;
  const compare = (slot, maps) => maps && numbers.comparedOf(slot, how, ...maps);
  const mapOf = compare("compared", other.maps);
  const wholeOf = compare("compared whole", other.whole);
  const stageOf = how === "weights" ? "weights" : values.stage;
  const panels = encodings.map((encoding, place) => ({
    title: [encoding.label, settings(encoding, symbols), stateOf(payload, values, values.stage)],
    map: own.maps?.[place],
    waits: own.waits,
    bar: 0,
  }));
  panels.push({
    title: [
      fill(text.comparison[how], { first: first.label, last: second.label }),
      settings(second, symbols),
      stateOf(payload, values, stageOf),
    ],
    map: mapOf,
    waits: other.waits,
    bar: 1,
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
