// @ts-check
// Comparison of two times of one recording: the baseline and the current selection.
import { compareTimes, measureOf, scaleOfTimes } from "../../data/compare/times.js";
import { amount } from "../../data/numbers.js";
import { functionMenu } from "../actions.js";
import { changeColour, changeRows, changedText, describeChange, inOrder, isOneSided } from "./changes.js";
import { NONE } from "../../data/columns.js";
import { make } from "../elements/element.js";
import { Graph, keysOf } from "../graphs/graph.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */

/** Names of the sides. */
const SIDES = /** @type {const} */ (["baseline", "selection"]);

/** @param {App} app @returns {ViewPart} */
export function comparisonView(app) {
  const note = make("p", { class: "note" }), status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const graph = new Graph(app, { label: "Union of both times", down: true, tell: (text) => { status.textContent = text; } });
  /** @type {[number, number, string]} */
  let scale = [1, 1, " %"];
  const sideButtons = sidesOf(app, SIDES), end = make("button", { type: "button", text: "End the comparison", click: () => app.change({ base: null, view: "heat" }) });
  const rows = changeRows(app, {
    label: "Functions by their differences", what: "Function", name: (f) => app.label(f), full: (f) => app.model.name(f), scale: () => scale, sides: SIDES,
    act: (row) => app.change({ view: "sandwich", func: row.key }), menu: (row, x, y) => functionMenu(app, row.key, x, y), hit: (f) => !!app.found?.hits[f],
  });
  const panel = make("section", { class: "panel column" }, make("div", { class: "bar" }, sideButtons.element, end, note), graph.element, status, rows.element);
  let shown = "";
  const secondsOf = (/** @type {number} */ from, /** @type {number} */ to) => Math.max(app.seconds(Math.min(to, app.tables.span) - from + 1), 1e-9);
  const draw = () => {
    const { base, side } = app.state;
    if (!base || !app.model.chosen) return;
    const measure = measureOf(app.tables.head.events[app.event], app.model.weighs ? app.state.weight : "samples");
    const { before, compared, rows: changes, tested, chosen, sure } = app.model.once("comparison", `${app.model.costsKey} ${base}`, () => compareTimes(app.model, app.baseTimes(), app.filters, secondsOf, measure));
    const { tree } = compared;
    scale = scaleOfTimes(compared, measure);
    graph.options.colour = (node) => changeColour(compared, node, sure, app.theme);
    graph.options.hatched = (node) => isOneSided(compared, node);
    graph.options.describe = (node) => describeChange(compared, node, node === NONE ? "all" : app.model.name(tree.func[node]), scale, sure, 0, SIDES);
    const key = `${app.model.treeKey} ${side}`;
    const picture = /** @type {any} */ ({ tree, children: compared.children, ...compared.union(side), title: "all" });
    graph.show(picture, key === shown ? graph.again(picture, graph.zoom) : NONE, key !== shown);
    shown = key;
    sideButtons.press();
    const baseline = app.baseTimes().map(([from, to]) => app.timeText(from, to === NONE ? to : to + 1)).join(" and ");
    const unit = measure.nanoseconds ? "Costs are times per second of the recording." : "Costs are shares of each time.";
    note.textContent = `Baseline: ${baseline}, ${amount(before.allN)} samples. Selection: ${app.seconds(chosen.from).toFixed(3)} s to ${app.seconds(Math.min(chosen.to, app.tables.span) + 1).toFixed(3)} s, ${amount(app.costs.allN)} samples. ${unit} ` +
      `${changedText(changes, tested)} Red is more in the selection, blue less, grey is not significant, hatched is on one side only.`;
    rows.show(inOrder(app, changes, (f) => app.label(f)), true);
  };
  return { id: "compare", title: "Compare", panel, draw, resize: () => { graph.resize(); rows.draw(); }, ...keysOf([graph]), graphs: () => [[graph]] };
}

/** Buttons that select the side that determines widths.
 * @param {import("../shell.js").Shell} app @param {readonly [string, string]} names of the sides */
export function sidesOf(app, names) {
  const texts = { before: names[0], both: "both", after: names[1] };
  const buttons = /** @type {const} */ (["before", "both", "after"]).map((side) => make("button", { type: "button", "data-side": side, text: texts[side], click: () => app.change({ side }) }));
  return {
    element: make("div", { role: "group", "aria-label": "Widths are of", class: "bar" }, ...buttons),
    press: () => { for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.side === app.state.side)); },
  };
}
