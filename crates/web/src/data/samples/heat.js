// @ts-check
// The heat map: columns of a second, cells of a fiftieth of that (20 ms); of short recordings a part of that.
import { axisStep } from "../numbers.js";
import { GONE } from "../tree/transform.js";

/** @typedef {import("../model.js").Model} Model */
/** How cells lie: columns, each of ROWS cells of so many units of time.
 * @typedef {{ columns: number, cell: number, column: number }} HeatShape */

/** Cells of a column. */
export const ROWS = 50;
/** From so many seconds on, columns are seconds. */
const LONG = 20;

/** @param {number} span in units of time @param {number} unit nanoseconds of one @param {number} samples
 * @returns {HeatShape} */
export function heatShape(span, unit, samples) {
  const second = 1e9 / unit, wanted = Math.min(60, Math.max(8, samples / 25));
  const column = span >= LONG * second ? second : axisStep(span, wanted);
  const cell = Math.max(1, Math.round(column / ROWS));
  return { cell, column: cell * ROWS, columns: Math.floor(span / (cell * ROWS)) + 1 };
}

/** Samples by cell, column after column; those that a search finds beside them.
 * @param {Model} model @param {HeatShape} shape @param {Uint8Array | null} under by node: whether it is found
 * @returns {{ cells: Uint32Array, found: Uint32Array | null, most: number }} */
export function heatCells(model, shape, under) {
  const { tables } = model, { leaf } = tables, to = /** @type {Uint32Array} */ (model.to);
  const cells = new Uint32Array(shape.columns * ROWS), found = under ? new Uint32Array(cells.length) : null;
  const { event: events, thread, time } = tables, one = tables.head.events.length < 2;
  const event = /** @type {any} */ (model.view).event, threads = /** @type {any} */ (model.chosen).threads;
  // The map shows the whole recording whatever time is chosen.
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
