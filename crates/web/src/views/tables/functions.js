// @ts-check
// Table of functions, and the sandwich: one function between its callers and its callees.
import { sandwich } from "../../data/tree/around.js";
import { NONE } from "../../data/columns.js";
import { baseName } from "../../data/names.js";
import { percent, spread, unbroken } from "../../data/numbers.js";
import { waitCosts } from "../../data/waits.js";
import { functionMenu, listenToKeys, rowKey } from "../actions.js";
import { make } from "../elements/element.js";
import { Graph, keysOf } from "../graphs/graph.js";
import { Rows } from "../elements/rows.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */

/** Table of functions.
 * @param {App} app @param {boolean} isWide @param {(f: number) => void} act @returns {Rows<number>} */
function functionRows(app, isWide, act) {
  const cost = (/** @type {"own" | "total"} */ which) => (/** @type {number} */ f) => {
    const value = app.model.functionCosts()[which][f];
    return value ? `${app.cost(value)}  ${share(value)}` : "";
  };
  const share = (/** @type {number} */ value) => value ? percent(value, app.costs.all) : "";
  const range = (/** @type {"own" | "total"} */ which) => (/** @type {number} */ f) => {
    const costs = app.model.functionCosts();
    return spread(costs[which][f], app.costs.all, (which === "own" ? costs.ownSquares : costs.squares)[f], app.costs.allSquares);
  };
  /** @type {import("../elements/rows.js").Column<number>[]} */
  const columns = [
    { title: "Own", width: "var(--cost)", kind: "number", sort: "own", text: cost("own"), brief: { width: "5.5em", text: (f) => share(app.model.functionCosts().own[f]) } },
    { title: "Inclusive", width: "var(--cost)", kind: "number", sort: "total", text: cost("total"), drop: 3 },
    { title: "Function", width: "minmax(12em, 1fr)", kind: "name", sort: "name", text: (f) => app.label(f), hint: (f) => app.model.name(f), mark: (f) => app.found?.hits[f] ? "hit" : "" },
  ];
  if (isWide) {
    columns.splice(1, 0, { title: "95 %", width: "8.5em", kind: "where", text: range("own"), drop: 1 });
    columns.splice(3, 0, { title: "95 %", width: "8.5em", kind: "where", text: range("total"), drop: 1 });
    if (app.tables.head.waits) columns.push({ title: "Wait", width: "7em", kind: "where", text: (f) => waitOf(app, f), hidden: () => !waitCosts(app.model), drop: 3 });
    columns.push(
      { title: "Module", width: "minmax(6em, 12em)", kind: "where", sort: "module", text: (f) => baseName(app.model.module(f)), hint: (f) => app.model.module(f), drop: 2 },
      { title: "Source", width: "minmax(6em, 14em)", kind: "where", text: (f) => baseName(app.model.file(f)), hint: (f) => app.model.file(f), drop: 2 });
  }
  /** @type {Rows<number>} */
  const rows = new Rows({
    label: "Functions", columns, act,
    sorted: () => orderOf(app, isWide), sort: (by) => app.change({ sort: by }, true),
    swatch: (f) => app.swatch(f), menu: (f, x, y) => functionMenu(app, f, x, y),
  });
  listenToKeys(rows, (event) => rowKey(app, rows, (f) => f, event));
  return rows;
}

/** Kind of wait of most of a function's own time; empty if it has none.
 * @param {App} app @param {number} f */
function waitOf(app, f) {
  const kind = waitCosts(app.model)?.kind[f] ?? -1;
  return kind < 0 ? "" : app.waitName(kind);
}

/** Order of the functions. A narrow table has no column of modules.
 * @param {App} app @param {boolean} isWide */
const orderOf = ({ state: { sort } }, isWide) => sort === "module" && !isWide ? "own" : sort;

/** Functions that match the search, in the selected order.
 * @param {App} app @param {boolean} isWide */
