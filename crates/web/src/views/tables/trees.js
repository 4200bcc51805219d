// @ts-check
// Call trees as tables: top-down from the outermost functions, bottom-up from leaf functions.
import { baseName } from "../../data/names.js";
import { percent, spread } from "../../data/numbers.js";
import { bottomUp, callersOf, hotPath, topDown } from "../../data/tree/treerows.js";
import { functionMenu, listenToKeys, rowKey } from "../actions.js";
import { make } from "../elements/element.js";
import { Rows } from "../elements/rows.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */
/** Row: a function, its costs, its path, and its children.
 * @typedef {{ func: number, total: number, own: number, squares: number, path: string, inside: () => Item[], more: boolean }} Item */

/** @param {App} app @param {"top" | "bottom"} which @returns {ViewPart} */
export function treeView(app, which) {
  const isTop = which === "top";
  /** @type {Map<string, boolean>} Paths of the rows that the reader expanded (true) or collapsed, independent of filters. */
  const chosen = new Map();
  /** @type {Set<string>} Paths of the rows that are expanded at first. */
  let hot = new Set();
  const share = (/** @type {(item: Item) => number} */ of) => (/** @type {Item} */ item) => of(item) ? `${app.cost(of(item))}  ${percent(of(item), app.costs.all)}` : "";
  /** @type {Rows<Item>} */
  const rows = new Rows({
    label: isTop ? "Functions below their callers" : "Functions by their own cost, with their callers",
    tree: true,
    columns: [
      { title: isTop ? "Inclusive" : "Cost", width: "var(--cost)", kind: "number", text: share((item) => item.total), brief: { width: isTop ? "6.5em" : "5.5em", text: (item) => percent(item.total, app.costs.all) } },
      { title: "95 %", width: "8.5em", kind: "where", text: (item) => spread(item.total, app.costs.all, item.squares, app.costs.allSquares), drop: 1 },
      ...(isTop ? [{ title: "Own", width: "var(--cost)", kind: /** @type {"number"} */ ("number"), text: share((item) => item.own), drop: 3 }] : []),
      { title: "Function", width: "minmax(14em, 1fr)", kind: "name", text: (item) => app.label(item.func), hint: (item) => app.model.name(item.func),
        mark: (item) => app.found?.hits[item.func] ? "hit" : "" },
      { title: "Module", width: "minmax(6em, 12em)", kind: "where", text: (item) => baseName(app.model.module(item.func)), hint: (item) => app.model.module(item.func), drop: 2 },
      { title: "Source", width: "minmax(6em, 14em)", kind: "where", text: (item) => baseName(app.model.file(item.func)), hint: (item) => app.model.file(item.func), drop: 2 },
    ],
    canOpen: (item) => item.more,
    open: (row) => row.data.inside(),
    toggled: (row) => { chosen.set(row.data.path, row.isOpen); },
    expanded: (item) => chosen.get(item.path) ?? hot.has(item.path),
    swatch: (item) => app.swatch(item.func),
    menu: (item, x, y) => functionMenu(app, item.func, x, y),
  });
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "e" || event.ctrlKey || event.metaKey) return rowKey(app, rows, (item) => item.func, event);
    openHot(rows);
    return true;
  };
  listenToKeys(rows, key);
  const panel = make("section", { class: "panel column" },
    make("p", { class: "note", text: "The hot path is open. Enter or ↓ goes from the tab into the rows; there, → opens a row and ← closes it. e opens the hot path below a row, m the menu." }), rows.element);
  const draw = () => {
    const items = (isTop ? topItems(topDown(app.model), "") : bottomItems(app, bottomUp(app.model), ""))
      .filter((item) => isTop || !app.found || app.found.hits[item.func]);
    const at = rows.rows[rows.at]?.data.path;
    hot = new Set(hotPath(items[0]));
    rows.show(items, true);
    rows.at = Math.max(0, rows.rows.findIndex((row) => row.data.path === at));
    rows.draw();
  };
  const next = (/** @type {number} */ step) => {
    for (let k = 1; k <= rows.rows.length; k++) {
      const index = (rows.at + step * k + rows.rows.length * k) % rows.rows.length;
      if (app.found?.hits[rows.rows[index].data.func]) { rows.pick(index); return; }
    }
  };
  return { id: which === "top" ? "topdown" : "bottomup", title: isTop ? "Top-down" : "Bottom-up", panel, draw, next, key, resize: () => rows.draw() };
}

/** Expands the hot path from the current row, and selects the last row that it expands.
 * @param {Rows<Item>} rows */
function openHot(rows) {
  const path = hotPath(rows.rows[rows.at]?.data), first = rows.at;
  path.forEach((_, step) => rows.toggle(first + step, true));
  rows.pick(first + Math.max(0, path.length - 1));
}

/** @param {import("../../data/tree/treerows.js").Callee[]} callees @param {string} path @returns {Item[]} */
function topItems(callees, path) {
  return callees.map(({ inside, ...costs }) => {
    const way = `${path}.${costs.func}.${costs.flags}`;
    return { ...costs, path: way, inside: once(() => topItems(inside(), way)) };
  });
}

/** @param {App} app @param {import("../../data/tree/treerows.js").Caller[]} callers @param {string} path @returns {Item[]} */
function bottomItems(app, callers, path) {
  return callers.map((caller) => {
    const way = `${path}.${caller.func}`;
    return { func: caller.func, total: caller.cost, own: 0, squares: caller.squares, path: way, more: caller.called, inside: once(() => bottomItems(app, callersOf(app.model, caller), way)) };
  });
}

/** Computes children on first use.
 * @param {() => Item[]} make */
function once(make) {
  /** @type {Item[] | null} */
  let made = null;
  return () => made ||= make();
}
