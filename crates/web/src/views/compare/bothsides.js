// @ts-check
// Both sides of one function: its callers and callees, before and after, on a common scale.
import { leanColour } from "../../data/colour.js";
import { NONE } from "../../data/columns.js";
import { lean } from "../../data/compare/compare.js";
import { sideCosts } from "../../data/compare/diff.js";
import { sandwich } from "../../data/tree/around.js";
import { ratio, scaled, unbroken } from "../../data/numbers.js";
import { functionMenu } from "../actions.js";
import { REASONS, changeRows, inOrder, range, withShare } from "./changes.js";
import { make } from "../elements/element.js";
import { Graph, keysOf } from "../graphs/graph.js";

/** @typedef {import("./diffapp.js").DiffApp} DiffApp */
/** @typedef {import("../../data/tree/around.js").CostPicture} CostPicture */

/** @param {DiffApp} app @returns {import("../shell.js").ViewPart} */
export function bothSidesView(app) {
  const status = make("p", { class: "status", role: "status", "aria-live": "polite" }), head = make("h3"), whole = make("p", { class: "note" }), facts = make("p", { class: "note" });
  const rows = changeRows(app, {
    label: "Functions", what: "Function", isNarrow: true, name: (f) => app.label(f), full: (f) => app.model.name(f), scale: () => app.scale, notCompared: (f) => app.model.notCompared(f),
    act: (row) => app.change({ func: row.key }), menu: (row, x, y) => functionMenu(app, row.key, x, y), hit: (f) => !!app.found?.hits[f],
  });
  const sides = /** @type {const} */ (["before", "after"]).map((side) => {
    const graph = (/** @type {string} */ label, /** @type {boolean} */ down) => new Graph(app, { label: `${label} ${side}`, down, tell: (text) => { status.textContent = text; } });
    return { side, title: make("h4"), callers: graph("Callers", false), callees: graph("Callees", true) };
  });
  const columns = sides.map(({ title, callers, callees }) => make("div", { class: "halves" }, title, callers.element, callees.element));
  const right = make("div", { class: "column" }, head, whole, facts, make("div", { class: "two" }, ...columns), status);
  const panel = make("section", { class: "panel beside" }, rows.element, right);
  let shown = "";
  const draw = () => {
    const list = inOrder(app, app.rows, (f) => app.label(f), (f) => app.model.notCompared(f)).filter((row) => !app.found || app.found.hits[row.key]);
    rows.show(list, true);
    const f = app.state.func >= 0 && app.state.func < app.model.functions ? app.state.func : list[0]?.key ?? app.rows[0]?.key ?? -1;
    const index = list.findIndex((row) => row.key === f);
    if (index >= 0 && rows.at !== index) rows.pick(index);
    if (f < 0) return;
    const row = app.model.rowOf?.get(f);
    head.textContent = app.label(f);
    app.showWhole(whole, f);
    const reason = REASONS[app.model.notCompared(f)];
    facts.textContent = reason ? `This function is ${reason}.` : row ? [["Own", row.own], ["Inclusive", row.total]].map(([word, change]) => tell(/** @type {string} */ (word), /** @type {any} */ (change), app)).join(" ") : "It is on neither side of the shown part.";
    const key = `${f} ${app.model.treeKey}`, isFresh = key !== shown, { compared } = app;
    shown = key;
    const pictures = sides.map(({ side }) => sandwich({ tree: compared.tree, costs: app.model.once(`side ${side}`, app.model.treeKey, () => sideCosts(compared, side)), functions: app.model.functions, moduleOf: () => app.model.moduleOf() }, f));
    // Both sides share a scale, so that a smaller cost is narrower.
    const all = Math.max(...pictures.map((one) => one.callees.all));
    sides.forEach(({ side, title, callers, callees }, at) => {
      const whole = compared.all[side];
      title.textContent = `${side === "before" ? "Before" : "After"}: callers above, callees below; ${unbroken(withShare(pictures[at].callees.all, whole, app.scale))}`;
      for (const [graph, picture] of /** @type {[Graph, CostPicture][]} */ ([[callers, pictures[at].callers], [callees, pictures[at].callees]])) {
        graph.options.colour = (node) => colourOf(app, picture.tree.func[node]);
        graph.options.describe = (node) => describe(app, picture, node, side);
        graph.show({ ...picture, all }, isFresh || graph.zoom >= picture.tree.n ? NONE : graph.zoom, isFresh);
      }
    });
  };
  const graphs = sides.flatMap((side) => [side.callers, side.callees]);
  return { id: "sandwich", title: "Both sides", panel, draw, resize: () => { rows.draw(); for (const graph of graphs) graph.resize(); },
    ...keysOf(graphs), graphs: () => sides.map(({ callers, callees }) => [callers, callees]),
    next: (step) => rows.pick((rows.at + step + rows.rows.length) % Math.max(1, rows.rows.length)) };
}

/** Costs on both sides as a sentence.
 * @param {string} word @param {import("../../data/compare/change.js").Change} change @param {DiffApp} app */
function tell(word, change, app) {
  const { scale } = app, interval = range(change, scale);
  if (change.before === 0 && change.after === 0) return `${word}: nothing.`;
  return `${word}: ${scaled(change.before, scale)} before, ${scaled(change.after, scale)} after, ${scaled(change.delta, scale, true)} ${ratio(change.before, change.after)}` +
    (interval ? ` (95 %: ${interval})` : "") + (change.marked ? ", significant." : ", not significant.");
}

/** Colour of a function by its inclusive change if that is significant, else by its own.
 * @param {DiffApp} app @param {number} f */
function colourOf(app, f) {
  const row = app.model.rowOf?.get(f);
  if (!row) return leanColour(0, false, app.theme);
  const change = row.total.marked ? row.total : row.own;
  return leanColour(lean(change.before, change.after), change.marked, app.theme);
}

/** @param {DiffApp} app @param {CostPicture} picture @param {number} node @param {"before" | "after"} side */
function describe(app, picture, node, side) {
  if (node === NONE) return [side];
  const f = picture.tree.func[node], row = app.model.rowOf?.get(f), lines = [app.model.name(f)];
  if (app.model.module(f)) lines.push(`in ${app.model.module(f)}`);
  lines.push(`here ${side}: ${scaled(picture.total[node], app.scale)}, ${picture.n[node].toLocaleString("en")} samples`);
  const reason = REASONS[app.model.notCompared(f)];
  if (reason) lines.push(reason);
  else if (row) lines.push(`everywhere ${tell("inclusive", row.total, app)}`);
  return lines;
}
