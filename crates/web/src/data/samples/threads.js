// @ts-check
// Costs of threads and processes in the current view.
import { folded, groupName } from "../names.js";
import { GONE } from "../tree/transform.js";

/** @typedef {import("../model.js").Model} Model */
/** A row of a list: a name, its threads and processes, and the cost of its samples and the sum of the squared costs.
 * @typedef {{ name: string, ids: number[], pids: number[], cost: number, squares: number }} ThreadRow */

/** Costs by thread of the samples that pass the filters.
 * @param {Model} model @returns {{ cost: Float64Array, squares: Float64Array }} */
function threadCosts(model) {
  const { tables } = model, { head, thread, leaf, cpu, event: events } = tables, one = head.events.length < 2;
  const { event, weight } = /** @type {any} */ (model.view), { first, last, threads, cpus } = /** @type {any} */ (model.chosen);
  const to = /** @type {Uint32Array} */ (model.to), period = weight === "period" ? tables.period : null, { factor } = /** @type {any} */ (model.byLeaf);
  const cost = new Float64Array(head.threads.length), squares = new Float64Array(head.threads.length);
  for (let i = first; i < last; i++) {
    if (!one && events[i] !== event) continue;
    if (threads && !threads[thread[i]] || cpus && cpu && !cpus[cpu[i]] || to[leaf[i]] === GONE) continue;
    const value = period ? period[i] : factor;
    cost[thread[i]] += value;
    squares[thread[i]] += value * value;
  }
  return { cost, squares };
}

/** Rows in descending order of cost, grouped by a key.
 * @param {Model} model @param {(id: number) => string} key @param {(ids: number[]) => string} name @returns {ThreadRow[]} */
function rowsBy(model, key, name) {
  const { cost, squares } = model.once("threadCosts", model.costsKey || "", () => threadCosts(model)), { threads } = model.tables.head;
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
