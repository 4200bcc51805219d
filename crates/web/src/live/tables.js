// @ts-check
// Tables of a live recording: new rows are appended, and discarded rows are removed from the front. Tables that were
// handed out do not change.
import { COLUMNS, VERSION, tablesOf } from "../data/columns.js";

/** @typedef {import("../data/columns.js").Tables} Tables */
/** @typedef {import("../data/columns.js").Head} Head */
/** @typedef {{ head: any, found: Record<string, any> }} Parts */
/** @typedef {Uint8Array | Uint32Array | Float64Array} Numbers */

/** Minimum discarded share of the recorded time for a change of the origin. */
const GONE = 0.1;

/** Column that grows.
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

  /** Copies the values, since tables that were handed out share them. */
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
    /** Tick of the tables. */
    this.tick = /** @type {number} */ (head.live);
    const { time } = found;
    for (let i = 1; i < time.length; i++) time[i] += time[i - 1];
    /** Origin of times, in units of time after `head.origin`. */
    this.from = 0;
    /** @type {Record<string, Column<any>>} */
    this.columns = {};
    for (const name of Object.values(COLUMNS).flat()) if (found[name]) this.columns[name] = new Column(found[name]);
    this.rebase();
    this.head.threads = this.head.threads.map((row, at) => this.thread(at, row));
  }

  get samples() { return this.columns.time.length; }

  /** Returns true if these tables extend the earlier ones, so that numbers are still valid.
   * @param {LiveTables} before */
  continues(before) {
    const { head } = this, old = before.head;
    const is = (/** @type {any[]} */ rows, /** @type {any[]} */ first) => rows.length >= first.length && first.every((row, at) => String(row) === String(rows[at]));
    return head.origin === old.origin && head.unit === old.unit && is(head.names, old.names) && is(head.functions, old.functions) && is(head.elsewhere || [], old.elsewhere || []);
  }

  /** Appends an update; returns false if it does not follow the current rows.
   * @param {Parts} parts @param {number} tick */
  step({ head, found }, tick) {
    const { columns } = this, [nodes, leaves, places, functions, samples] = head.first;
    const fits = columns.parent.length === nodes && columns.leafNode.length === leaves && columns.placeLow.length === places
      && this.head.functions.length === functions && columns.time.length - head.forgotten === samples;
    if (!fits) return false;
    for (const name of COLUMNS.samples) columns[name]?.drop(head.forgotten);
    if (found.movedLeaf.length) {
      // Earlier tables must not change.
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

  /** Row of a thread; stores its control group separately.
   * @param {number} at @param {any} row @returns {[number, number, string, string]} */
  thread(at, row) {
    if (row.length > 4) {
      // A new list, since earlier tables share the old one.
      const cgroups = (this.head.cgroups || []).slice();
      cgroups[at] = row[4];
      this.head = { ...this.head, cgroups };
    }
    return [row[0], row[1], row[2], row[3]];
  }

  /** Moves the origin of times near the first sample. This is done rarely, since all references to times must be
   * adjusted. */
  rebase() {
    const { time } = this.columns, view = time.view(), first = view[0] ?? 0, last = view[view.length - 1] ?? 0;
    if (first <= GONE * last) return;
    const own = time.copy();
    for (let i = 0; i < own.length; i++) own[i] -= first;
    this.from += first;
  }

  /** Current tables.
   * @returns {Tables} */
  tables() {
    /** @type {Record<string, any>} */
    const views = {};
    for (const [name, column] of Object.entries(this.columns)) views[name] = column.view();
    return tablesOf(this.head, views, true);
  }
}

/** Decodes the rows of an event.
 * @param {string} text @returns {ArrayBuffer} */
export function fromBase64(text) {
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}
