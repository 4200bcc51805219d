// @ts-check
// Selection of samples by event, thread, processor and time, and their costs.
import { NONE, firstAt } from "../columns.js";
import { folded } from "../names.js";
import { samplesWith } from "./values.js";

/** @typedef {import("../columns.js").Tables} Tables */
/** Filter of samples. `threads` and `notThreads` contain rows of the table of threads; `time` is in units of time.
 * @typedef {{ kind: "time", from: number, to: number } | { kind: "process", pid: number } | { kind: "comm", comm: string }
 *   | { kind: "value", name: string, text: string } | { kind: "cgroup", cgroup: string } | { kind: "cpu", cpu: number }
 *   | { kind: "threads", ids: number[] } | { kind: "notThreads", ids: number[] }} SampleFilter */
/** Weight of samples: 1 each, or their periods.
 * @typedef {"samples" | "period"} Weight */
/** Samples with index from `first` to before `last`, of the marked threads and
 * processors; `cpus` is by the values of the column. `kept` marks samples with the chosen values.
 * @typedef {{ first: number, last: number, threads: Uint8Array | null, cpus: Uint8Array | null, kept: Uint8Array | null, from: number, to: number }} Selection */

/** Limit of the values in the column of processors. */
export const CPUS = 1 << 16;

export const SAMPLE_FILTERS = ["time", "process", "comm", "cgroup", "cpu", "value", "threads", "notThreads"];

/** Selection of the samples that pass the filters.
 * @param {Tables} tables @param {SampleFilter[]} filters @returns {Selection} */
export function selection(tables, filters) {
  let from = 0, to = NONE;
  /** @type {Uint8Array | null} */
  let threads = null, cpus = /** @type {Uint8Array | null} */ (null), kept = /** @type {Uint8Array | null} */ (null);
  const rows = tables.head.threads;
  const narrow = (/** @type {(row: [number, number, string, string], id: number) => boolean} */ keeps) => {
    const before = threads;
    threads = Uint8Array.from(rows, (row, id) => (!before || before[id]) && keeps(row, id) ? 1 : 0);
  };
  for (const filter of filters) {
    if (filter.kind === "time") {
      from = Math.max(from, filter.from);
      to = Math.min(to, filter.to);
    } else if (filter.kind === "process") narrow((row) => row[0] === filter.pid);
    else if (filter.kind === "comm") narrow((row) => folded(row[2]) === filter.comm);
    else if (filter.kind === "cpu") {
      const before = cpus, at = filter.cpu + 1;
      cpus = new Uint8Array(CPUS);
      if (at < CPUS) cpus[at] = before ? before[at] : 1;
    } else if (filter.kind === "value") kept = samplesWith(tables, filter.name, filter.text, kept);
    else if (filter.kind === "cgroup") narrow((_, id) => tables.head.cgroups?.[id] === filter.cgroup);
    else {
      const named = new Set(filter.ids), wanted = filter.kind === "threads";
      narrow((_, id) => named.has(id) === wanted);
    }
  }
  const first = firstAt(tables.time, from);
  const last = to === NONE ? tables.samples : Math.max(first, firstAt(tables.time, to + 1));
  // Without the column, no sample is known to be of a processor.
  return { first, last: cpus && !tables.cpu ? first : last, threads, cpus, kept, from, to };
}

/** Returns true if a sample has the event and is in one of the selections.
 * @param {Tables} tables @param {Selection[]} selections @param {number} event @param {number} sample */
export function isChosen({ event: events, thread, cpu, head }, selections, event, sample) {
  if (head.events.length > 1 && events[sample] !== event) return false;
  for (let at = 0; at < selections.length; at++) {
    const { first, last, threads, cpus, kept } = selections[at];
    if (kept && !kept[sample]) continue;
    if (sample >= first && sample < last && (!threads || threads[thread[sample]]) && (!cpus || !cpu || cpus[cpu[sample]])) return true;
  }
  return false;
}

/** Returns true if one selection contains all samples, and the recording has only one event.
 * @param {Tables} tables @param {Selection[]} selections */
export const isAll = ({ head, samples }, selections) => head.events.length < 2
  && selections.some(({ first, last, threads, cpus, kept }) => first === 0 && last === samples && !threads && !cpus && !kept);

/** Costs of leaves in a selection, to be multiplied by the factor, and the number of samples.
 * @param {Tables} tables @param {Selection} chosen @param {number} event @param {Weight} weight
 * @returns {{ weights: import("./weights.js").Weights, factor: number, samples: number }} */
export function costs(tables, chosen, event, weight) {
  const leaves = tables.leafNode.length, n = new Float64Array(leaves), { first, last, threads, cpus, kept } = chosen;
  const { event: events, thread, leaf, cpu } = tables, one = tables.head.events.length < 2;
  const period = weight === "period" ? tables.period : null;
  const cost = period ? new Float64Array(leaves) : n, squares = period ? new Float64Array(leaves) : n;
  let samples = 0;
  for (let i = first; i < last; i++) {
    if (!one && events[i] !== event) continue;
    if (threads && !threads[thread[i]] || cpus && cpu && !cpus[cpu[i]] || kept && !kept[i]) continue;
    const at = leaf[i];
    n[at]++;
    if (period) {
      cost[at] += period[i];
      squares[at] += period[i] * period[i];
    }
    samples++;
  }
  const factor = weight === "period" && !period ? tables.head.events[event]?.period ?? 1 : 1;
  return { weights: { n, cost, squares }, factor, samples };
}
