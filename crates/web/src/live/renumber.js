// @ts-check
// Adjustment of a state after the tables have grown: times relative to a new origin, and numbers above those of
// functions.
import { NONE } from "../data/columns.js";

/** @typedef {import("../data/state.js").State} State */
/** @typedef {import("../data/model.js").Filter} Filter */
/** Ends of the number ranges of functions, of modules and of groups.
 * @typedef {{ functions: number, firstGroup: number, truncated: number }} Numbers */

/** @param {import("../data/tree/labels.js").Labels} model @returns {Numbers} */
export const numbersOf = (model) => ({ functions: model.functions, firstGroup: model.firstGroup, truncated: model.truncatedFunction() });

/** New number of an item: modules, groups and truncated stacks are numbered after the functions.
 * @param {number} f @param {Numbers} before @param {Numbers} now */
export function renumbered(f, before, now) {
  if (f < before.functions) return f;
  if (f < before.firstGroup) return f - before.functions + now.functions;
  return f === before.truncated ? now.truncated : f - before.firstGroup + now.firstGroup;
}

/** Filters that refer to functions. */
const OF_FUNCTIONS = ["focus", "keep", "drop", "hide", "charge", "fold", "recursion"];

/** State with the numbers of the grown tables.
 * @param {State} state @param {Numbers} before @param {Numbers} now @returns {State} */
export function withNumbers(state, before, now) {
  const of = (/** @type {number} */ f) => renumbered(f, before, now);
  const filters = state.filters.map((filter) => OF_FUNCTIONS.includes(filter.kind) && "at" in filter && filter.at !== undefined
    ? /** @type {Filter} */ ({ ...filter, at: of(filter.at) }) : filter);
  return { ...state, filters, zoom: state.zoom.map(of), func: state.func < 0 ? -1 : of(state.func) };
}

/** State without numbers, for unrelated tables.
 * @param {State} state @returns {State} */
export const withoutNumbers = (state) =>
  ({ ...state, filters: state.filters.filter((filter) => ["time", "process", "comm", "cgroup", "parts"].includes(filter.kind)), zoom: [], func: -1, thread: -1 });

/** State with times relative to a new origin; times before it are dropped.
 * @param {State} state @param {number} from @returns {State} */
export function from(state, from) {
  const by = from - state.from;
  if (by === 0) return state;
  const moved = (/** @type {number} */ time) => time === NONE ? NONE : time - by;
  const kept = (/** @type {number} */ time) => Math.max(0, moved(time));
  const filters = state.filters.filter((filter) => filter.kind !== "time" || moved(filter.to) >= 0)
    .map((filter) => filter.kind === "time" ? { ...filter, from: kept(filter.from), to: kept(filter.to) } : filter);
  const { base } = state, isGone = base && base[0] <= base[1] && moved(base[1]) < 0;
  return { ...state, from, filters, base: base && !isGone ? [kept(base[0]), kept(base[1])] : null, marks: state.marks.map(moved).filter((time) => time >= 0) };
}

/** Threads of the recorder and of the service, which a system-wide recording contains. If the recording contains none
 * of the service, it is not system-wide, and a program called perf is of interest.
 * @param {[number, number, string, string][]} threads @param {number[]} processes process ids of the service
 * @returns {number[]} */
export function recorders(threads, processes) {
  const isOurs = (/** @type {number} */ id) => processes.includes(threads[id][0]), ids = [...threads.keys()];
  return ids.some(isOurs) ? ids.filter((id) => isOurs(id) || threads[id][2] === "perf") : [];
}
