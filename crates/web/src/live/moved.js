// @ts-check
// What a state names, where the tables have grown: times that are told from another one, and numbers that stand behind
// those of functions.
import { NONE } from "../data/columns.js";

/** @typedef {import("../data/state.js").State} State */
/** @typedef {import("../data/model.js").Filter} Filter */
/** How many numbers stand for functions, for these and modules, and for these and groups.
 * @typedef {{ functions: number, firstGroup: number, truncated: number }} Numbers */

/** @param {import("../data/tree/labels.js").Labels} model @returns {Numbers} */
export const numbersOf = (model) => ({ functions: model.functions, firstGroup: model.firstGroup, truncated: model.truncatedFunction() });

/** The number of what had a number: modules, groups and what stands for truncated stacks come behind the functions.
 * @param {number} f @param {Numbers} before @param {Numbers} now */
export function renumbered(f, before, now) {
  if (f < before.functions) return f;
  if (f < before.firstGroup) return f - before.functions + now.functions;
  return f === before.truncated ? now.truncated : f - before.firstGroup + now.firstGroup;
}

/** Filters that name functions. */
const OF_FUNCTIONS = ["focus", "keep", "drop", "hide", "charge", "fold", "recursion"];

/** A state with the numbers of tables that have grown.
 * @param {State} state @param {Numbers} before @param {Numbers} now @returns {State} */
export function withNumbers(state, before, now) {
  const of = (/** @type {number} */ f) => renumbered(f, before, now);
  const filters = state.filters.map((filter) => OF_FUNCTIONS.includes(filter.kind) && "at" in filter && filter.at !== undefined
    ? /** @type {Filter} */ ({ ...filter, at: of(filter.at) }) : filter);
  return { ...state, filters, zoom: state.zoom.map(of), func: state.func < 0 ? -1 : of(state.func) };
}

/** A state without what numbers name: there are other ones now.
 * @param {State} state @returns {State} */
export const withoutNumbers = (state) =>
  ({ ...state, filters: state.filters.filter((filter) => ["time", "process", "comm", "cgroup", "parts"].includes(filter.kind)), zoom: [], func: -1, thread: -1 });

/** A state whose times are told from another time; what lies before that is gone.
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

/** Threads of the recorder and of the service, which a recording of all processes has. Where none of the service is there,
 * it is none of these, and a program that is called perf is one to look at.
 * @param {[number, number, string, string][]} threads @param {number[]} processes those of the service @returns {number[]} */
export function recorders(threads, processes) {
  const isOurs = (/** @type {number} */ id) => processes.includes(threads[id][0]), ids = [...threads.keys()];
  return ids.some(isOurs) ? ids.filter((id) => isOurs(id) || threads[id][2] === "perf") : [];
}
