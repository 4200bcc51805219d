// @ts-check
// Two times of one recording beside each other: the baseline and what is chosen.
import { leanColour } from "../data/colour.js";
import { NONE } from "../data/columns.js";
import { differences, lean, unionWeights } from "../data/compare.js";
import { amount, percent } from "../data/numbers.js";
import { selection } from "../data/select.js";
import { functionMenu } from "./actions.js";
import { make } from "./element.js";
import { Graph } from "./graph.js";
import { Rows } from "./rows.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./app.js").ViewPart} ViewPart */
/** @typedef {import("../data/compare.js").Difference} Difference */

/** Differences a second, with their sign.
 * @param {number} value */
const signed = (value) => (value > 0 ? "+" : "") + value.toFixed(Math.abs(value) < 10 ? 2 : 0);

/** @param {App} app @returns {ViewPart} */
export function comparisonView(app) {
  const note = make("p", { class: "note" }), status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const graph = new Graph(app, { label: "Union of both times", down: true, tell: (text) => { status.textContent = text; } });
  /** @type {{ before: import("../data/compare.js").Side, after: import("../data/compare.js").Side } | null} */
  let sides = null;
  let whole = 1;
  const sideButtons = /** @type {const} */ (["before", "both", "after"]).map((side) => make("button", { type: "button", "data-side": side, text: side, click: () => app.change({ side }) }));
  const end = make("button", { type: "button", text: "End the comparison", click: () => app.change({ base: null, view: "heat" }) });
  /** @type {Rows<Difference>} */
  const rows = new Rows({
    label: "Functions by their differences",
    columns: [
      { title: "Function", width: "minmax(12em, 1fr)", kind: "name", text: (row) => app.label(row.func), hint: (row) => app.model.name(row.func), mark: (row) => app.found?.hits[row.func] ? "hit" : "" },
      { title: "Before, /s", width: "6.5em", kind: "number", text: (row) => sides ? (row.before / sides.before.seconds).toFixed(1) : "" },
      { title: "After, /s", width: "6.5em", kind: "number", text: (row) => sides ? (row.after / sides.after.seconds).toFixed(1) : "" },
      { title: "Inclusive, /s", width: "7em", kind: "number", sort: "total", text: (row) => signed(row.delta), mark: (row) => row.marked ? (row.delta > 0 ? "more" : "less") : "" },
      { title: "Own, /s", width: "7em", kind: "number", sort: "own", text: (row) => signed(row.ownDelta), mark: (row) => row.marked && row.ownDelta ? (row.ownDelta > 0 ? "more" : "less") : "" },
      { title: "95 % of inclusive", width: "10em", kind: "where", text: (row) => `${signed(row.low)} to ${signed(row.high)}` },
      { title: "Of all", width: "5.5em", kind: "number", text: (row) => percent(row.delta, whole) },
      { title: "More than chance", width: "10em", kind: "where", text: (row) => row.marked ? "yes" : "" },
    ],
    sorted: () => app.state.sort, sort: (by) => app.change({ sort: by }, true),
    act: (row) => app.change({ view: "sandwich", func: row.func }),
    menu: (row, x, y) => functionMenu(app, row.func, x, y),
  });
  const panel = make("section", { class: "panel column" }, make("div", { class: "bar" }, make("div", { role: "group", "aria-label": "Widths are of", class: "bar" }, ...sideButtons), end, note), graph.element, status, rows.element);
  let shown = "";
  const secondsOf = (/** @type {number} */ from, /** @type {number} */ to) => Math.max(app.seconds(Math.min(to, app.tables.span) - from + 1), 1e-9);
  const draw = () => {
    const { base, filters, side } = app.state, { chosen } = app.model;
    if (!base || !chosen) return;
    const others = /** @type {any[]} */ (filters.filter((filter) => ["process", "comm", "threads", "notThreads"].includes(filter.kind)));
    const before = { costs: app.model.count(selection(app.tables, [...others, { kind: "time", from: base[0], to: base[1] }])), seconds: secondsOf(base[0], base[1]) };
    const after = { costs: app.costs, seconds: secondsOf(chosen.from, chosen.to) };
    sides = { before, after };
    whole = Math.max(before.costs.allN / before.seconds, after.costs.allN / after.seconds);
    const list = differences(app.model, before, after), marked = new Uint8Array(app.model.truncatedFunction() + 1);
    for (const row of list) if (row.marked) marked[row.func] = 1;
    const { total, all } = unionWeights(before, after, side), tree = app.picture.tree;
    graph.options.colour = (node) => node === NONE ? leanColour(0, false, app.theme)
      : leanColour(lean(before.costs.n[node], before.seconds, after.costs.n[node], after.seconds), marked[tree.func[node]] === 1, app.theme);
    graph.options.describe = (node) => {
      const a = node === NONE ? before.costs.allN : before.costs.n[node], b = node === NONE ? after.costs.allN : after.costs.n[node];
      const name = node === NONE ? "all" : app.model.name(tree.func[node]);
      return [name, `before ${amount(a)} samples, ${(a / before.seconds).toFixed(1)} a second`, `after ${amount(b)} samples, ${(b / after.seconds).toFixed(1)} a second`,
        `difference ${signed(b / after.seconds - a / before.seconds)} a second` + (node !== NONE && !marked[tree.func[node]] ? "; of this function it may be chance" : "")];
    };
    const key = `${app.model.treeKey} ${side}`;
    graph.show({ ...app.picture, total, all }, key === shown ? graph.zoom : NONE, key !== shown);
    shown = key;
    for (const button of sideButtons) button.setAttribute("aria-pressed", String(button.dataset.side === side));
    const count = list.filter((row) => row.marked).length;
    note.textContent = `Before: ${app.seconds(base[0]).toFixed(3)} s to ${app.seconds(base[1] + 1).toFixed(3)} s, ${amount(before.costs.allN)} samples. After: ${app.seconds(chosen.from).toFixed(3)} s to ${app.seconds(Math.min(chosen.to, app.tables.span) + 1).toFixed(3)} s, ${amount(after.costs.allN)} samples. ` +
      `${count ? `${count} function${count > 1 ? "s differ" : " differs"}` : "No function differs"} by more than chance. Red is more, blue less, grey may be chance.`;
    if (app.state.sort === "total") list.sort((a, b) => Number(b.marked) - Number(a.marked) || Math.abs(b.delta) - Math.abs(a.delta) || a.func - b.func);
    rows.show(list, true);
  };
  return { id: "compare", title: "Compare", panel, draw, resize: () => { graph.resize(); rows.draw(); } };
}
