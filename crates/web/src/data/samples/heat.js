// @ts-check
// Heat map: columns of equal time, divided into cells that hold several sampling periods.
import { axisStep } from "../numbers.js";
import { GONE } from "../tree/transform.js";

/** @typedef {import("../model.js").Model} Model */
/** Layout of the cells: the number of columns, the number of cells per column, and the lengths of a cell and of a column in
 * units of time.
 * @typedef {{ columns: number, rows: number, cell: number, column: number }} HeatShape */

/** Numbers of cells per column. */
const ROWS = [50, 40, 25, 20, 10, 8, 5, 4, 2, 1];
/** Maximum number of columns: those that fit a screen. */
export const COLUMNS = 300;
/** Minimum number of sampling periods per cell. With fewer, cells and periods form stripes. */
const PERIODS = 5;
/** Factor by which cells may fall short of that, because frequencies are rounded. */
const SLACK = 1.05;

/** The layout for a number of samples of one event. Processors sample in parallel, so the mean distance of samples can be
 * shorter than the period; idle processors take no samples, so it can be longer.
 * @param {number} span in units of time @param {number} unit in nanoseconds @param {number} samples
 * @param {number} period sampling period in nanoseconds, 0 if unknown @param {number} [most] number of columns
 * @returns {HeatShape} */
export function heatShape(span, unit, samples, period, most = COLUMNS) {
  const distance = span / Math.max(1, samples), least = Math.max(1, PERIODS * Math.min(distance, period / unit || distance));
  const cells = Math.max(1, span / least), wanted = Math.min(50, Math.max(5, Math.sqrt(cells / 4)));
  const column = axisStep(span * unit, Math.min(most, cells / wanted)) / unit;
  const rows = ROWS.find((one) => one * least <= column * SLACK) || 1;
  const cell = Math.max(1, Math.round(column / rows));
  return { rows, cell, column: cell * rows, columns: Math.floor(span / (cell * rows)) + 1 };
}

/** Sample counts by cell, column by column; and the counts of samples that match a search.
 * @param {Model} model @param {HeatShape} shape @param {Uint8Array | null} under by node: 1 if it matches
 * @returns {{ cells: Uint32Array, found: Uint32Array | null, most: number }} */
export function heatCells(model, shape, under) {
  const { tables } = model, { leaf } = tables, to = /** @type {Uint32Array} */ (model.to);
  const cells = new Uint32Array(shape.columns * shape.rows), found = under ? new Uint32Array(cells.length) : null;
  const { event: events, thread, cpu, time } = tables, one = tables.head.events.length < 2;
  const event = /** @type {any} */ (model.view).event, { threads, cpus, kept } = /** @type {any} */ (model.chosen);
  // The map covers the whole recording, regardless of the selected time.
  for (let i = 0; i < tables.samples; i++) {
    if (!one && events[i] !== event) continue;
    if (threads && !threads[thread[i]] || cpus && cpu && !cpus[cpu[i]] || kept && !kept[i]) continue;
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
