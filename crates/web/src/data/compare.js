// @ts-check
// Two selections of samples beside each other: costs per second of both, and which differences are more than chance.

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./model.js").Costs} Costs */
/** A function in both: samples, the difference of their rates with its interval, and whether it is marked.
 * @typedef {{ func: number, before: number, after: number, ownBefore: number, ownAfter: number, delta: number, ownDelta: number,
 *   low: number, high: number, p: number, marked: boolean }} Difference */

const Z = 1.959964;
/** Differences below this part of everything are not marked. */
const LEAST = 0.001;
/** Functions with fewer samples in both are not tested. */
const FEW = 5;
/** The rate of false discoveries (Benjamini and Hochberg). */
const RATE = 0.05;

/** One side: its costs, and how many seconds they are of.
 * @typedef {{ costs: Costs, seconds: number }} Side */

/** Functions by the difference of what they cost a second: marked ones first, then by what they
 * cost alone, so that those which changed come before their callers.
 * @param {Model} model @param {Side} before @param {Side} after @returns {Difference[]} */
export function differences(model, before, after) {
  const keys = model.truncatedFunction() + 1, identity = model.identity();
  const a = model.byKey(identity, keys, before.costs), b = model.byKey(identity, keys, after.costs);
  const whole = before.costs.allN / before.seconds + after.costs.allN / after.seconds;
  /** @type {Difference[]} */
  const rows = [];
  for (let f = 0; f < keys; f++) {
    if (a.n[f] + b.n[f] === 0) continue;
    const test = rates(a.n[f], before.seconds, b.n[f], after.seconds);
    const own = rates(a.ownN[f], before.seconds, b.ownN[f], after.seconds);
    rows.push({ func: f, before: a.n[f], after: b.n[f], ownBefore: a.ownN[f], ownAfter: b.ownN[f], ownDelta: own.delta, ...test,
      p: Math.min(1, 2 * Math.min(test.p, own.p)), marked: false });
  }
  mark(rows, whole / 2);
  return rows.sort((x, y) => Number(y.marked) - Number(x.marked) || Math.abs(y.ownDelta) - Math.abs(x.ownDelta) || Math.abs(y.delta) - Math.abs(x.delta) || x.func - y.func);
}

/** Marks what is left of tested rows when so many are tested.
 * @param {Difference[]} rows @param {number} whole what everything costs a second */
export function mark(rows, whole) {
  const tested = rows.filter((row) => row.before + row.after >= FEW).sort((x, y) => x.p - y.p);
  let last = -1;
  tested.forEach((row, at) => { if (row.p <= RATE * (at + 1) / tested.length) last = at; });
  tested.forEach((row, at) => { row.marked = at <= last && Math.max(Math.abs(row.delta), Math.abs(row.ownDelta)) >= LEAST * whole; });
}

/** The difference of two rates, its 95 % interval, and how probable one as large is by chance: counts of both are
 * those of Poisson processes.
 * @param {number} a @param {number} secondsA @param {number} b @param {number} secondsB */
export function rates(a, secondsA, b, secondsB) {
  const delta = b / secondsB - a / secondsA;
  const error = Math.sqrt(a / secondsA ** 2 + b / secondsB ** 2);
  const chance = Math.sqrt((a + b) / (secondsA + secondsB) * (1 / secondsA + 1 / secondsB));
  const p = chance > 0 ? 2 * (1 - normal(Math.abs(delta) / chance)) : 1;
  return { delta, low: delta - Z * error, high: delta + Z * error, p };
}

/** The distribution function of the normal distribution.
 * Source: Abramowitz and Stegun, 7.1.26; its error is below 1.5e-7.
 * @param {number} z */
export function normal(z) {
  const x = Math.abs(z) / Math.SQRT2, t = 1 / (1 + 0.3275911 * x);
  const tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-x * x);
  return z < 0 ? tail / 2 : 1 - tail / 2;
}

/** What a union of both trees weighs: the sum of both rates, so that what vanished stays visible.
 * @param {Side} before @param {Side} after @param {"both" | "before" | "after"} side */
export function unionWeights(before, after, side) {
  const a = side === "after" ? 0 : 1 / before.seconds, b = side === "before" ? 0 : 1 / after.seconds;
  const total = new Float64Array(before.costs.n.length);
  for (let i = 0; i < total.length; i++) total[i] = before.costs.n[i] * a + after.costs.n[i] * b;
  return { total, all: before.costs.allN * a + after.costs.allN * b };
}

/** From -1 (only before) to 1 (only after).
 * @param {number} before @param {number} secondsA @param {number} after @param {number} secondsB */
export function lean(before, secondsA, after, secondsB) {
  const a = before / secondsA, b = after / secondsB;
  return a + b > 0 ? (b - a) / (a + b) : 0;
}
