// @ts-check
// The tables of a recording that grows: what comes is put behind what is there, what is forgotten goes from the front.
// What was handed out as tables stays as it was.
import { COLUMNS, VERSION, tablesOf } from "../data/columns.js";

/** @typedef {import("../data/columns.js").Tables} Tables */
/** @typedef {import("../data/columns.js").Head} Head */
/** @typedef {{ head: any, found: Record<string, any> }} Parts */
/** @typedef {Uint8Array | Uint32Array | Float64Array} Numbers */

/** Times are told from another one when this part of all is gone. */
const GONE = 0.1;

/** A column that grows.
 * @template {Numbers} T */
class Column {
  /** @param {T} values */
  constructor(values) {
    this.values = values;
    this.start = 0;
    this.end = values.length;
  }

  get length() { return this.end - this.start; }

  /** @param {T} more */
  push(more) {
    if (this.end + more.length > this.values.length) {
      const old = this.view(), room = Math.max(64, Math.ceil(1.5 * (old.length + more.length)));
      this.values = new (/** @type {any} */ (old.constructor))(room);
      this.values.set(old);
      this.start = 0;
      this.end = old.length;
    }
    this.values.set(more, this.end);
    this.end += more.length;
  }

  /** @param {number} rows */
  drop(rows) { this.start += rows; }

  /** Makes its own what others may have seen. */
  copy() {
    this.values = /** @type {T} */ (this.view().slice());
    this.end -= this.start;
    this.start = 0;
    return this.values;
  }

  /** @returns {T} */
  view() { return /** @type {T} */ (this.values.subarray(this.start, this.end)); }
}

export class LiveTables {
  /** @param {Parts} parts all tables */
  constructor({ head, found }) {
    if (head.version !== VERSION) throw new Error(`its tables have the layout ${head.version}, not ${VERSION}`);
    /** @type {Head} */
    this.head = head;
    /** The tick that they are of. */
    this.tick = /** @type {number} */ (head.live);
    const { time } = found;
    for (let i = 1; i < time.length; i++) time[i] += time[i - 1];
    /** The time that times are told from, in units since the origin. */
    this.from = 0;
    /** @type {Record<string, Column<any>>} */
    this.columns = {};
    for (const name of Object.values(COLUMNS).flat()) if (found[name]) this.columns[name] = new Column(found[name]);
    this.rebase();
    this.head.threads = this.head.threads.map((row, at) => this.thread(at, row));
  }

  get samples() { return this.columns.time.length; }

  /** Whether these are the tables from before, with more in them: what has a number has it still.
   * @param {LiveTables} before */
  continues(before) {
    const { head } = this, old = before.head;
    const is = (/** @type {any[]} */ rows, /** @type {any[]} */ first) => rows.length >= first.length && first.every((row, at) => String(row) === String(rows[at]));
    return head.origin === old.origin && head.unit === old.unit && is(head.names, old.names) && is(head.functions, old.functions) && is(head.elsewhere || [], old.elsewhere || []);
  }

  /** Takes in a step; false where it does not fit behind what is there.
   * @param {Parts} parts @param {number} tick */
  step({ head, found }, tick) {
    const { columns } = this, [nodes, leaves, places, functions, samples] = head.first;
    const fits = columns.parent.length === nodes && columns.leafNode.length === leaves && columns.placeLow.length === places
      && this.head.functions.length === functions && columns.time.length - head.forgotten === samples;
    if (!fits) return false;
    for (const name of COLUMNS.samples) columns[name]?.drop(head.forgotten);
    if (found.movedLeaf.length) {
      // Who looks at the tables from before has them as they were.
      const at = columns.leafNode.copy();
      for (let i = 0; i < found.movedLeaf.length; i++) if (found.movedLeaf[i] < leaves) at[found.movedLeaf[i]] = found.movedNode[i];
    }
    const { time } = found;
    for (let i = 0; i < time.length; i++) time[i] -= this.from;
    for (const [name, column] of Object.entries(columns)) column.push(found[name]);
    const threads = this.head.threads.slice(), modules = this.head.modules.slice();
    for (const [at, row] of head.threads) threads[at] = this.thread(at, row);
    for (const [at, row] of head.modules) modules[at] = row;
    const functionRows = this.head.functions.concat(head.functions), elsewhere = (this.head.elsewhere || []).concat(head.elsewhere || []);
    this.head = { ...this.head, threads, modules, functions: functionRows, elsewhere, names: this.head.names.concat(head.names) };
    this.tick = tick;
    this.rebase();
    return true;
  }

  /** A row of a thread; its control group is told beside it.
   * @param {number} at @param {any} row @returns {[number, number, string, string]} */
  thread(at, row) {
    if (row.length > 4) {
      // Another list: who has the old one has it as it was.
      const cgroups = (this.head.cgroups || []).slice();
      cgroups[at] = row[4];
      this.head = { ...this.head, cgroups };
    }
    return [row[0], row[1], row[2], row[3]];
  }

  /** Times begin with the first sample that is there, more or less: it is done seldom, since all that names times has to
   * follow. */
  rebase() {
    const { time } = this.columns, view = time.view(), first = view[0] ?? 0, last = view[view.length - 1] ?? 0;
    if (first <= GONE * last) return;
    const own = time.copy();
    for (let i = 0; i < own.length; i++) own[i] -= first;
    this.from += first;
  }

  /** The tables as they are now.
   * @returns {Tables} */
  tables() {
    /** @type {Record<string, any>} */
    const views = {};
    for (const [name, column] of Object.entries(this.columns)) views[name] = column.view();
    return tablesOf(this.head, views, true);
  }
}

/** The parts in the text of an event.
 * @param {string} text @returns {ArrayBuffer} */
export function fromBase64(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}
