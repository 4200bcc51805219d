// @ts-check
// Costs of threads, processes and processors in the current view.
import { folded, groupName } from "../names.js";
import { CPUS } from "./select.js";
import { valuesAt } from "./values.js";
import { GONE } from "../tree/transform.js";

/** @typedef {import("../model.js").Model} Model */
/** A row of a list: a name, its threads and processes, and the cost of its samples and the sum of the squared costs.
 * @typedef {{ name: string, ids: number[], pids: number[], cost: number, squares: number }} ThreadRow */

/** Row of a table: its threads, or its processor (-1 if unknown), or its value, and its samples.
 * @typedef {{ name: string, ids: number[], cpu: number, n: number, cost: number, squares: number }} CostRow */
/** Returns true if samples of an event state their processor: perf records it by event.
 * @param {Model} model @param {number} event */
export const hasProcessors = (model, event) => model.once("hasProcessors", String(event), () => {
  const { cpu, event: events, samples, head } = model.tables, isOne = head.events.length < 2;
  if (cpu) for (let i = 0; i < samples; i++) if (cpu[i] > 0 && (isOne || events[i] === event)) return true;
  return false;
});

/** Kinds of rows: those of all recordings, or a keyword of values.
 * @typedef {typeof ROWS[number] | `value:${string}`} RowKind */
export const ROWS = /** @type {const} */ (["process", "thread", "cpu"]);

/** Costs of the samples that pass the filters, by a column of samples.
 * @param {Model} model @param {ArrayLike<number>} key @param {number} keys
 * @returns {{ n: Float64Array, cost: Float64Array, squares: Float64Array }} */
function costsBy(model, key, keys) {
  const { tables } = model, { head, thread, leaf, cpu, event: events } = tables, one = head.events.length < 2;
  const { event, weight } = /** @type {any} */ (model.view), { first, last, threads, cpus, kept } = /** @type {any} */ (model.chosen);
  const to = /** @type {Uint32Array} */ (model.to), period = weight === "period" ? tables.period : null, { factor } = /** @type {any} */ (model.byLeaf);
  const n = new Float64Array(keys), cost = new Float64Array(keys), squares = new Float64Array(keys);
  for (let i = first; i < last; i++) {
    if (!one && events[i] !== event) continue;
    if (threads && !threads[thread[i]] || cpus && cpu && !cpus[cpu[i]] || kept && !kept[i] || to[leaf[i]] === GONE) continue;
    const value = period ? period[i] : factor, at = key[i];
    n[at]++;
    cost[at] += value;
    squares[at] += value * value;
  }
  return { n, cost, squares };
}

/** Costs by thread.
 * @param {Model} model */
const threadCosts = (model) => model.once("threadCosts", model.costsKey || "", () => costsBy(model, model.tables.thread, model.tables.head.threads.length));

/** Rows of processes, threads, processors or values with samples, in descending order of cost. A process that executed
 * several programs has a row for each.
 * @param {Model} model @param {RowKind} by @returns {CostRow[]} */
export function costRows(model, by) {
  const { tables: { cpu, head: { threads } } } = model;
  /** @type {Map<string, CostRow>} */
  const rows = new Map();
  const add = (/** @type {string} */ key, /** @type {string} */ name, /** @type {ReturnType<typeof costsBy>} */ costs, /** @type {number} */ at, /** @type {number} */ id) => {
    if (!costs.n[at]) return;
    const row = rows.get(key) || { name, ids: [], cpu: by === "cpu" ? at - 1 : -1, n: 0, cost: 0, squares: 0 };
    if (id >= 0) row.ids.push(id);
    for (const column of /** @type {const} */ (["n", "cost", "squares"])) row[column] += costs[column][at];
    rows.set(key, row);
  };
  const values = valuesAt(model.tables.head, by);
  if (values >= 0) {
    const { texts } = /** @type {any} */ (model.tables.head.values)[values];
    const costs = model.once("valueCosts", `${by} ${model.costsKey}`, () => costsBy(model, model.tables.values[values], texts.length));
    texts.forEach((/** @type {string} */ text, /** @type {number} */ at) => add(String(at), text, costs, at, -1));
  } else if (by === "cpu") {
    if (!cpu) return [];
    const costs = model.once("cpuCosts", model.costsKey || "", () => costsBy(model, cpu, CPUS));
    costs.n.forEach((n, at) => { if (n) add(String(at), at ? `CPU ${at - 1}` : "unknown", costs, at, -1); });
  } else {
    const costs = threadCosts(model);
    threads.forEach(([pid, tid, comm, process], id) => {
      if (by === "process") add(`${pid} ${process}`, `${process || comm || "?"} ${pid}`, costs, id, id);
      else add(String(id), `${comm || "?"} ${pid === tid ? tid : `${pid}/${tid}`}`, costs, id, id);
    });
  }
  return [...rows.values()].sort((a, b) => b.cost - a.cost || a.cpu - b.cpu || (a.ids[0] ?? 0) - (b.ids[0] ?? 0));
}

/** Filter that leaves the samples of a row; null for an unknown processor.
 * @param {Model} model @param {RowKind} by @param {CostRow} row @returns {import("../model.js").Filter | null} */
export function filterOfRow({ tables: { head, head: { threads } } }, by, { ids, cpu, name: text }) {
  const values = valuesAt(head, by);
  if (values >= 0) return { kind: "value", name: /** @type {any} */ (head.values)[values].name, text };
  if (by === "cpu") return cpu < 0 ? null : { kind: "cpu", cpu };
  const pid = by === "process" ? threads[ids[0]][0] : -1, isAll = threads.every((row, id) => row[0] !== pid || row[3] === threads[ids[0]][3] || ids.includes(id));
  return by === "process" && isAll ? { kind: "process", pid } : { kind: "threads", ids };
}

/** Rows in descending order of cost, grouped by a key.
 * @param {Model} model @param {(id: number) => string} key @param {(ids: number[]) => string} name @returns {ThreadRow[]} */
function rowsBy(model, key, name) {
  const { cost, squares } = threadCosts(model), { threads } = model.tables.head;
  /** @type {Map<string, ThreadRow>} */
  const by = new Map();
  threads.forEach((_, id) => {
    if (!(cost[id] > 0)) return;
    const of = key(id), row = by.get(of) || { name: "", ids: [], pids: [], cost: 0, squares: 0 };
    row.cost += cost[id];
    row.squares += squares[id];
    row.ids.push(id);
    by.set(of, row);
  });
  const rows = [...by.values()];
  for (const row of rows) {
    row.pids = [...new Set(row.ids.map((id) => threads[id][0]))];
    row.name = name(row.ids);
  }
  return rows.sort((a, b) => b.cost - a.cost || a.ids[0] - b.ids[0]);
}

/** Threads of processes.
 * @param {import("../columns.js").Head} head @param {number[]} pids */
export function threadsOf(head, pids) {
  const wanted = new Set(pids);
  return [...head.threads.keys()].filter((id) => wanted.has(head.threads[id][0]));
}

/** Threads; those with names that differ only in a trailing number are one row.
 * @param {Model} model */
export function threadRows(model) {
  const { threads } = model.tables.head;
  return rowsBy(model, (id) => folded(threads[id][2]), (ids) => groupName(ids.map((id) => threads[id][2])));
}

/** Processes; those with equal names are one row.
 * @param {Model} model */
export function processRows(model) {
  const { threads } = model.tables.head, of = (/** @type {number} */ id) => threads[id][3] || threads[id][2];
  return rowsBy(model, of, (ids) => of(ids[0]) || "?");
}
