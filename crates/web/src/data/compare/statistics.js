// @ts-check
// Distributions for intervals and tests: normal, Student's t, and the correction for multiple tests.

/** Half the width of the central 95 % of the standard normal distribution. */
export const NORMAL_95 = 1.959963984540054;

/** Two-sided p-value of the standard normal distribution: probability of a value at least as far from 0 as z.
 * Source: Abramowitz and Stegun, 7.1.5 (the series) and 7.1.14 (the continued fraction).
 * @param {number} z */
export function normalP(z) {
  const x = Math.abs(z) / Math.SQRT2;
  if (x < 2) {
    let sum = x, term = x;
    for (let k = 1; k < 200 && Math.abs(term) > 1e-18 * sum; k++) {
      term *= 2 * x * x / (2 * k + 1);
      sum += term;
    }
    return 1 - 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
  }
  let rest = x;
  for (let k = 120; k > 0; k--) rest = x + k / 2 / rest;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * rest);
}

/** Two-sided p-value of Student's t distribution: probability of a value at least as far from 0 as t.
 * Source: Abramowitz and Stegun, 26.7.1.
 * @param {number} t @param {number} degrees */
export const studentP = (t, degrees) => incompleteBeta(degrees / 2, 0.5, degrees / (degrees + t * t));

/** Half the width of the central 95 % of Student's t distribution.
 * @param {number} degrees */
export function student95(degrees) {
  let low = 0, high = 1;
  while (studentP(high, degrees) > 0.05 && high < 1e12) [low, high] = [high, high * 2];
  for (let step = 0; step < 64; step++) {
    const middle = (low + high) / 2;
    if (studentP(middle, degrees) > 0.05) low = middle; else high = middle;
  }
  return (low + high) / 2;
}

/** Regularized incomplete beta function.
 * Source: Abramowitz and Stegun, 26.5.8 (the continued fraction), evaluated by Lentz's method.
 * @param {number} a @param {number} b @param {number} x @returns {number} */
function incompleteBeta(a, b, x) {
  if (x <= 0 || x >= 1) return Math.min(1, Math.max(0, x));
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const front = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logGamma(a) - logGamma(b) + logGamma(a + b)) / a;
  const notZero = (/** @type {number} */ value) => Math.abs(value) < 1e-300 ? 1e-300 : value;
  let c = 1, d = 1 / notZero(1 - (a + b) * x / (a + 1)), fraction = d;
  for (let m = 1; m <= 500; m++) {
    const before = fraction;
    for (const term of [m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))]) {
      d = 1 / notZero(1 + term * d);
      c = notZero(1 + term / c);
      fraction *= c * d;
    }
    if (Math.abs(fraction / before - 1) < 1e-15) break;
  }
  return front * fraction;
}

/** Logarithm of the gamma function.
 * Source: Abramowitz and Stegun, 6.1.41 (Stirling's series), after 6.1.15 brought the argument above 10.
 * @param {number} x above 0 */
function logGamma(x) {
  let shift = 0;
  while (x < 10) shift += Math.log(x++);
  const y = 1 / (x * x);
  const series = (1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y * 691 / 360360))))) / x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + series - shift;
}

/** Largest p-value that counts as a discovery if a share of `rate` of all discoveries may be false; -1 if there is
 * none.
 * Source: Benjamini and Hochberg, "Controlling the False Discovery Rate", 1995, section 3.1.
 * @param {number[]} values @param {number} rate */
export function discoveryLimit(values, rate) {
  const sorted = Float64Array.from(values).sort();
  for (let at = sorted.length - 1; at >= 0; at--) if (sorted[at] <= (at + 1) / sorted.length * rate) return sorted[at];
  return -1;
}
