// @ts-check
// Actions on functions, threads and modules: entries of menus, and their keys.
import { baseName } from "../data/names.js";
import { threadsOf } from "../data/samples/threads.js";
import { openMenu } from "./elements/menu.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./shell.js").Shell} Shell */
/** @typedef {import("./elements/menu.js").Entry} Entry */

/** Menu entries for a function.
 * @param {Shell} app @param {number} f @param {(() => void) | null} zoom
 * @returns {Entry[]} */
export function functionEntries(app, f, zoom) {
  const { model } = app, filter = (/** @type {any} */ kind, /** @type {number} */ at) => () => app.addFilter({ kind, at });
  /** @type {Entry[]} */
  const entries = [{ title: app.label(f), hint: model.name(f) }];
  if (zoom) entries.push({ text: "Zoom", key: "Enter", run: zoom });
  const copy = { text: "Copy its name", key: "y", run: () => { void navigator.clipboard?.writeText(model.name(f)); } };
  if (model.isOutside(f)) return [...entries, ...generalEntries(app), copy];
  if (f < model.functions) {
    entries.push({ text: "Callers and callees", key: "c", run: () => app.change({ view: "sandwich", func: f }) });
    if (app.views.includes("source")) entries.push({ text: "Source and instructions", key: "a", run: () => app.change({ view: "source", func: f }) });
  }
  entries.push(
    { text: "Focus on it", key: "f", run: filter("focus", f) },
    { text: "Only stacks with it", key: "o", run: filter("keep", f) },
    { text: "Hide stacks with it", key: "x", run: filter("drop", f) },
    { text: "Hide this function", key: "h", run: filter("hide", f) },
    { text: "Charge it and its callees to its callers", key: "u", run: filter("charge", f) },
    { text: "Fold its callees into it", key: "i", run: filter("fold", f) },
    { text: "Collapse its recursion", key: "r", run: filter("recursion", f) });
  const module = model.moduleOf()[f];
  if (module >= 0) {
    const name = baseName(app.model.named.modules[module].path);
    entries.push({ title: name },
      { text: "Only this module", key: "d", run: filter("module", module) },
      { text: "Hide this module", key: "D", run: filter("hideModule", module) },
      { text: "Merge this module", key: "g", run: filter("merge", module) });
  }
  return [...entries, ...generalEntries(app), copy];
}

/** Menu entries that need no function.
 * @param {Shell} app @returns {Entry[]} */
function generalEntries(app) {
  const kernel = kernelModule(app);
  return [
    { title: "All functions" },
    { text: "Collapse all recursion", key: "R", run: () => app.addFilter({ kind: "recursion" }) },
    { text: "Charge parts (.cold, .part) to their functions", key: "p", run: () => app.addFilter({ kind: "parts" }) },
    { text: "Merge all modules", key: "G", run: () => app.addFilter({ kind: "merge" }) },
    ...(kernel >= 0 ? [{ text: "Only the kernel", key: "k", run: () => app.addFilter({ kind: "module", at: kernel }) }] : []),
  ];
}

/** Index of the sampled kernel module; negative if there is none.
 * @param {Shell} app */
const kernelModule = (app) => app.model.named.modules.findIndex((module) => module.kind === "kernel" || module.path === "[kernel]");

/** Opens the menu of a function.
 * @param {Shell} app @param {number} f @param {number} x @param {number} y @param {(() => void) | null} [zoom] */
export function functionMenu(app, f, x, y, zoom) { openMenu(functionEntries(app, f, zoom || null), x, y); }

/** Runs the menu entry with a key.
 * @param {Shell} app @param {number} f negative for none @param {string} key */
export function functionKey(app, f, key) {
  for (const entry of f < 0 ? generalEntries(app) : functionEntries(app, f, null)) {
    if ("key" in entry && entry.key === key) {
      entry.run();
      return true;
    }
  }
  return false;
}

/** Runs a key on the selected row of a table of functions; returns false if it has no action.
 * @template T @param {Shell} app @param {import("./elements/rows.js").Rows<T>} rows @param {(data: T) => number} func
 * @param {KeyboardEvent} event */
export function rowKey(app, rows, func, event) {
  const row = rows.rows[rows.at];
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  if (event.key !== "m") return functionKey(app, row ? func(row.data) : -1, event.key);
  rows.openMenu();
  return true;
}

/** Makes a table of functions run the keys of its selected row.
 * @template T @param {import("./elements/rows.js").Rows<T>} rows @param {(event: KeyboardEvent) => boolean} key */
export function listenToKeys(rows, key) {
  rows.element.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.target !== rows.element || !key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
}

/** Opens the menu of a thread, or of threads with equal names.
 * @param {App} app @param {number[]} ids @param {string} comm @param {number} x @param {number} y */
export function threadMenu(app, ids, comm, x, y) {
  const { threads, cgroups } = app.tables.head, one = ids.length === 1;
  const pids = [...new Set(ids.map((id) => threads[id][0]))], [pid] = pids;
  const cgroup = cgroups?.[ids[0]];
  openMenu([
    { title: one ? app.threadName(ids[0]) : `${comm}: ${ids.length} threads` },
    { text: one ? "Only this thread" : "Only these threads", key: "t", run: () => app.addFilter({ kind: "threads", ids }) },
    { text: one ? "Hide this thread" : "Hide these threads", key: "x", run: () => app.addFilter({ kind: "notThreads", ids }) },
    pids.length === 1 ? { text: `Only process ${pid}`, key: "p", run: () => app.addFilter({ kind: "process", pid }) }
      : { text: `Only these ${pids.length} processes`, key: "p", run: () => app.addFilter({ kind: "threads", ids: threadsOf(app.tables.head, pids) }) },
    { text: `Only threads called ${comm}`, key: "n", run: () => app.addFilter({ kind: "comm", comm }) },
    ...(cgroup ? [{ text: `Only control group ${cgroup}`, key: "g", run: () => app.addFilter({ kind: "cgroup", cgroup }) }] : []),
    { text: "Show it in time order", key: "o", run: () => app.change({ view: "order", thread: ids[0] }) },
  ], x, y);
}
