// @ts-check
// What something costs before and after, and how sure it is that this is a change: by the error of sampling where there
// is one recording (or time) a side, by the spread between recordings where there are several.
//
// A sample is a random event. Of two recordings, costs by time or work are rates of Poisson processes, shares are
// proportions; the variance of a sum of samples is the sum of the squares of what each stands for.
import { NORMAL_95, discoveryLimit, normalP, student95, studentP } from "./statistics.js";

/** Samples together: how many, what they cost, the sum of the squares of what each costs.
 * @typedef {{ n: number, cost: number, squares: number }} Weight */
/** How sure changes are: `rates` and `proportions` of one a side, the `spread` of several; or nothing is known of it.
 * @typedef {"rates" | "proportions" | "spread" | "unknown"} Method */
/** One of a side: what is compared of it, all of its samples, and what costs are multiplied with.
 * @typedef {{ weight: Weight, all: Weight, factor: number }} Part */
/** Samples and normalized costs of both sides, their difference with its 95 % interval (NaN where unknown), and how often
 * chance does as much (NaN where unknown).
 * @typedef {{ n: [number, number], before: number, after: number, delta: number, low: number, high: number, p: number,
 *   marked: boolean }} Change */

/** Fewer samples on both sides together are not compared. */
export const FEW = 5;
/** The share of all marks that may be there by chance. */
const RATE = 0.05;
/** Changes of a smaller part of the total do not matter, however sure they are. */
export const LEAST = 0.001;

/** @param {Weight} weight what a sample stands for where it counts most */
const mean = (weight) => weight.cost === 0 ? 0 : weight.squares / weight.cost;
/** @param {number[]} values */
const average = (values) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);

/** The change of what weighs so much in each part of both sides; not yet marked.
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

/** The variance that sampling gives the normalized cost of each part, on average.
 * @param {Part[]} side @param {boolean} shares */
function samplingVariance(side, shares) {
  return average(side.map(({ weight, all, factor }) => {
    // Where there is no sample there might have been one.
    let squares = weight.n === 0 ? mean(all) ** 2 : weight.squares;
    if (shares) {
      const share = weight.cost * factor;
      squares = (1 - share) ** 2 * squares + share ** 2 * Math.max(0, all.squares - squares);
    }
    return factor * factor * squares;
  }));
}

/** One part a side. The interval takes both sides as they are; the test asks how far apart they would be by chance if
 * they were the same, so that a side with few samples does not vouch for itself.
 * @param {Change} change @param {boolean} shares @param {Part[]} before @param {Part[]} after */
function single(change, shares, before, after) {
  around(change, NORMAL_95 * Math.sqrt(samplingVariance(before, shares) + samplingVariance(after, shares)), shares);
  const [a, b] = [before[0], after[0]], common = (a.weight.cost + b.weight.cost) / (1 / a.factor + 1 / b.factor);
  const size = (/** @type {Part} */ part) => mean(part.weight.n === 0 ? part.all : part.weight) * part.factor;
  const wide = (/** @type {Part} */ part) => part.all.squares * part.factor ** 2;
  const same = shares ? common * (1 - common) * (wide(a) + wide(b)) : common * (size(a) + size(b));
  change.p = chance(change.delta, same, normalP);
}

/** Several parts a side. They do not differ less than sampling makes them differ: where they seem to, it is by chance.
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

/** Shares do not differ by more than all.
 * @param {Change} change @param {number} half @param {boolean} shares */
function around(change, half, shares) {
  const limit = shares ? 1 : Infinity;
  change.low = Math.max(-limit, change.delta - half);
  change.high = Math.min(limit, change.delta + half);
}

/** How often chance gives such a difference, of that variance.
 * @param {number} delta @param {number} variance @param {(z: number) => number} p */
const chance = (delta, variance, p) => delta === 0 ? 1 : p(delta / Math.sqrt(Math.max(variance, Number.MIN_VALUE)));

/** Marks changes, and gives how many were tested: those of which there are enough samples, and whose costs are enough for
 * a change that matters. What is tested must not depend on the difference itself, or chance would choose it.
 * @param {Change[]} changes @param {number} before what all costs @param {number} after */
export function mark(changes, before, after) {
  const smallest = LEAST * (before + after) / 2;
  const tested = changes.filter((change) => change.n[0] + change.n[1] >= FEW && change.before + change.after >= smallest);
  const limit = discoveryLimit(tested.map((change) => change.p).filter((p) => !Number.isNaN(p)), RATE);
  for (const change of tested) change.marked = change.p <= limit && Math.abs(change.delta) >= smallest;
  return tested.length;
}
