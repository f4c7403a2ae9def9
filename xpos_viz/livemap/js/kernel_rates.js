/**
 * Rates of the encodings, and the one place where they are raised.
 *
 * An encoding is one complex rate per pair of features, λ_i = iθ_i + ln(ζ_i)/B, and pair i of
 * a query and a key at lag Δ is weighed by e^(λ_i Δ); see encoding/ and kernel.py of the
 * Python core, which this ports. Complex tables hold real and imaginary parts in turn.
 *
 * @typedef {{theta: Float64Array, logDecay: Float64Array}} Rates
 *     θ_i, rad/token, and ln(ζ_i)/B ≤ 0, per token, of each pair; never changed in place.
 */

const FLOOR = 1e-150; // what is smaller is zero, so that no product of two is subnormal (slow)
const STRIDE = 32; // a ladder is computed afresh at every so many steps, and between by products

const zero = () => 0;
const turning = ({ base }) => (step) => base ** -step;
const fading = ({ gamma, scale_base: scaleBase }) => (step) =>
  Math.max(logZeta(step, gamma) / scaleBase, -Number.MAX_VALUE);

/** θ and ln(ζ)/B of each family as functions of 2i/d. */
const FAMILIES = {
  nope: () => [zero, zero],
  rope: (parameters) => [turning(parameters), zero],
  xpos: (parameters) => [turning(parameters), fading(parameters)],
};

/**
 * Rates of an encoding: θ_i = base^(−2i/d) and ln(ζ_i)/B with ζ_i = (2i/d + γ)/(1 + γ).
 *
 * @param {"nope" | "rope" | "xpos"} name
 * @param {{base?: number, gamma?: number, scale_base?: number, rotary_width?: number}} parameters
 *     those of the family, and how many columns are turned, d of the formula; usually all
 * @param {number} headDim even width of a query or key
 * @returns {Rates}
 * @throws {RangeError} for an unknown name
 */
export function encodingRates(name, parameters, headDim) {
  if (!Object.hasOwn(FAMILIES, name)) {
    const legal = Object.keys(FAMILIES).join(", ");
    throw new RangeError(`unknown encoding "${name}"; use one of: ${legal}.`);
  }
  const width = parameters.rotary_width ?? headDim;
  const [theta, logDecay] = FAMILIES[name](parameters).map((rate) =>
    Float64Array.from({ length: headDim / 2 }, (_, i) => (2 * i < width ? rate((2 * i) / width) : 0)),
  );
  return { theta, logDecay };
}

/** ln ζ for 2i/d = step, to full relative precision also where ζ is near 1. */
function logZeta(step, gamma) {
  const zeta = (step + gamma) / (1 + gamma);
  return zeta < 0.5 ? Math.log(zeta) : Math.log1p((step - 1) / (1 + gamma));
}

/**
 * Whether two encodings have the same rates.
 *
 * @param {Rates} a
 * @param {Rates} b
 * @returns {boolean}
 */
export function sameRates(a, b) {
  const equal = (x, y) => x.length === y.length && x.every((value, i) => value === y[i]);
  return equal(a.theta, b.theta) && equal(a.logDecay, b.logDecay);
}

/**
 * Write e^(λ_i x − peak) of all pairs, where that does not exceed 1: the formula.
 *
 * @param {Rates} rates
 * @param {number} x offset, tokens
 * @param {Float64Array} into
 * @param {number} at index of the first pair's real part
 * @param {number} [peak] an exponent taken out
 */
export function raise({ theta, logDecay }, x, into, at, peak = 0) {
  for (let i = 0; i < theta.length; i++) {
    const size = Math.exp(Math.min(0, logDecay[i] * x - peak));
    const kept = size < FLOOR ? 0 : size;
    into[at + 2 * i] = kept * Math.cos(theta[i] * x);
    into[at + 2 * i + 1] = kept * Math.sin(theta[i] * x);
  }
}

/**
 * Write e^(λ_i · step · j) for j = 0 … count−1, a row of pairs each, for rates that do not grow.
 *
 * @param {Rates} rates
 * @param {number} step tokens
 * @param {number} count
 * @param {Float64Array} into (count, 2 · pairs)
 */
