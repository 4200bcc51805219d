// @ts-check
// Lanes of the timeline: one for all samples, below it those of threads grouped by name or those of processors, and one
// for each other event.
import { eventName, folded, groupName } from "../../data/names.js";
import { amount } from "../../data/numbers.js";
import { busyThreads, countBy } from "../../data/samples/order.js";

/** @typedef {import("../app.js").App} App */
/** Lane: its kind, its threads (rows of their table) or its processor, event, span or label, its samples, and the lanes into which it
 * expands. `key` identifies it in the address.
 * @typedef {{ key: string, kind: "threads" | "cpu" | "event" | "span" | "label", name: string, ids: number[], at: number, count: number,
 *   level: number, inside: Lane[] }} Lane */

/** Key of the lane of all samples. */
export const ALL = "all";
/** Key of the lanes of other events. */
export const EVENTS = "events";
/** Key of the lanes of spans and labels. */
export const SPANS = "spans";
/** Maximum number of lanes that are expanded together with the lane of all samples. */
const FEW = 4;

/** Lane of all samples of the shown event.
 * @param {App} app @param {number} cpus limit of the column of processors; 0 for lanes of threads @returns {Lane} */
export function lanesOf(app, cpus) {
  const { tables, event } = app, { cpu } = tables, threads = busyThreads(tables, event), ids = threads.map(({ id }) => id);
  const count = threads.reduce((sum, one) => sum + one.count, 0);
  /** @type {Lane[]} */
  let inside;
  if (cpus && cpu) {
    const byCpu = countBy(tables, event, cpu, cpus);
    inside = [...byCpu.keys()].filter((at) => byCpu[at] > 0).map((at) =>
      ({ key: `cpu:${at - 1}`, kind: "cpu", name: at ? `CPU ${at - 1}` : "CPU unknown", ids: [], at: at - 1, count: byCpu[at], level: 1, inside: [] }));
  } else inside = groups(app, threads);
  const name = ids.length === 1 ? app.threadName(ids[0]) : `${amount(ids.length)} threads`;
  return { key: ALL, kind: "threads", name, ids, at: -1, count, level: 0, inside: inside.length > 1 || inside[0]?.inside.length ? inside : [] };
}

/** Groups threads by their names without trailing numbers; a thread with a unique name has its own lane.
 * @param {App} app @param {{ id: number, count: number }[]} all @returns {Lane[]} */
function groups(app, all) {
  const { threads } = app.tables.head;
  /** @type {Map<string, { id: number, count: number }[]>} */
  const by = new Map();
  for (const one of all) {
    const name = folded(threads[one.id][2]), list = by.get(name);
    if (list) list.push(one); else by.set(name, [one]);
  }
  const lane = (/** @type {{ id: number, count: number }} */ one, /** @type {number} */ level) =>
    /** @type {Lane} */ ({ key: `thread:${one.id}`, kind: "threads", name: app.threadName(one.id), ids: [one.id], at: -1, count: one.count, level, inside: [] });
  return [...by].map(([key, list]) => list.length === 1 ? lane(list[0], 1) : /** @type {Lane} */ ({
    key: `comm:${key}`, kind: "threads", name: `${groupName(list.map((one) => threads[one.id][2]))} (${amount(list.length)})`, ids: list.map((one) => one.id), at: -1,
    count: list.reduce((sum, one) => sum + one.count, 0), level: 1, inside: list.map((one) => lane(one, 2)),
  })).sort((a, b) => b.count - a.count);
}

/** Lanes of the events that are not shown and have samples.
 * @param {App} app @returns {Lane[]} */
export function otherEvents(app) {
  const { events } = app.tables.head, others = [...events.keys()].filter((at) => at !== app.event && app.eventCounts[at] > 0);
  return others.map((at) => ({ key: `event:${at}`, kind: "event", name: eventName(events[at].name), ids: [], at, count: app.eventCounts[at], level: 0, inside: [] }));
}

/** Visible lanes.
 * @param {Lane} whole @param {string[]} open keys of the expanded ones @returns {Lane[]} */
export function visible(whole, open) {
  if (!whole.inside.length || !open.includes(ALL)) return [whole];
  // A single group adds nothing to the lane of all.
  if (whole.inside.length === 1) return [whole, ...whole.inside[0].inside];
  return [whole, ...whole.inside.flatMap((lane) => open.includes(lane.key) ? [lane, ...lane.inside] : [lane])];
}

/** Keys of the expanded lanes after a lane was opened or closed. With the lane of all, a few small groups open.
 * @param {Lane} lane @param {string[]} open @returns {string[]} */
export function toggled(lane, open) {
  if (open.includes(lane.key)) return open.filter((key) => key !== lane.key);
  const small = lane.key === ALL && lane.inside.length <= FEW ? lane.inside.filter(({ inside }) => inside.length && inside.length <= FEW) : [];
  return [...new Set([...open, lane.key, ...small.map(({ key }) => key)])];
}
