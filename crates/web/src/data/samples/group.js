// @ts-check
// Groups of samples: by process, program (name of processes), thread, thread name, control group or event.
import { eventName, folded } from "../names.js";
import { VALUE, valuesAt } from "./values.js";

/** @typedef {import("../columns.js").Tables} Tables */
/** @typedef {import("../columns.js").Numbers} Numbers */
/** @typedef {"none" | "process" | "program" | "thread" | "comm" | "cgroup" | "event" | `value:${string}`} GroupBy */
export const GROUPS = ["none", "process", "program", "thread", "comm", "cgroup", "event"];

/** Returns true if a recording can be grouped by a keyword.
 * @param {import("../columns.js").Head} head @param {string} word */
export const isGroup = (head, word) => GROUPS.includes(word) || valuesAt(head, word) >= 0;

/** Column of samples that groups refer to.
 * @param {Tables} tables @param {GroupBy} by @returns {Numbers} */
export function columnOf(tables, by) {
  if (by.startsWith(VALUE)) return tables.values[valuesAt(tables.head, by)];
  return by === "event" ? tables.event : tables.thread;
}

/** Samples sorted by leaf: the start of each leaf's samples, and the list.
 * @param {Tables} tables */
export function samplesByLeaf(tables) {
  const { leaf, samples } = tables, start = new Uint32Array(tables.leafNode.length + 1);
  for (let i = 0; i < samples; i++) start[leaf[i] + 1]++;
  for (let i = 1; i < start.length; i++) start[i] += start[i - 1];
  const fill = start.slice(), list = new Uint32Array(samples);
  for (let i = 0; i < samples; i++) list[fill[leaf[i]]++] = i;
  return { start, list };
}

/** Values of a column for samples in another order.
 * @param {Numbers} column @param {Uint32Array} list */
export function valuesOf(column, list) {
  const values = column.slice(0, list.length);
  for (let k = 0; k < list.length; k++) values[k] = column[list[k]];
  return values;
}

/** Labels of the groups, the group of each thread or event, and the thread or event of each sample.
 * @param {Tables} tables @param {GroupBy} by */
export function groupsOf(tables, by) {
  const { threads, events, cgroups } = tables.head;
  /** @type {Map<string, number>} */
  const known = new Map();
  /** @type {string[]} */
  const labels = [];
  const group = (/** @type {string} */ key, /** @type {string} */ label) => {
    let id = known.get(key);
    if (id === undefined) {
      id = labels.length;
      known.set(key, id);
      labels.push(label);
    }
    return id;
  };
  const values = valuesAt(tables.head, by);
  if (values >= 0) {
    const { texts } = /** @type {any} */ (tables.head.values)[values];
    return { labels: texts, of: Uint32Array.from(texts, (_, at) => at), by: tables.values[values] };
  }
  if (by === "event") return { labels: events.map((event) => eventName(event.name)), of: Uint32Array.from(events, (_, at) => at), by: tables.event };
  const of = Uint32Array.from(threads, ([pid, tid, comm, process], row) => {
    if (by === "cgroup") {
      const path = cgroups?.[row] || "";
      return group(path, path || "control group unknown");
    }
    // After exec, a process has another name.
    if (by === "process") return group(`${pid} ${process}`, `${process || "?"} (process ${pid})`);
    if (by === "program") return group(process || comm, process || comm || "?");
    if (by === "thread") return group(`${tid} ${comm}`, `${comm || "?"} (thread ${tid})`);
    return group(folded(comm), folded(comm) || "?");
  });
  return { labels, of, by: tables.thread };
}

/** Recorders and shells, which start the recorded programs. */
const STARTERS = ["perf", "unwind-perf", "sh", "bash", "dash", "ash", "zsh", "fish", "busybox"];
/** Smallest share of the samples that makes a program one of several. */
const LEAST = 0.01;

/** Largest number of processes that are legible as groups of their own. */
const PROCESSES = 20;

/** Groups of a recording without a choice of the reader: processes if it has several programs, or the programs if it
 * has many processes. The programs of growing tables are not known at the start.
 * @param {Tables} tables @returns {GroupBy} */
export function usualGroup({ head, thread, samples, lines }) {
  if (lines.grows) return "none";
  const count = new Float64Array(head.threads.length);
  for (let i = 0; i < samples; i++) count[thread[i]]++;
  /** @type {Map<string, number>} */
  const programs = new Map(), pids = new Set();
  head.threads.forEach(([pid, , comm, process], id) => {
    const name = process || comm;
    if (count[id] > 0) pids.add(pid);
    if (!STARTERS.includes(name)) programs.set(name, (programs.get(name) ?? 0) + count[id]);
  });
  if ([...programs.values()].filter((n) => n > 0 && n >= LEAST * samples).length < 2) return "none";
  return pids.size > PROCESSES ? "program" : "process";
}
