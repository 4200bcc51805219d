// @ts-check
// Cost before and after, and the significance of the difference. With one recording (or time range) per side, the error
// is that of sampling; with several, it is the spread between recordings.
//
// A sample is a random event. In a comparison of two recordings, costs by time or work are rates of Poisson processes,
// and shares are proportions. The variance of a sum of samples is the sum of the squares of their costs.
import { NORMAL_95, discoveryLimit, normalP, student95, studentP } from "./statistics.js";

/** Sum of samples: their number, their cost, and the sum of the squares of their costs.
 * @typedef {{ n: number, cost: number, squares: number }} Weight */
/** Statistical method: `rates` or `proportions` with one recording per side, `spread` with several; or none.
 * @typedef {"rates" | "proportions" | "spread" | "unknown"} Method */
/** One recording of a side: the compared samples, all of its samples, and the factor that normalizes costs.
 * @typedef {{ weight: Weight, all: Weight, factor: number }} Part */
/** Samples and normalized costs of both sides, and their difference with its 95 % interval. `p` is the probability of a
 * difference at least this large by chance. Intervals and `p` are NaN if unknown.
 * @typedef {{ n: [number, number], before: number, after: number, delta: number, low: number, high: number, p: number,
 *   marked: boolean }} Change */

/** Minimum number of samples on both sides together for a test. */
export const FEW = 5;
/** Accepted rate of false marks among all marks. */
const RATE = 0.05;
/** Minimum relevant change as a share of the total; smaller ones are not marked, even if significant. */
export const LEAST = 0.001;

/** Mean cost of a sample, weighted by cost. @param {Weight} weight */
const mean = (weight) => weight.cost === 0 ? 0 : weight.squares / weight.cost;
/** @param {number[]} values */
const average = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** Change of a cost, given its weight in each recording of both sides; not yet marked.
 * @param {Method} method @param {boolean} shares whether costs are shares of the total @param {Part[]} before @param {Part[]} after
 * @returns {Change} */
export function changeOf(method, shares, before, after) {
  const value = (/** @type {Part[]} */ side) => average(side.map((part) => part.weight.cost * part.factor));
  const count = (/** @type {Part[]} */ side) => side.reduce((sum, part) => sum + part.weight.n, 0);
  const a = value(before), b = value(after);
  /** @type {Change} */
  const change = { n: [count(before), count(after)], before: a, after: b, delta: b - a, low: NaN, high: NaN, p: NaN, marked: false };
  if (method === "spread") spread(change, shares, before, after);
  else if (method !== "unknown") single(change, shares, before, after);
  return change;
}

/** Mean variance that sampling causes in the normalized costs of the recordings.
 * @param {Part[]} side @param {boolean} shares */
function samplingVariance(side, shares) {
  return average(side.map(({ weight, all, factor }) => {
    // With no sample, assume the variance of one.
    let squares = weight.n === 0 ? mean(all) ** 2 : weight.squares;
    if (shares) {
      const share = weight.cost * factor;
      squares = (1 - share) ** 2 * squares + share ** 2 * Math.max(0, all.squares - squares);
    }
    return factor * factor * squares;
  }));
}

/** Computes interval and p-value for one recording per side. The interval uses the variance of both sides as observed.
 * The test uses the variance under the assumption of equal sides, so that a side with few samples does not confirm
 * itself.
 * @param {Change} change @param {boolean} shares @param {Part[]} before @param {Part[]} after */
function single(change, shares, before, after) {
  around(change, NORMAL_95 * Math.sqrt(samplingVariance(before, shares) + samplingVariance(after, shares)), shares);
  const [a, b] = [before[0], after[0]], common = (a.weight.cost + b.weight.cost) / (1 / a.factor + 1 / b.factor);
  const size = (/** @type {Part} */ part) => mean(part.weight.n === 0 ? part.all : part.weight) * part.factor;
  const wide = (/** @type {Part} */ part) => part.all.squares * part.factor ** 2;
  const same = shares ? common * (1 - common) * (wide(a) + wide(b)) : common * (size(a) + size(b));
  change.p = chance(change.delta, same, normalP);
}

/** Computes interval and p-value for several recordings per side. The variance is at least that of sampling: a smaller
 * observed variance is due to chance.
 * Source: Welch, "The generalization of Student's problem", 1947; Satterthwaite's degrees of freedom.
 * @param {Change} change @param {boolean} shares @param {Part[]} before @param {Part[]} after */
function spread(change, shares, before, after) {
  const [[errorA, freeA], [errorB, freeB]] = [before, after].map((side) => {
    const values = side.map((part) => part.weight.cost * part.factor), middle = average(values), runs = Math.max(2, side.length);
    const between = values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / Math.max(1, values.length - 1);
    return [Math.max(between, samplingVariance(side, shares)) / runs, runs - 1];
  });
  const error = errorA + errorB, known = error * error / (errorA * errorA / freeA + errorB * errorB / freeB);
  const degrees = Number.isFinite(known) ? known : freeA + freeB;
  around(change, student95(degrees) * Math.sqrt(error), shares);
  change.p = chance(change.delta, error, (t) => studentP(t, degrees));
}

/** Sets the interval. Shares cannot differ by more than 1.
 * @param {Change} change @param {number} half @param {boolean} shares */
function around(change, half, shares) {
  const limit = shares ? 1 : Infinity;
  change.low = Math.max(-limit, change.delta - half);
  change.high = Math.min(limit, change.delta + half);
}

/** Probability of a difference at least this large by chance, given its variance.
 * @param {number} delta @param {number} variance @param {(z: number) => number} p */
const chance = (delta, variance, p) => delta === 0 ? 1 : p(delta / Math.sqrt(Math.max(variance, Number.MIN_VALUE)));

/** Marks significant changes and returns the number of tests. Only changes with enough samples, and with costs that
 * allow a relevant change, are tested. The selection must not depend on the difference itself, which would bias the
 * tests.
 * @param {Change[]} changes @param {number} before total cost @param {number} after total cost */
export function mark(changes, before, after) {
  const smallest = LEAST * (before + after) / 2;
  const tested = changes.filter((change) => change.n[0] + change.n[1] >= FEW && change.before + change.after >= smallest);
  const limit = discoveryLimit(tested.map((change) => change.p).filter((p) => !Number.isNaN(p)), RATE);
  for (const change of tested) change.marked = change.p <= limit && Math.abs(change.delta) >= smallest;
  return tested.length;
}
