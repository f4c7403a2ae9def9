/** The picture in words. */
import { stateOf } from "./picture.js";
import { clausesOf, fill, listed, named, number, rounded } from "./text.js";

/**
 * What the maps show, for a reader who does not see them.
 * @param {object} scene payload, values
 * @param {object} picture
 * @returns {string}
 */
export function alternative({ payload, values }, { encodings, panels }) {
  return fill(payload.text.alt, {
    names: listed(encodings.map((encoding) => named(encoding, payload)), payload),
    comparison: panels[2].title[0],
    state: stateOf(payload, values, values.stage),
    start: values.start,
    stop: values.stop - 1,
  });
}

/**
 * What the curves show: where each begins and ends.
 * @param {object} payload
 * @param {object[]} encodings
 * @param {number[]} first values of the curves at the smallest lag
 * @param {number[]} last and at the largest
 * @param {number} lag the largest
 * @returns {string}
 */
export function curvesInWords(payload, encodings, first, last, lag) {
  const { text } = payload;
  const ends = encodings.map((encoding, i) =>
    fill(text.figure.curve_alt, {
      label: named(encoding, payload),
      first: rounded(first[i]),
      last: rounded(last[i]),
    }),
  );
  return fill(text.figure.decay_alt, { lag: number(lag), ends: clausesOf(ends, payload) });
}

/**
 * How cells, colours and the mask are to be read.
 * @param {object} scene payload, values
 * @param {object} picture
 * @returns {string[]}
 */
export function notes({ payload: { text }, values }, { panels, bars }) {
  const [first] = panels;
  const [limit, difference] = bars.map((bar) => rounded(bar.limit));
  const { unknown: count } = panels[2];
  return [
    first.map?.block > 1 ? fill(text.figure.block, { block: first.map.block }) : "",
    fill(text.figure[endOf(values, panels[2])], { limit, difference }),
    values.mask === "none" ? text.figure.growing : values.stage === "masked" && text.figure.masked,
    count ? fill(text.figure.unknown, { count: number(count) }) : "",
  ].filter(Boolean);
}

/** Which sentence says where colours end. */
function endOf({ difference }, { map }) {
  if (difference === "ratio") return "ratio_note";
  return map?.values.every((value) => !value) ? "same" : "limits";
}
