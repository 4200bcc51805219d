// @ts-check
// Lines of a function with their costs, each with the lines of the functions that are inlined there.
import { INLINED, NONE } from "../columns.js";
import { GONE } from "../tree/transform.js";
import { totals } from "../tree/tree.js";

/** @typedef {import("../model.js").Model} Model */
/** Costs of a line: own and inclusive, and the lines of the functions inlined there.
 * @typedef {{ own: number, total: number, inner?: InlinedLine[] }} LineCost */
/** Line of an inlined function; `number` is the line in the tables, `key` identifies the line and those around it.
 * @typedef {LineCost & { func: number, number: number, key: string }} InlinedLine */
/** Line of a node; `again` is true inside of a recursive call, whose inclusive cost does not count.
 * @typedef {{ row: LineCost, key: string, again: boolean }} InlinedAt */
/** Costs of a function by line.
 * @typedef {Map<number, LineCost>} Lines */

/** Key of a line that is inlined at another one; the key of a line of the function itself is its number.
 * @param {string} outer key of the other line @param {number} func @param {number} number */
export const keyOf = (outer, func, number) => `${outer} ${func}:${number}`;

/** Costs of the lines of a function. The inclusive cost of a line is the sum of its own cost, of its inlined lines and of
 * its calls.
 * @param {Model} model @param {number} f @returns {Lines} */
export function linesOf(model, f) {
  const { lines } = model.tables, leafLine = /** @type {Uint32Array} */ (model.leafLine), costs = /** @type {any} */ (model.costs);
  const to = /** @type {Uint32Array} */ (model.to), own = new Float64Array(lines.n);
  for (let leaf = 0; leaf < to.length; leaf++) {
    if (to[leaf] !== GONE && leafLine[leaf] !== NONE) own[leafLine[leaf]] += costs.leaf[leaf];
  }
  const inside = new Uint8Array(lines.n), total = totals(/** @type {any} */ (lines), own), inlined = new InlinedLines();
  for (let i = 0; i < lines.n; i++) {
    const p = lines.parent[i], within = p !== NONE && inside[p] === 1, isOf = lines.func[i] === f;
    inside[i] = within || isOf ? 1 : 0;
    if (!inside[i] || total[i] === 0) continue;
    const outer = within && lines.flags[i] & INLINED ? inlined.at.get(p) : undefined;
    if (isOf) {
      const row = inlined.line(lines.line[i]);
      row.own += own[i];
      // For a recursive function only the outermost call counts, so that a stack is counted once.
      if (!within) row.total += total[i];
      if (!outer) inlined.at.set(i, { row, key: String(lines.line[i]), again: within });
    }
    if (outer) inlined.add(i, outer, { func: lines.func[i], number: lines.line[i], own: own[i], total: total[i] });
  }
  for (const rows of [inlined.lines, inlined.by]) for (const row of rows.values()) row.inner?.sort((a, b) => b.total - a.total || b.own - a.own);
  return inlined.lines;
}

/** Lines of a function, and the lines inlined there. */
class InlinedLines {
  constructor() {
    /** @type {Lines} */
    this.lines = new Map();
    /** By node of the tables that is a line of the function or inlined there. @type {Map<number, InlinedAt>} */
    this.at = new Map();
    /** @type {Map<string, InlinedLine>} */
    this.by = new Map();
  }

  /** @param {number} number */
  line(number) {
    let row = this.lines.get(number);
    if (!row) this.lines.set(number, row = { own: 0, total: 0 });
    return row;
  }

  /** @param {number} node @param {InlinedAt} outer
   * @param {{ func: number, number: number, own: number, total: number }} cost */
  add(node, outer, { func, number, own, total }) {
    const key = keyOf(outer.key, func, number);
    let row = this.by.get(key);
    if (!row) {
      this.by.set(key, row = { func, number, key, own: 0, total: 0 });
      (outer.row.inner ||= []).push(row);
    }
    row.own += own;
    if (!outer.again) row.total += total;
    this.at.set(node, { row, key, again: outer.again });
  }
}
