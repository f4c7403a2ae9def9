/** The colour limit of maps, as pooling.robust_limit of the Python core has it. */

const INFINITE = 0x7f800000; // the bits of Infinity in float32; magnitudes sort as their bits do
const LOW = 15; // how many low bits the second count looks at
const high = new Uint32Array(INFINITE >>> LOW);
const low = new Uint32Array(1 << LOW);
const bits = new Uint32Array(1);
const number = new Float32Array(bits.buffer);

/**
 * The `share` quantile (method "higher") of the finite magnitudes; 1 if that is zero or none is.
 *
 * One outlier, such as an attention sink, then does not set the range of a picture. Exact: the
 * magnitudes are counted by their high bits, and those of the bin in question by their low bits.
 *
 * @param {Float32Array[]} arrays
 * @param {number} [share] in [0, 1]
 * @returns {number}
 */
export function robustLimit(arrays, share = 0.995) {
  const views = arrays.map((a) => new Uint32Array(a.buffer, a.byteOffset, a.length));
  const finite = countHigh(views);
  if (finite === 0) return 1;
  const rank = Math.ceil((finite - 1) * share);
  const [bin, rest] = find(high, rank);
  countLow(views, bin);
  bits[0] = (bin << LOW) | find(low, rest)[0];
  return number[0] || 1;
}

/** Count finite magnitudes by their high bits; return how many there are. */
function countHigh(views) {
  let finite = 0;
  high.fill(0);
  for (const view of views) {
    for (let i = 0; i < view.length; i++) {
      const magnitude = view[i] & 0x7fffffff;
      if (magnitude < INFINITE) {
        high[magnitude >>> LOW]++;
        finite++;
      }
    }
  }
  return finite;
}

/** Count the magnitudes of one bin by their low bits. */
function countLow(views, bin) {
  low.fill(0);
  for (const view of views) {
    for (let i = 0; i < view.length; i++) {
      const magnitude = view[i] & 0x7fffffff;
      if (magnitude >>> LOW === bin) low[magnitude & ((1 << LOW) - 1)]++;
    }
  }
}

/** The bin that holds the entry of a rank, and the entry's rank inside of it. */
function find(counts, rank) {
  let bin = 0;
  for (let rest = rank; ; bin++) {
    if (rest < counts[bin]) return [bin, rest];
    rest -= counts[bin];
  }
}
