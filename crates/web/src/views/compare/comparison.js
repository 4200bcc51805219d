// @ts-check
// Comparison of two times of one recording: the baseline and the current selection.
import { Comparison } from "../../data/compare/compare.js";
import { amount, scaleOf } from "../../data/numbers.js";
import { selection } from "../../data/samples/select.js";
import { functionMenu } from "../actions.js";
import { changeColour, changeRows, describeChange, inOrder, isOneSided } from "./changes.js";
import { NONE } from "../../data/columns.js";
import { make } from "../elements/element.js";
import { Graph, keysOf } from "../graphs/graph.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */
/** @typedef {import("../../data/model.js").Costs} Costs */

/** Side of the comparison, as rates per second.
 * @param {Costs} costs @param {number} seconds @returns {import("../../data/compare/compare.js").Run} */
function run(costs, seconds) {
  const all = { n: costs.allN, cost: costs.all, squares: costs.allSquares };
  return { own: { n: costs.ownN, cost: costs.own, squares: costs.ownSquares }, all, whole: all, factor: 1 / seconds };
}

/** Sum of the costs of two selections of samples.
 * @param {Costs} one @param {Costs} other @returns {Costs} */
function bothOf(one, other) {
  const sum = (/** @type {Float64Array} */ a, /** @type {Float64Array} */ b) => a.map((value, at) => value + b[at]);
  const ownN = sum(one.ownN, other.ownN), alike = one.own === one.ownN;
  const own = alike ? ownN : sum(one.own, other.own), ownSquares = alike ? ownN : sum(one.ownSquares, other.ownSquares);
  return { ...one, ownN, own, ownSquares, all: one.all + other.all, allN: one.allN + other.allN, allSquares: one.allSquares + other.allSquares };
}

/** @param {App} app @returns {ViewPart} */
export function comparisonView(app) {
  const note = make("p", { class: "note" }), status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const graph = new Graph(app, { label: "Union of both times", down: true, tell: (text) => { status.textContent = text; } });
  /** @type {[number, number, string]} */
  let scale = [1, 1, " /s"];
  const sideButtons = sidesOf(app), end = make("button", { type: "button", text: "End the comparison", click: () => app.change({ base: null, view: "heat" }) });
  const rows = changeRows(app, {
    label: "Functions by their differences", what: "Function", name: (f) => app.label(f), full: (f) => app.model.name(f), scale: () => scale,
    act: (row) => app.change({ view: "sandwich", func: row.key }), menu: (row, x, y) => functionMenu(app, row.key, x, y), hit: (f) => !!app.found?.hits[f],
  });
  const panel = make("section", { class: "panel column" }, make("div", { class: "bar" }, sideButtons.element, end, note), graph.element, status, rows.element);
  let shown = "";
  const secondsOf = (/** @type {number} */ from, /** @type {number} */ to) => Math.max(app.seconds(Math.min(to, app.tables.span) - from + 1), 1e-9);
  const compare = () => {
    const { filters } = app, chosen = /** @type {import("../../data/samples/select.js").Selection} */ (app.model.chosen);
    const others = /** @type {any[]} */ (filters.filter((filter) => ["process", "comm", "threads", "notThreads"].includes(filter.kind)));
    const times = app.baseTimes(), seconds = times.reduce((sum, [from, to]) => sum + secondsOf(from, to), 0);
    const baseline = times.map(([from, to]) => selection(app.tables, [...others, { kind: "time", from, to }])), before = baseline.map((one) => app.model.count(one)).reduce(bothOf);
    const { tree, children } = /** @type {any} */ (app.model), runs = [run(before, seconds), run(app.costs, secondsOf(chosen.from, chosen.to))];
    const functions = new Comparison(tree, children, [[runs[0]], [runs[1]]], "rates", false);
    const found = functions.byKey(app.model.identity(), app.model.truncatedFunction() + 1, (f) => f < app.model.firstGroup);
    // The graph shows groups, too.
    const shown = app.model.bothSides(baseline), compared = !shown ? functions
      : new Comparison(shown.tree, shown.children, [[{ ...runs[0], own: shown.own[0] }], [{ ...runs[1], own: shown.own[1] }]], "rates", false);
    return { before, compared, found, chosen, sure: compared.sureNodes(new Map(found.rows.map((row) => [row.key, row]))) };
  };
  const draw = () => {
    const { base, side } = app.state;
    if (!base || !app.model.chosen) return;
    const { before, compared, found, chosen, sure } = app.model.once("comparison", `${app.model.costsKey} ${base}`, compare);
    const { tree } = compared, time = app.state.weight === "period" && app.tables.head.events[app.event]?.unit === "nanoseconds";
    scale = scaleOf(Math.max(compared.all.before, compared.all.after), time);
    graph.options.colour = (node) => changeColour(compared, node, sure, app.theme);
    graph.options.hatched = (node) => isOneSided(compared, node);
    graph.options.describe = (node) => describeChange(compared, node, node === NONE ? "all" : app.model.name(tree.func[node]), scale, sure);
    const key = `${app.model.treeKey} ${side}`;
    const picture = /** @type {any} */ ({ tree, children: compared.children, ...compared.union(side), title: "all" });
    graph.show(picture, key === shown ? graph.again(picture, graph.zoom) : NONE, key !== shown);
    shown = key;
    sideButtons.press();
    const marked = found.rows.filter((row) => row.own.marked || row.total.marked).length;
    const baseline = app.baseTimes().map(([from, to]) => app.timeText(from, to === NONE ? to : to + 1)).join(" and ");
    note.textContent = `Before: ${baseline}, ${amount(before.allN)} samples. After: ${app.seconds(chosen.from).toFixed(3)} s to ${app.seconds(Math.min(chosen.to, app.tables.span) + 1).toFixed(3)} s, ${amount(app.costs.allN)} samples. ` +
      `${marked ? `${marked} function${marked > 1 ? "s differ" : " differs"}` : "No function differs"} significantly. Red is more, blue less, grey is not significant, hatched is on one side only.`;
    rows.show(inOrder(app, found.rows, (f) => app.label(f)), true);
  };
  return { id: "compare", title: "Compare", panel, draw, resize: () => { graph.resize(); rows.draw(); }, ...keysOf([graph]), graphs: () => [[graph]] };
}

/** Buttons that select the side that determines widths.
 * @param {import("../shell.js").Shell} app */
export function sidesOf(app) {
  const buttons = /** @type {const} */ (["before", "both", "after"]).map((side) => make("button", { type: "button", "data-side": side, text: side, click: () => app.change({ side }) }));
  return {
    element: make("div", { role: "group", "aria-label": "Widths are of", class: "bar" }, ...buttons),
    press: () => { for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.side === app.state.side)); },
  };
}
