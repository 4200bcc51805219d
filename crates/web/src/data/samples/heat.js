// @ts-check
// Heat map: columns of one second, divided into 50 cells of 20 ms; shorter columns for short recordings.
import { axisStep } from "../numbers.js";
import { GONE } from "../tree/transform.js";

/** @typedef {import("../model.js").Model} Model */
/** Layout of the cells: the number of columns, and the lengths of a cell and of a column in units of time. Each column
 * has ROWS cells.
 * @typedef {{ columns: number, cell: number, column: number }} HeatShape */

/** Cells per column. */
export const ROWS = 50;
/** Minimum length of a recording with columns of one second, in seconds. */
const LONG = 20;

/** @param {number} span in units of time @param {number} unit in nanoseconds @param {number} samples
 * @returns {HeatShape} */
export function heatShape(span, unit, samples) {
  const second = 1e9 / unit, wanted = Math.min(60, Math.max(8, samples / 25));
  const column = span >= LONG * second ? second : axisStep(span, wanted);
  const cell = Math.max(1, Math.round(column / ROWS));
  return { cell, column: cell * ROWS, columns: Math.floor(span / (cell * ROWS)) + 1 };
}

/** Sample counts by cell, column by column; and the counts of samples that match a search.
 * @param {Model} model @param {HeatShape} shape @param {Uint8Array | null} under by node: 1 if it matches
 * @returns {{ cells: Uint32Array, found: Uint32Array | null, most: number }} */
export function heatCells(model, shape, under) {
  const { tables } = model, { leaf } = tables, to = /** @type {Uint32Array} */ (model.to);
  const cells = new Uint32Array(shape.columns * ROWS), found = under ? new Uint32Array(cells.length) : null;
  const { event: events, thread, time } = tables, one = tables.head.events.length < 2;
  const event = /** @type {any} */ (model.view).event, threads = /** @type {any} */ (model.chosen).threads;
  // The map covers the whole recording, regardless of the selected time.
  for (let i = 0; i < tables.samples; i++) {
    if (!one && events[i] !== event) continue;
    if (threads && !threads[thread[i]]) continue;
    const node = to[leaf[i]];
    if (node === GONE) continue;
    const cell = Math.floor(time[i] / shape.cell);
    cells[cell]++;
    if (found && node < GONE && /** @type {Uint8Array} */ (under)[node]) found[cell]++;
  }
  let most = 0;
  for (let i = 0; i < cells.length; i++) most = Math.max(most, cells[i]);
  return { cells, found, most };
}
