/** Sentences and numbers as a reader sees them. */

const FULL = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 });
const APART = /(?<=[\u4e00-\u9fff），。：；]) (?=[\u4e00-\u9fff（])/g;
const NAME_LENGTH = 14;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * Fill the values in braces into a sentence, without a space between two Chinese characters.
 * @param {string} template
 * @param {Object<string, unknown>} values
 * @returns {string}
 */
export function fill(template, values = {}) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(values[name])).replaceAll(APART, "");
}

/**
 * Write a parameter in full: 100,000 and 0.4, and 2.5 × 10¹².
 * @param {number} value
 * @returns {string}
 */
export function number(value) {
  const size = Math.abs(value);
  const plain = size === 0 || (size >= 1e-4 && size < 1e9);
  return plain ? FULL.format(value).replace("-", "−") : powered(value);
}

/**
 * Write a number with a power of ten: 1.2 × 10⁻⁷, and 10⁹.
 * @param {number} value
 * @returns {string}
 */
export function powered(value) {
  const [mantissa, power] = value.toExponential().split(/e\+?/);
  const raised = `10${power.replace("-", "⁻").replaceAll(/\d/g, (digit) => RAISED[digit])}`;
  const alone = /^-?1$/.test(mantissa);
  const written = alone ? mantissa.replace("1", raised) : `${mantissa}\u00a0×\u00a0${raised}`;
  return written.replace("-", "−");
}

/**
 * Write a measured number with some digits: 40.3, −0.012, 1.2 × 10⁻⁷.
 * @param {number} value
 * @param {number} digits
 * @returns {string}
 */
export function measured(value, digits = 6) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const short = Number(value.toPrecision(digits));
  const size = Math.abs(short);
  const plain = size === 0 || (size >= 1e-4 && size < 1e6);
  return plain ? String(short).replace("-", "−") : powered(short);
}

/**
 * Write a measured number with three digits: 40.3 and 1,230.
 * @param {number} value
 * @returns {string}
 */
export function rounded(value) {
  return number(Number(value.toPrecision(3)));
}

/**
 * Write words one after the other, as a language does.
 * @param {string[]} words
 * @param {object} payload
 * @returns {string}
 */
export function listed(words, { text }) {
  return joined(words, text.figure.list);
}

/**
 * Write clauses one after the other, as a language does.
 * @param {string[]} clauses
 * @param {object} payload
 * @returns {string}
 */
export function clausesOf(clauses, { text }) {
  return joined(clauses, text.figure.clauses);
}

function joined(words, sentence) {
  return words.length ? words.reduce((head, tail) => fill(sentence, { head, tail })) : "";
}

/**
 * Write the parameters of an encoding: base 100,000, γ 0.4, B 512.
 * @param {{parameters: Object<string, number>}} encoding
 * @param {object} payload
 * @returns {string}
 */
export function settings({ parameters }, payload) {
  const each = Object.entries(parameters)
    .filter(([name]) => payload.symbols[name]) // rotary_width says which columns, and has none
    .map(([name, value]) => `${payload.symbols[name]} ${number(value)}`);
  return listed(each, payload);
}

/**
 * Write an encoding with its parameters: XPos (base 100,000, γ 0.4, B 512).
 * @param {{label: string, parameters: Object<string, number>}} encoding
 * @param {object} payload
 * @returns {string}
 */
export function named(encoding, payload) {
  const written = settings(encoding, payload);
  if (!written) return encoding.label;
  return fill(payload.text.figure.label, { name: encoding.label, settings: written });
}

/**
 * Shorten a token so that it fits beside an axis.
 * @param {string} label
 * @param {number} length
 * @returns {string}
 */
export function shortened(label, length = NAME_LENGTH) {
  const letters = [...label];
  return letters.length > length ? `${letters.slice(0, length - 1).join("")}…` : label;
}
