// @ts-check
// Stacks of one thread in order of time; adjacent stacks share the boxes of their common outer frames.
import { firstAt, NONE } from "../columns.js";
import { GONE } from "../tree/transform.js";

/** @typedef {import("../model.js").Model} Model */
/** @typedef {import("../columns.js").Tables} Tables */
/** @typedef {{ node: number, x: number, w: number, from: number, to: number, samples: number }} TimeBox */

/** Maximum duration of a sample's box, in multiples of the typical interval between samples. */
const GAP = 3;

/** Numbers of samples of an event, by a column of numbers below a limit.
 * @param {Tables} tables @param {number} wanted @param {import("../columns.js").Numbers} column @param {number} limit */
export function countBy({ event, samples, head }, wanted, column, limit) {
  const counts = new Uint32Array(limit), isOne = head.events.length < 2;
  for (let i = 0; i < samples; i++) if (isOne || event[i] === wanted) counts[column[i]]++;
  return counts;
}

/** Threads with samples of an event, in descending order of their number.
 * @param {Tables} tables @param {number} event @returns {{ id: number, count: number }[]} */
export function busyThreads(tables, event) {
  const counts = countBy(tables, event, tables.thread, tables.head.threads.length);
  return [...counts.keys()].filter((id) => counts[id] > 0).map((id) => ({ id, count: counts[id] })).sort((a, b) => b.count - a.count || a.id - b.id);
}

/** Samples grouped by thread.
 * @param {import("../columns.js").Tables} tables */
export const samplesByThread = (tables) => samplesBy(tables.thread, tables.head.threads.length, tables.samples);

/** Samples grouped by a column of numbers below a limit.
 * @param {import("../columns.js").Numbers} of @param {number} limit @param {number} samples */
export function samplesBy(of, limit, samples) {
  const start = new Uint32Array(limit + 1);
  for (let i = 0; i < samples; i++) start[of[i] + 1]++;
  for (let i = 1; i < start.length; i++) start[i] += start[i - 1];
  const fill = start.slice(), list = new Uint32Array(samples);
  for (let i = 0; i < samples; i++) list[fill[of[i]]++] = i;
  return { start, list };
}

/** Rows of boxes from the outermost frame inwards. If several samples fall on one pixel, the first one is shown.
 * @param {Model} model @param {number} thread @param {number} from @param {number} to in units of time
 * @param {number} width @param {{ start: Uint32Array, list: Uint32Array }} byThread
 * @returns {{ rows: TimeBox[][], shown: number, samples: number }} */
export function timeOrder(model, thread, from, to, width, byThread) {
  const { time, event: events, cpu, head } = model.tables, tree = /** @type {any} */ (model.tree);
  const placed = /** @type {Uint32Array} */ (model.to), { leaf } = model.tables;
  const { cpus, kept } = /** @type {any} */ (model.chosen), event = /** @type {any} */ (model.view).event, list = byThread.list.subarray(byThread.start[thread], byThread.start[thread + 1]);
  const times = Uint32Array.from(list, (i) => time[i]);
  const first = firstAt(times, from), last = firstAt(times, to + 1);
  const usual = usualStep(times), scale = width / Math.max(1, to - from);
  /** @type {TimeBox[][]} */
  const rows = [];
  /** @type {number[]} */
  let path = [];
  let shown = 0, samples = 0, pixel = -1;
  for (let k = first; k < last; k++) {
    const i = list[k];
    if (head.events.length > 1 && events[i] !== event || cpus && cpu && !cpus[cpu[i]] || kept && !kept[i]) continue;
    const node = placed[leaf[i]];
    if (node === GONE) continue;
    samples++;
    const x = (time[i] - from) * scale, next = k + 1 < times.length ? times[k + 1] : to;
    const end = Math.min(next, time[i] + GAP * usual, to), endX = (end - from) * scale;
    if (Math.floor(endX) === pixel && Math.floor(x) === pixel) continue;
    pixel = Math.floor(x);
    shown++;
    const now = [];
    for (let at = node; at !== NONE; at = tree.parent[at]) now.push(at);
    now.reverse();
    const isNear = path.length > 0 && k > first && time[i] - times[k - 1] <= GAP * usual;
    let depth = 0;
    while (isNear && depth < now.length && depth < path.length && now[depth] === path[depth]) {
      const row = rows[depth], box = row[row.length - 1];
      box.w = endX - box.x;
      box.to = end;
      box.samples++;
      depth++;
    }
    for (; depth < now.length; depth++) {
      (rows[depth] ||= []).push({ node: now[depth], x, w: endX - x, from: time[i], to: end, samples: 1 });
    }
    path = now;
  }
  return { rows, shown, samples };
}

/** Median interval between successive samples, estimated from a subset.
 * @param {Uint32Array} times */
function usualStep(times) {
  const steps = [], each = Math.max(1, Math.floor(times.length / 1000));
  for (let i = 1; i < times.length; i += each) steps.push(times[i] - times[i - 1]);
  steps.sort((a, b) => a - b);
  return Math.max(1, steps[steps.length >> 1] || 1);
}