export function ladder(rates, step, count, into) {
  const width = 2 * rates.theta.length;
  for (let j = 0; j < count; j++) {
    const fine = j % STRIDE;
    if (j < STRIDE || fine === 0) raise(rates, step * j, into, j * width);
    else multiply(into, (j - fine) * width, fine * width, j * width, width);
  }
}

/** One row of a table as the product of two others. */
function multiply(table, a, b, to, width) {
  for (let i = 0; i < width; i += 2) {
    const real = table[a + i] * table[b + i] - table[a + i + 1] * table[b + i + 1];
    const imaginary = table[a + i] * table[b + i + 1] + table[a + i + 1] * table[b + i];
    table[to + i] = Math.abs(real) < FLOOR ? 0 : real;
    table[to + i + 1] = Math.abs(imaginary) < FLOOR ? 0 : imaginary;
  }
}

/**
 * The terms Re(q_i · conj k_i · e^(λ_i Δ)) of a score, over e^peak.
 *
 * The peak is the largest exponent of the pairs with content, so that nothing overflows.
 *
 * @param {Rates} rates
 * @param {number} lag Δ = m − n, tokens
 * @param {Float64Array} q one query
 * @param {Float64Array} k one key
 * @param {Float64Array} table room for one row of pairs
 * @param {Float64Array} into the terms
 * @returns {number} the peak; 0 where no pair has content
 */
export function lagTerms(rates, lag, q, k, table, into) {
  let peak = -Infinity;
  for (let i = 0; i < into.length; i++) {
    if (speaks(q, k, 2 * i)) peak = Math.max(peak, rates.logDecay[i] * lag);
  }
  if (peak === -Infinity) return into.fill(0) && 0;
  peak = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, peak)); // ∞ − ∞ is no number
  raise(rates, lag, table, 0, peak);
  for (let i = 0; i < into.length; i++) into[i] = turnedProduct(q, k, table, 2 * i);
  return peak;
}

/** Whether a pair has content in a query and in a key. */
function speaks(q, k, i) {
  return (q[i] !== 0 || q[i + 1] !== 0) && (k[i] !== 0 || k[i + 1] !== 0);
}

/** Re(q · conj k · e) of one pair. */
function turnedProduct(q, k, e, i) {
  const real = q[i] * k[i] + q[i + 1] * k[i + 1];
  const imaginary = q[i + 1] * k[i] - q[i] * k[i + 1];
  return real * e[i] - imaginary * e[i + 1];
}

/**
 * value · e^exponent, ±Infinity where float64 ends; 0 stays 0.
 *
 * @param {number} value
 * @param {number} exponent
 * @returns {number}
 */
export function scaled(value, exponent) {
  if (exponent === 0) return value;
  const half = Math.exp(Math.min(700, exponent / 2));
  return value * half * half;
}

let fine = new Float64Array(0);
let coarse = new Float64Array(0);

/**
 * The expectation curve g[Δ] = Σ_i cos(Δθ_i) ζ_i^(Δ/B).
 *
 * A lag is cut into a rest and 0 … 31 whole tokens: of ascending whole lags, 32 share a rest,
 * which is raised once.
 *
 * @param {Rates} rates
 * @param {ArrayLike<number>} lags Δ ≥ 0, tokens, whole or real
 * @param {Float64Array} [into] where to write, as long as `lags`
 * @returns {Float64Array} `into`, or a new array
 */
export function decayCurve(rates, lags, into = new Float64Array(lags.length)) {
  const width = 2 * rates.theta.length;
  if (coarse.length !== width) {
    coarse = new Float64Array(width);
    fine = new Float64Array(STRIDE * width);
  }
  ladder(rates, 1, STRIDE, fine);
  for (let j = 0, raised = NaN; j < lags.length; j++) {
    const whole = Math.floor(lags[j]) % STRIDE;
    const rest = lags[j] - whole; // exact
    if (rest !== raised) raise(rates, rest, coarse, 0);
    raised = rest;
    into[j] = realSum(coarse, fine, whole * width, width);
  }
  return into;
}

/** Re Σ of the products of a row's pairs with those of a table's row. */
function realSum(row, table, at, width) {
  let sum = 0;
  for (let i = 0; i < width; i += 2) sum += row[i] * table[at + i] - row[i + 1] * table[at + i + 1];
  return sum;
}
