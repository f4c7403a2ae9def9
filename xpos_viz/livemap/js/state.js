/**
 * What is set. The host's values are the truth, but for the few that were changed here and
 * not answered yet: a finger is never pulled back.
 */

const NO_DATA = { q: undefined, k: undefined, labels: [] };
const PARTS = { data: "q", words: "text", streaming: "streamed" }; // name → a key that comes along
const VIEW = ["stage", "mask", "start", "stop", "difference", "axis", "colours"];

/**
 * The values of all controls that a payload describes, by key.
 * @param {object} payload
 * @returns {Object<string, number|string>}
 */
export function valuesOf(payload) {
  const sliders = payload.sliders.map(({ key, parameter, places }) => [
    key,
    payload.encodings[places[0]].parameters[parameter],
  ]);
  return Object.fromEntries([...sliders, ...VIEW.map((key) => [key, payload.view[key]])]);
}

/**
 * The encodings as they are set.
 * @param {object} payload
 * @param {Object<string, number|string>} values
 * @returns {{name: string, label: string, parameters: Object<string, number>}[]}
 */
export function encodingsOf(payload, values) {
  return payload.encodings.map((encoding, place) => {
    const own = payload.sliders.filter((slider) => slider.places.includes(place));
    const moved = own.map(({ key, parameter }) => [parameter, values[key]]);
    return { ...encoding, parameters: { ...encoding.parameters, ...Object.fromEntries(moved) } };
  });
}

/**
 * The steps of a slider, and whatever value it has been at.
 * @param {number[]} steps
 * @param {Iterable<number>} seen
 * @returns {number[]} ascending
 */
export function stepsWith(steps, seen) {
  return [...new Set([...steps, ...seen])].sort((a, b) => a - b);
}

/**
 * Whether a payload comes with all of the parts that it names.
 * @param {object} payload
 * @returns {boolean}
 */
export function isWhole(payload) {
  return Object.keys(PARTS).every((name) => PARTS[name] in payload || !(name in payload));
}

/** The names of the parts that come with a payload. */
function namesOf(payload) {
  const brought = Object.keys(PARTS).filter((name) => name in payload && PARTS[name] in payload);
  return Object.fromEntries(brought.map((name) => [name, payload[name]]));
}

/**
 * Keep the values of the controls.
 * @param {object} first a whole payload
 * @returns {object} the store
 */
export function createStore(first) {
  let payload = first;
  let parts = namesOf(first); // that are kept
  let values = valuesOf(first);
  let sent = values;
  let number = first.echo ?? 0;
  let answered = number; // the last commit that the host has told to know of
  const unanswered = new Map(); // key → number of the commit that changed it

  /** What was changed and is not being moved any more, once; null if there is nothing. */
  function settle(held) {
    const moved = (key) => values[key] !== sent[key] && !held.has(key);
    const keys = Object.keys(values).filter(moved);
    if (!keys.length) return null;
    const changes = Object.fromEntries(keys.map((key) => [key, values[key]]));
    number += 1;
    keys.forEach((key) => unanswered.set(key, number));
    sent = { ...sent, ...changes };
    return { changes, number, echo: answered };
  }

  /** Whether a payload has what was not set here: other data, a reset, a value that was not sent. */
  function overruledBy(next) {
    if (isOther(next) || next.resets !== payload.resets) return true;
    const told = valuesOf({ ...payload, ...next });
    const waits = (key) => unanswered.get(key) > (next.echo ?? Infinity);
    const keys = Object.keys({ ...sent, ...told });
    return keys.some((key) => told[key] !== sent[key] && !waits(key));
  }

  const isOther = ({ data }) => data !== undefined && data !== payload.data;

  /** Take what the host says, but for what is being moved or was not heard by the host yet. */
  function receive(next, held) {
    payload = { ...payload, ...(isOther(next) ? NO_DATA : {}), ...next };
    parts = { ...parts, ...namesOf(next) };
    const known = next.echo ?? Infinity;
    answered = next.echo ?? number;
    for (const [key, at] of unanswered) if (at <= known) unanswered.delete(key);
    const told = valuesOf(payload);
    const kept = (from, own) =>
      Object.fromEntries(
        Object.keys(told).map((key) => [key, own(key) && key in from ? from[key] : told[key]]),
      );
    const mine = values;
    values = kept(mine, (key) => unanswered.has(key) || held.has(key));
    sent = kept(sent, (key) => unanswered.has(key));
  }

  return {
    get payload() {
      return payload;
    },
    get values() {
      return values;
    },
    set: (changes) => {
      values = { ...values, ...changes };
    },
    /** The names of the parts that need not be sent again. */
    holds: () => Object.values(parts),
    /** The names of the parts that the payload is of and that were not sent. */
    lacks: () =>
      Object.keys(PARTS)
        .filter((name) => payload[name] !== parts[name])
        .map((name) => payload[name]),
    settle,
    overruledBy,
    receive,
  };
}
