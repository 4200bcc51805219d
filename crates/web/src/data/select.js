// @ts-check
// Which samples are looked at: those of an event, of threads, of a time; and what they cost.
import { NONE, firstAt } from "./columns.js";
import { folded } from "./names.js";

/** @typedef {import("./columns.js").Tables} Tables */
/** A filter of samples. `threads` and `notThreads` name rows of the table of threads, `time` is in units of time.
 * @typedef {{ kind: "time", from: number, to: number } | { kind: "process", pid: number } | { kind: "comm", comm: string }
 *   | { kind: "cgroup", cgroup: string }
 *   | { kind: "threads", ids: number[] } | { kind: "notThreads", ids: number[] }} SampleFilter */
/** What samples count: one each, or their periods.
 * @typedef {"samples" | "period"} Weight */
/** Samples from one to before another, of some threads.
 * @typedef {{ first: number, last: number, threads: Uint8Array | null, from: number, to: number }} Selection */

export const SAMPLE_FILTERS = ["time", "process", "comm", "cgroup", "threads", "notThreads"];

/** What filters leave.
 * @param {Tables} tables @param {SampleFilter[]} filters @returns {Selection} */
export function selection(tables, filters) {
  let from = 0, to = NONE;
  /** @type {Uint8Array | null} */
  let threads = null;
  const rows = tables.head.threads;
  const narrow = (/** @type {(row: [number, number, string], id: number) => boolean} */ keeps) => {
    const before = threads;
    threads = Uint8Array.from(rows, (row, id) => (!before || before[id]) && keeps(row, id) ? 1 : 0);
  };
  for (const filter of filters) {
    if (filter.kind === "time") {
      from = Math.max(from, filter.from);
      to = Math.min(to, filter.to);
    } else if (filter.kind === "process") narrow((row) => row[0] === filter.pid);
    else if (filter.kind === "comm") narrow((row) => folded(row[2]) === filter.comm);
    else if (filter.kind === "cgroup") narrow((_, id) => tables.head.cgroups?.[id] === filter.cgroup);
    else {
      const named = new Set(filter.ids), wanted = filter.kind === "threads";
      narrow((_, id) => named.has(id) === wanted);
    }
  }
  const first = firstAt(tables.time, from);
  const last = to === NONE ? tables.samples : Math.max(first, firstAt(tables.time, to + 1));
  return { first, last, threads, from, to };
}

/** What pairs (of a group and a leaf) cost in a selection: samples, and periods with their squares where these differ.
 * @param {Tables} tables @param {Selection} chosen @param {number} event
 * @param {Uint32Array} pairOf @param {number} pairs @param {Weight} weight
 * @returns {{ count: Float64Array, cost: Float64Array, squares: Float64Array, samples: number, factor: number }} */
export function costs(tables, chosen, event, pairOf, pairs, weight) {
  const count = new Float64Array(pairs), { first, last, threads } = chosen;
  const { event: events, thread } = tables, one = tables.head.events.length < 2;
  const period = weight === "period" ? tables.period : null;
  const cost = period ? new Float64Array(pairs) : count, squares = period ? new Float64Array(pairs) : count;
  let samples = 0;
  for (let i = first; i < last; i++) {
    if (!one && events[i] !== event) continue;
    if (threads && !threads[thread[i]]) continue;
    const pair = pairOf[i];
    count[pair]++;
    if (period) {
      cost[pair] += period[i];
      squares[pair] += period[i] * period[i];
    }
    samples++;
  }
  const factor = weight === "period" && !period ? tables.head.events[event]?.period ?? 1 : 1;
  return { count, cost, squares, samples, factor };
}
