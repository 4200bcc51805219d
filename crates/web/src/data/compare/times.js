// @ts-check
// Comparison of two times of one recording: the baseline, which may be the later one, and the selection.
import { Comparison } from "./compare.js";
import { scaleOf } from "../numbers.js";
import { SAMPLE_FILTERS, selection } from "../samples/select.js";

/** @typedef {import("../model.js").Model} Model */
/** @typedef {import("../model.js").Costs} Costs */
/** @typedef {import("../samples/select.js").Selection} Selection */
/** Unit of the compared costs: time per second of the recording, with the nanoseconds of a unit of cost; or, without a
 * clock, the share of each time's own cost.
 * @typedef {{ nanoseconds: number }} Measure `nanoseconds` is 0 for shares */

/** Unit for an event and a weight. Samples of a clock stand for its period.
 * @param {import("../columns.js").EventHead | undefined} event @param {import("../samples/select.js").Weight} weight
 * @returns {Measure} */
export function measureOf(event, weight) {
  if (event?.unit !== "nanoseconds") return { nanoseconds: 0 };
  return { nanoseconds: weight === "period" ? 1 : event.period ?? 0 };
}

/** Side of the comparison.
 * @param {Costs} costs @param {number} seconds @param {Measure} measure @returns {import("./compare.js").Run} */
function run(costs, seconds, { nanoseconds }) {
  const all = { n: costs.allN, cost: costs.all, squares: costs.allSquares };
  const factor = nanoseconds ? nanoseconds / seconds : 1 / Math.max(costs.all, Number.MIN_VALUE);
  return { own: { n: costs.ownN, cost: costs.own, squares: costs.ownSquares }, all, whole: all, factor: Number.isFinite(factor) ? factor : 0 };
}

/** Sum of the costs of two selections of samples.
 * @param {Costs} one @param {Costs} other @returns {Costs} */
function bothOf(one, other) {
  const sum = (/** @type {Float64Array} */ a, /** @type {Float64Array} */ b) => a.map((value, at) => value + b[at]);
  const ownN = sum(one.ownN, other.ownN), alike = one.own === one.ownN;
  const own = alike ? ownN : sum(one.own, other.own), ownSquares = alike ? ownN : sum(one.ownSquares, other.ownSquares);
  return { ...one, ownN, own, ownSquares, all: one.all + other.all, allN: one.allN + other.allN, allSquares: one.allSquares + other.allSquares };
}

/** Compares the baseline with the current selection, both below the other filters.
 * @param {Model} model @param {[number, number][]} times of the baseline
 * @param {import("../model.js").Filter[]} filters of the current selection
 * @param {(from: number, to: number) => number} secondsOf @param {Measure} measure */
export function compareTimes(model, times, filters, secondsOf, measure) {
  const chosen = /** @type {Selection} */ (model.chosen), costs = /** @type {Costs} */ (model.costs);
  const others = /** @type {any[]} */ (filters.filter(({ kind }) => SAMPLE_FILTERS.includes(kind) && kind !== "time"));
  const seconds = times.reduce((sum, [from, to]) => sum + secondsOf(from, to), 0);
  const baseline = times.map(([from, to]) => selection(model.tables, [...others, { kind: "time", from, to }])), before = baseline.map((one) => model.count(one)).reduce(bothOf);
  // Shares of a time without samples are unknown.
  const shares = measure.nanoseconds === 0, method = shares && !(before.all && costs.all) ? "unknown" : shares ? "proportions" : "rates";
  const runs = [run(before, seconds, measure), run(costs, secondsOf(chosen.from, chosen.to), measure)];
  const functions = new Comparison(/** @type {any} */ (model.tree), model.children, [[runs[0]], [runs[1]]], method, shares);
  const found = functions.byKey(model.identity(), model.truncatedFunction() + 1, (f) => f < model.firstGroup);
  // The graph shows groups, too.
  const shown = model.bothSides(baseline), compared = !shown ? functions
    : new Comparison(shown.tree, shown.children, [[{ ...runs[0], own: shown.own[0] }], [{ ...runs[1], own: shown.own[1] }]], method, shares);
  const rows = found.rows.filter((row) => row.key < model.firstGroup);
  return { before, compared, rows, tested: found.tested, chosen, sure: compared.sureNodes(new Map(found.rows.map((row) => [row.key, row]))) };
}

/** Scale of the compared costs.
 * @param {Comparison} compared @param {Measure} measure @returns {[number, number, string]} */
export const scaleOfTimes = ({ all }, { nanoseconds }) => nanoseconds ? scaleOf(Math.max(all.before, all.after), true) : [0.01, 2, " %"];
