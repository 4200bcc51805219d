// @ts-check
// Bars of the timeline: samples per equal time, by the module or kind of their leaf functions.
import { NONE } from "../columns.js";
import { GONE } from "../tree/transform.js";

/** @typedef {import("../columns.js").Tables} Tables */
/** @typedef {import("../model.js").Model} Model */
/** Classes of leaves: the class of each leaf, whether its stack is truncated, and the number of classes. Class 0 contains
 * leaves without a frame.
 * @typedef {{ of: Uint8Array, isCut: Uint8Array, classes: number }} LeafClasses */
/** Counts by bar: all samples; those that pass the filters, and the truncated ones of these; and those that pass, by class.
 * @typedef {{ bars: number, whole: Uint32Array, shown: Uint32Array, cut: Uint32Array, by: Uint32Array, classes: number }} Bars */
/** Choice of samples: the event, and the threads, processors and leaves that pass the filters.
 * @typedef {{ event: number, threads: Uint8Array | null, cpus: Uint8Array | null, kept?: Uint8Array | null, leaves: Uint8Array | null }} Passing */

/** Modules with an own class; the others share the last one. */
export const MODULES = 14;
/** Kinds of code, in the order of their classes. */
export const KINDS = ["user", "inlined", "kernel", "jit", "anonymous"];

/** Minimum width of a bar, its maximum, and the number of samples that it should hold on average. */
const NARROW = 3, WIDE = 24, SAMPLES = 5;

/** Number of bars: wide enough for some samples, and for the eye.
 * @param {number} width in pixels @param {number} samples */
export function barCount(width, samples) {
  const wide = Math.min(WIDE, Math.max(NARROW, Math.ceil(SAMPLES * width / Math.max(1, samples))));
  return Math.max(1, Math.floor(width / wide));
}

/** Classes of leaves by the rank of their module, or by their kind of code.
 * @param {Model} model @param {"module" | "kind"} by @param {Int32Array} ranks of modules @returns {LeafClasses} */
export function leafClasses(model, by, ranks) {
  const { leafEnd, lines, head } = model.tables, leafNode = model.leafLine ?? model.tables.leafNode, isCut = leafEnd.map((end) => head.rooted[end] ? 0 : 1), of = new Uint8Array(leafNode.length);
  for (let leaf = 0; leaf < of.length; leaf++) {
    const node = leafNode[leaf];
    if (node === NONE) continue;
    const f = lines.func[node], module = head.functions[f][2];
    if (by === "kind") of[leaf] = 1 + Math.max(0, KINDS.indexOf(model.kind(lines.flags[node], f)));
    else of[leaf] = module < 0 ? 0 : 1 + Math.min(ranks[module], MODULES);
  }
  return { of, isCut, classes: by === "kind" ? KINDS.length + 1 : MODULES + 2 };
}

/** Leaves that pass the filters: 1 by leaf; null if all do.
 * @param {Uint32Array | null | undefined} to node of each leaf @returns {Uint8Array | null} */
export function passingLeaves(to) {
  if (!to?.includes(GONE)) return null;
  const passes = new Uint8Array(to.length);
  for (let leaf = 0; leaf < to.length; leaf++) passes[leaf] = to[leaf] === GONE ? 0 : 1;
  return passes;
}

/** Returns true if the same leaves pass.
 * @param {Uint8Array | null} a @param {Uint8Array | null} b */
export const sameLeaves = (a, b) => a === b || !!a && !!b && a.length === b.length && a.every((value, at) => value === b[at]);

/** Counts samples of an event.
 * @param {Tables} tables @param {Passing} passing @param {LeafClasses} classes @param {number} bars
 * @param {{ list: Uint32Array, ranges: [number, number][] } | null} part the samples to count; null for all @returns {Bars} */
export function countBars(tables, passing, { of, isCut, classes }, bars, part) {
  const { time, event: events, leaf, thread, cpu, head } = tables, { event, threads, cpus, kept, leaves } = passing;
  const whole = new Uint32Array(bars), shown = new Uint32Array(bars), cut = new Uint32Array(bars), by = new Uint32Array(bars * classes);
  const scale = bars / (tables.span + 1), one = head.events.length < 2, isAll = !threads && !(cpus && cpu) && !kept && !leaves, list = part?.list;
  for (const [from, to] of part ? part.ranges : [[0, tables.samples]]) {
    for (let k = from; k < to; k++) {
      const i = list ? list[k] : k;
      if (!one && events[i] !== event) continue;
      const bar = time[i] * scale >>> 0, at = leaf[i];
      whole[bar]++;
      if (!isAll && (threads && !threads[thread[i]] || cpus && cpu && !cpus[cpu[i]] || kept && !kept[i] || leaves && !leaves[at])) continue;
      shown[bar]++;
      by[bar * classes + of[at]]++;
      cut[bar] += isCut[at];
    }
  }
  return { bars, whole, shown, cut, by, classes };
}

/** Class of most samples in a bar that pass the filters.
 * @param {Bars} counts @param {number} bar */
export function mostly({ by, classes }, bar) {
  let most = 0;
  for (let at = 1; at < classes; at++) if (by[bar * classes + at] > by[bar * classes + most]) most = at;
  return most;
}