function sortedFunctions(app, isWide) {
  const { own, total, n } = app.model.functionCosts(), found = [], hits = app.found?.hits;
  for (let f = 0; f < n.length; f++) if (n[f] > 0 && (!hits || hits[f])) found.push(f);
  const by = app.state.sort === "total" ? total : own;
  const order = orderOf(app, isWide);
  if (order === "name") return found.sort((a, b) => app.label(a) < app.label(b) ? -1 : 1);
  if (order === "module") return byText(found, (f) => baseName(app.model.module(f)), (a, b) => by[b] - by[a] || a - b);
  return found.sort((a, b) => by[b] - by[a] || total[b] - total[a] || a - b);
}

/** Functions by a text, empty ones last; equal ones by another order.
 * @param {number[]} list @param {(f: number) => string} textOf @param {(a: number, b: number) => number} next */
function byText(list, textOf, next) {
  const texts = new Map(list.map((f) => [f, textOf(f)])), text = (/** @type {number} */ f) => texts.get(f) || "\uffff";
  return list.sort((a, b) => text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : next(a, b));
}

/** @param {App} app @returns {ViewPart} */
export function functionsView(app) {
  const rows = functionRows(app, true, (f) => app.change({ view: "sandwich", func: f }));
  const panel = make("section", { class: "panel column" }, rows.element);
  return { id: "functions", title: "Functions", panel, draw: () => rows.show(sortedFunctions(app, true), true), resize: () => rows.draw(),
    key: (event) => rowKey(app, rows, (f) => f, event),
    next: (step) => rows.pick((rows.at + step + rows.rows.length) % Math.max(1, rows.rows.length)) };
}

/** @param {App} app @returns {ViewPart} */
export function sandwichView(app) {
  const rows = functionRows(app, false, (f) => app.change({ func: f }));
  const head = make("h3"), whole = make("p", { class: "note" }), status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const tell = (/** @type {string} */ text) => { status.textContent = text; };
  const callers = new Graph(app, { label: "Callers", down: false, tell, fits: true });
  const callees = new Graph(app, { label: "Callees", down: true, tell, fits: true });
  const right = make("div", { class: "halves" }, head, whole, make("h4", { text: "Callers" }), callers.element, make("h4", { text: "Callees" }), callees.element, status);
  const panel = make("section", { class: "panel beside" }, rows.element, right);
  let shown = "";
  const draw = () => {
    const functions = sortedFunctions(app, false);
    rows.show(functions, true);
    const f = app.state.func >= 0 && app.state.func < app.model.functions ? app.state.func : functions[0] ?? -1;
    const index = functions.indexOf(f);
    if (index >= 0 && rows.at !== index) rows.pick(index);
    if (f < 0) return;
    const costs = app.model.functionCosts(), { callers: above, callees: below } = sandwich(app.model, f);
    head.textContent = app.label(f) + unbroken(` — own ${app.share(costs.own[f], costs.ownSquares[f])}: ${app.costText(costs.own[f])}; inclusive ${app.share(costs.total[f], costs.squares[f])}: ${app.costText(costs.total[f])}`);
    app.showWhole(whole, f);
    const key = `${f} ${app.model.treeKey}`, isFresh = key !== shown;
    if (isFresh) tell("");
    shown = key;
    // Shares refer to the total, not to the function.
    for (const [graph, picture] of /** @type {[Graph, any][]} */ ([[callers, above], [callees, below]])) {
      graph.options.describe = (node) => app.describe({ ...picture, all: app.costs.all, allN: app.costs.allN }, node, graph.zoom);
      graph.show(picture, isFresh ? NONE : graph.again(picture, graph.zoom), isFresh);
    }
  };
  return { id: "sandwich", title: "Sandwich", panel, draw, resize: () => { rows.draw(); callers.resize(); callees.resize(); },
    ...keysOf([callers, callees], (event) => rowKey(app, rows, (f) => f, event)), graphs: () => [[callers, callees]],
    next: (step) => { rows.pick((rows.at + step + rows.rows.length) % Math.max(1, rows.rows.length)); } };
}
