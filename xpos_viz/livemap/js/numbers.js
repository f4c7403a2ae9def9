/**
 * The numbers of the picture, from the kernel. Each is kept under all that it depends on and
 * nothing else, so that RoPE is not computed again while γ moves.
 */
import { behind, coarser, compared, unknown } from "./grid.js";
import { rates, createMap, curve, limit } from "./kernel.js";
import { floats } from "./payload.js";

const POINTS = 1024; // of a curve

/**
 * Keep the data of one picture, and compute what is asked of it. What was computed last stands
 * in a slot, a place in the picture, and is left as it is while it still is the answer.
 * @returns {object}
 */
export function createNumbers() {
  const slots = new Map();
  const begun = new Map(); // slot → { needs, steps }: what is being computed over some frames
  let map = null;
  let data = null;
  let headDim = 0;

  /** The value of a slot, computed anew only if what it depends on is not the same. */
  function kept(slot, needs, compute) {
    const old = slots.get(slot);
    if (old && same(old.needs, needs)) return old.value;
    const value = compute(old?.value);
    slots.set(slot, { needs, value });
    return value;
  }

  function load(payload) {
    if (!payload.q || payload.data === data) return false;
    slots.clear();
    begun.clear();
    data = payload.data;
    headDim = payload.head_dim;
    const [q, k] = [floats(payload.q), floats(payload.k)];
    map = createMap({ q, k, tokens: payload.tokens, headDim });
    return true;
  }

  const ratesOf = ({ name, parameters }) => rates(name, parameters, headDim);

  const askedOf = ({ name, parameters }, request) => JSON.stringify([name, parameters, request]);

  function valuesOf(slot, encoding, request) {
    return kept(slot, [data, askedOf(encoding, request)], (old) => {
      const panel = map.values({ rates: ratesOf(encoding), ...request, into: old?.panel ?? {} });
      return { ...panel, panel };
    });
  }

  /**
   * The same over some frames: null until all of it is there. What is asked for the first time
   * is only begun by the next frame, so that what moves from frame to frame costs nothing.
   */
  function graduallyOf(slot, encoding, request, until) {
    const needs = [data, askedOf(encoding, request)];
    if (slots.has(slot) && same(slots.get(slot).needs, needs)) return slots.get(slot).value;
    const task = begun.get(slot);
    if (!task || !same(task.needs, needs)) {
      begun.set(slot, { needs });
      return null;
    }
    while (performance.now() < until) {
      task.steps ??= map.gradually({ rates: ratesOf(encoding), ...request });
      const { done, value } = task.steps.next();
      if (!done) continue;
      begun.delete(slot);
      slots.set(slot, { needs, value });
      return value;
    }
    return null;
  }

  const coarserOf = (slot, fine, block) => kept(slot, [fine, block], () => coarser(fine, block));

  const comparedOf = (slot, how, first, last) =>
    kept(slot, [how, first, last], (old) => compared(how, first, last, old?.values));

  const unknownOf = (slot, compared) => kept(slot, [compared], () => unknown(compared));

  const limitOf = (slot, maps) => kept(slot, maps, () => limit(maps.map(behind)));

  function curveOf(slot, encoding, lags) {
    const asked = JSON.stringify([encoding.name, encoding.parameters, lags.length, lags[0], lags.at(-1)]);
    return kept(slot, [headDim, asked], () => curve(ratesOf(encoding), lags));
  }

  /** The points of the curves at one lag. */
  const marksOf = (encodings, lag) =>
    encodings.map((encoding, place) => curveOf(`mark ${place}`, encoding, [lag])[0]);

  const cellOf = (encoding, { stage, mask, m, n }) =>
    map.cell({ rates: ratesOf(encoding), stage, mask, m, n });

  const sharesOf = (encoding, { m, n }) => map.shares({ rates: ratesOf(encoding), m, n });

  return {
    load,
    valuesOf,
    graduallyOf,
    coarserOf,
    unknownOf,
    comparedOf,
    limitOf,
    curveOf,
    marksOf,
    cellOf,
    sharesOf,
    get data() {
      return data;
    },
  };
}

const same = (a, b) => a.length === b.length && a.every((value, i) => value === b[i]);

/**
 * The lags that a curve is drawn at: whole tokens, thinned where there are more than pixels.
 * @param {number} last
 * @param {string} axis "linear", or "log" which begins at 1
 * @returns {Float64Array}
 */
export function lagsUpTo(last, axis) {
  const log = axis === "log";
  const count = Math.min(last, POINTS);
  const at = (place) => (log ? last ** (place / count) : (last * place) / count);
  const lags = Array.from({ length: count + 1 }, (_, place) => Math.round(at(place)));
  return Float64Array.from(new Set(count ? lags : [log ? 1 : 0]));
}
