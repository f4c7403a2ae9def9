/**
 * What tests/test_livemap_kernel.py asks of the kernel, many questions in one call.
 *
 * Arrays travel as base64 of their bytes, numbers as float64.
 */

import { createMap, curve, limit, rates } from "/js/kernel.js";

/** Answer each request about one set of queries and keys, in order, with one map. */
export function ask({ q, k, headDim, requests }) {
  const [queries, keys] = [decoded(q, Float64Array), decoded(k, Float64Array)];
  const tokens = queries.length / headDim;
  const map = createMap({ q: queries, k: keys, tokens, headDim });
  const into = {};
  return requests.map((request) => answer(map, { ...request, headDim, into }));
}

/** Panels go into one and the same object, as they do while a finger drags. */
function answer(map, { kind, encoding, headDim, cells, ...request }) {
  const given = { ...request, rates: ratesOf(encoding, headDim) };
  if (kind === "values") {
    const { values, asked: _, ...panel } = map.values(given);
    const { value } = [...steps(map.gradually(given))].at(-1);
    return { ...panel, values: encoded(values), alike: equal(values, value.values) };
  }
  const of = { cell: (at) => map.cell(at), shares: (at) => [...map.shares(at)] };
  return encoded(Float64Array.from(cells.flatMap(([m, n]) => of[kind]({ ...given, m, n }))));
}

/** What a generator yields, and last what it returns. */
function* steps(generator) {
  for (let step = {}; !step.done; ) yield (step = generator.next());
}

/** Rates by name and parameters, or as they are given. */
function ratesOf({ name, parameters, theta, logDecay }, headDim) {
  if (name) return rates(name, parameters, headDim);
  return { theta: Float64Array.from(theta), logDecay: Float64Array.from(logDecay) };
}

/** θ and ln(ζ)/B of some encodings. */
export function allRates(encodings) {
  return encodings.map(({ headDim, ...encoding }) => {
    const { theta, logDecay } = ratesOf(encoding, headDim);
    return [[...theta], [...logDecay]];
  });
}

/** Expectation curves at the same lags. */
export function curves({ encodings, lags }) {
  return encodings.map((encoding) => encoded(curve(ratesOf(encoding), lags)));
}

/** Colour limits of sets of arrays. */
export function limits(cases) {
  return cases.map(({ arrays, share }) => limit(arrays.map((a) => decoded(a, Float32Array)), share));
}

/** What is thrown. */
export function messages() {
  const map = createMap({ q: new Float32Array(12), k: new Float32Array(12), tokens: 3, headDim: 4 });
  const good = { rates: rates("nope", {}, 4), stage: "scores", mask: "none" };
  const window = { start: 0, stop: 3, block: 1 };
  return [
    () => rates("alibi", {}, 4),
    () => createMap({ q: new Float32Array(12), k: new Float32Array(8), tokens: 3, headDim: 4 }),
    () => createMap({ q: new Float32Array(9), k: new Float32Array(9), tokens: 3, headDim: 3 }),
    () => map.values({ ...good, ...window, stage: "logits" }),
    () => map.values({ ...good, ...window, mask: "sliding:2" }),
    () => map.values({ ...good, ...window, stop: 4 }),
    () => map.values({ ...good, ...window, start: 3 }),
    () => map.values({ ...good, ...window, block: 0.5 }),
    () => map.gradually({ ...good, ...window, block: 0 }),
    () => map.values({ ...good, ...window, rows: [2, 2] }),
    () => map.values({ ...good, ...window, block: 2, columns: [0, 3] }),
  ].map(thrown);
}

function thrown(action) {
  try {
    return String(action());
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
}

/** What becomes of panels that are passed again. */
export function panels() {
  const data = Float32Array.from({ length: 40 * 8 }, (_, i) => Math.sin(i * i));
  const map = createMap({ q: data, k: data, tokens: 40, headDim: 8 });
  const request = { stage: "scaled", mask: "causal", start: 0, stop: 40, block: 1 };
  const of = (gamma) => rates("xpos", { base: 100, gamma, scale_base: 8 }, 8);
  const [a, b, fresh] = [{}, {}, (gamma) => map.values({ ...request, rates: of(gamma) })];
  const fill = (into, gamma, more) => map.values({ ...request, ...more, rates: of(gamma), into });
  fill(a, 0.4);
  fill(b, 0.9);
  const untouched = equal(a.values, fresh(0.4).values);
  const memory = a.values.buffer;
  a.values[0] = 7; // shows whether it is computed again
  const kept = fill(a, 0.4) === a && a.values[0] === 7;
  const refilled = fill(a, 0.5) === a && equal(a.values, fresh(0.5).values);
  const other = fill(a, 0.5, { stage: "scores" }).values[0] !== fresh(0.5).values[0];
  const smaller = fill(a, 0.5, { stop: 20 });
  const reused = smaller.values.buffer === memory && smaller.values.length === 400;
  const elsewhere = { rows: [20, 40], columns: [0, 20] };
  const moved = equal(fill(a, 0.5, elsewhere).values, map.values({ ...request, ...elsewhere, rates: of(0.5) }).values);
  const distinct = fresh(0.4) !== fresh(0.4);
  const cell = (gamma, mask, m) => map.cell({ rates: of(gamma), stage: "weights", mask, m, n: 3 });
  const rows = [[0.4, "causal", 9], [0.4, "none", 9], [0.9, "none", 9], [0.9, "none", 8]];
  const distinctRows = new Set(rows.map((row) => cell(...row))).size === rows.length;
  return { untouched, kept, refilled, other, reused, moved, distinct, distinctRows };
}

/** Whether arrays hold the same numbers, NaN where NaN is. */
function equal(a, b) {
  return a.length === b.length && a.every((x, i) => Object.is(x, b[i]));
}

function decoded(text, Type) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Type(bytes.buffer);
}

function encoded(array) {
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text);
}
