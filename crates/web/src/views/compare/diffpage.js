// @ts-check
// Composition of the page of a comparison.
import { leanColour } from "../../data/colour.js";
import { functionMenu } from "../actions.js";
import { bothSidesView } from "./bothsides.js";
import { BEFORE_AFTER, changeRows, changedText, inOrder } from "./changes.js";
import { drawChips } from "../chips.js";
import { sidesOf } from "./comparison.js";
import { diffOverview } from "./diffoverview.js";
import { byId, make, select } from "../elements/element.js";
import { flameView } from "../graphs/flame.js";
import { startFrame } from "../frame.js";
import { revealTab, startToolbar } from "../toolbar.js";
import { openMenu } from "../elements/menu.js";

/** @typedef {import("./diffapp.js").DiffApp} DiffApp */
/** @typedef {import("../shell.js").ViewPart} ViewPart */

const KEYS = [
  ["/", "search; a pattern is between slashes; Enter: the next match, ↓: into the view"], ["n, N", "the next, the previous match"], ["Backspace", "undo the last step"],
  ["click, tap", "select a frame, row or cell; its description stays below"], ["double click, second tap", "zoom to a frame"], ["Escape", "close, or zoom out"], ["Arrow keys", "from frame to frame, row to row"], ["Enter", "zoom, open, choose; from a tab: into the view, as ↓"],
  ["m, right click", "menu; its entries show their keys, which act on the frame under the mouse, else on the selection"], ["c", "callers and callees, before and after"],
  ["f, o, x", "focus on a function; only stacks with it; none of these"], ["h, u, i", "hide it; charge it to its callers; fold its callees"],
  ["r, R", "collapse its recursion; all recursion"], ["p", "charge parts (.cold, .part) to their functions"], ["d, D, k", "only its module; without that; only the kernel"], ["g, G", "merge its module; all modules"],
  ["1 to 9, 0", "the views"], ["?", "this list"],
];

/** @param {DiffApp} app */
export function startDiffPage(app) {
  document.documentElement.dataset.kind = "diff";
  select("names").addEventListener("change", () => app.change({ names: /** @type {any} */ (select("names").value) }));
  const views = [diffOverview(app), union(app, false), union(app, true), bothSidesView(app), functionsView(app), modulesView(app)];
  startFrame(app, app.tables.head.title, views, {
    keys: KEYS,
    refreshed: () => {
      revealTab();
      select("names").value = app.state.names;
      drawChips(app, [], "No filters: right click, or m, on a frame or a row opens the menu.");
    },
  });
  startToolbar();
}

/** View of the union of both sides' stacks.
 * @param {DiffApp} app @param {boolean} down @returns {ViewPart} */
function union(app, down) {
  const sides = sidesOf(app, BEFORE_AFTER);
  return flameView(app, down, { tools: [sides.element], hatched: (node) => app.hatched(node), legend: (element) => { sides.press(); drawLegend(app, element); } });
}

/** Draws the legend of colours.
 * @param {DiffApp} app @param {HTMLElement} legend */
function drawLegend(app, legend) {
  const entry = (/** @type {string} */ colour, /** @type {string} */ text) => {
    const box = make("i", { class: "swatch", "aria-hidden": "true" });
    box.style.background = colour;
    return make("span", {}, box, text);
  };
  legend.replaceChildren(entry(leanColour(0.6, true, app.theme), "more"), entry(leanColour(-0.6, true, app.theme), "less"), entry(leanColour(0, false, app.theme), "not significant"),
    make("span", {}, make("i", { class: "swatch hatched", "aria-hidden": "true" }), "on one side only"));
}

/** @param {DiffApp} app @returns {ViewPart} */
function functionsView(app) {
  const rows = changeRows(app, {
    label: "Functions by their changes", what: "Function", name: (f) => app.label(f), full: (f) => app.model.name(f), module: (f) => app.model.module(f), scale: () => app.scale, notCompared: (f) => app.model.notCompared(f),
    act: (row) => app.change({ view: "sandwich", func: row.key }), menu: (row, x, y) => functionMenu(app, row.key, x, y), hit: (f) => !!app.found?.hits[f],
  });
  const note = make("p", { class: "note" }), panel = make("section", { class: "panel column" }, note, rows.element);
  const draw = () => {
    const all = inOrder(app, app.rows, (f) => app.label(f), (f) => app.model.notCompared(f)), [own, total] = app.model.tested || [0, 0];
    rows.show(all.filter((row) => !app.found || app.found.hits[row.key]), true);
    const { normalized } = app.tables.head;
    note.textContent = `${normalized.slice(0, 1).toUpperCase()}${normalized.slice(1)}. ${changedText(all, [own, total])} Changed functions come first, functions that are not compared last; a click shows both sides.`;
  };
  return { id: "functions", title: "Functions", panel, draw, resize: () => rows.draw(),
    next: (step) => rows.pick((rows.at + step + rows.rows.length) % Math.max(1, rows.rows.length)) };
}

/** @param {DiffApp} app @returns {ViewPart} */
function modulesView(app) {
  const { modules } = app.tables.head;
  const rows = changeRows(app, {
    label: "Modules by their changes", what: "Module", name: (module) => modules[module].path, full: (module) => build(modules[module]), scale: () => app.scale, notCompared: (module) => modules[module].paired ? 0 : 1,
    act: (row) => app.addFilter({ kind: "module", at: row.key }),
    menu: (row, x, y) => openMenu([
      { title: modules[row.key].path },
      { text: "Only this module", key: "d", run: () => app.addFilter({ kind: "module", at: row.key }) },
      { text: "Hide this module", key: "D", run: () => app.addFilter({ kind: "hideModule", at: row.key }) },
      { text: "Merge this module", key: "g", run: () => app.addFilter({ kind: "merge", at: row.key }) },
    ], x, y),
  });
  const panel = make("section", { class: "panel column" }, rows.element);
  return { id: "modules", title: "Modules", panel, draw: () => rows.show(inOrder(app, app.model.moduleRows(), (module) => modules[module].path, (module) => modules[module].paired ? 0 : 1), true), resize: () => rows.draw() };
}

/** @param {{ path: string, before: number, after: number, sameFile: number | null }} module */
function build({ path, before, after, sameFile }) {
  if (!before || !after) return `${path}: ${before ? "before" : "after"} only`;
  return `${path}: ${sameFile === 1 ? "the same file on both sides" : sameFile === 0 ? "another file after" : "unknown if the file is the same"}`;
}
