/** Sentences and numbers as a reader sees them. */

const FULL = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 });
const NAME_LENGTH = 14;

/**
 * Fill the values in braces into a sentence.
 * @param {string} template
 * @param {Object<string, unknown>} values
 * @returns {string}
 */
export function fill(template, values = {}) {
  return template.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}

/**
 * Write a parameter in full: 100,000 and 0.4.
 * @param {number} value
 * @returns {string}
 */
export function number(value) {
  return Math.abs(value) >= 1e9 ? value.toExponential() : FULL.format(value);
}

/**
 * Write a measured number with some digits: 40.3, −0.012, 1.2e−7.
 * @param {number} value
 * @param {number} digits
 * @returns {string}
 */
export function measured(value, digits = 6) {
  if (Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const short = Number(value.toPrecision(digits));
  const size = Math.abs(short);
  const tiny = size > 0 && (size < 1e-4 || size >= 1e6);
  const [digitsOf, power] = (tiny ? short.toExponential() : String(short)).split("e");
  return (power ? `${digitsOf}e${Number(power)}` : digitsOf).replaceAll("-", "−");
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
 * Write the parameters of an encoding: base 100,000, γ 0.4, B 512.
 * @param {{parameters: Object<string, number>}} encoding
 * @param {Object<string, string>} symbols
 * @returns {string}
 */
export function settings(encoding, symbols) {
  return Object.entries(encoding.parameters)
    .map(([name, value]) => `${symbols[name]} ${number(value)}`)
    .join(", ");
}

/**
 * Write an encoding with its parameters: XPos (base 100,000, γ 0.4, B 512).
 * @param {{label: string, parameters: Object<string, number>}} encoding
 * @param {Object<string, string>} symbols
 * @returns {string}
 */
export function named(encoding, symbols) {
  const written = settings(encoding, symbols);
  return written ? `${encoding.label} (${written})` : encoding.label;
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
