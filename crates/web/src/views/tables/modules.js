// @ts-check
// Tables of modules and source files.
import { functionsOfFile } from "../../data/tree/around.js";
import { moduleColour } from "../../data/colour.js";
import { baseName } from "../../data/names.js";
import { percent, spread } from "../../data/numbers.js";
import { make } from "../elements/element.js";
import { openMenu } from "../elements/menu.js";
import { Rows } from "../elements/rows.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */

/** @param {App} app @returns {ViewPart} */
export function modulesView(app) {
  let sort = "own";
  const share = (/** @type {number} */ value) => value ? percent(value, app.costs.all) : "";
  const table = (/** @type {string} */ label, /** @type {() => import("../../data/model.js").KeyCosts} */ costs, /** @type {(key: number) => string} */ name, /** @type {any} */ options) => {
    const cost = (/** @type {"own" | "total"} */ which) => (/** @type {number} */ key) => {
      const value = costs()[which][key];
      return value ? `${app.cost(value)}  ${share(value)}` : "";
    };
    /** @type {Rows<number>} */
    const rows = new Rows({
      label, ...options, sorted: () => sort, sort: (by) => { sort = by; draw(); },
      columns: [
        { title: "Own", width: "var(--cost)", kind: "number", sort: "own", text: cost("own"), brief: { width: "5.5em", text: (key) => share(costs().own[key]) } },
        { title: "95 %", width: "8.5em", kind: "where", text: (key) => spread(costs().own[key], app.costs.all, costs().ownSquares[key], app.costs.allSquares), drop: 1 },
        { title: "Inclusive", width: "var(--cost)", kind: "number", sort: "total", text: cost("total"), drop: 3 },
        { title: label === "Modules" ? "Module" : "Source file", width: "minmax(10em, 1fr)", kind: "name", sort: "name", text: name },
      ],
    });
    return rows;
  };
  const keys = (/** @type {import("../../data/model.js").KeyCosts} */ costs, /** @type {(key: number) => string} */ name) => {
    const found = [...costs.n.keys()].filter((key) => costs.n[key] > 0), by = sort === "total" ? costs.total : costs.own;
    return sort === "name" ? found.sort((a, b) => name(a) < name(b) ? -1 : 1) : found.sort((a, b) => by[b] - by[a] || costs.total[b] - costs.total[a] || a - b);
  };
  const modules = table("Modules", () => app.model.moduleCosts(), (module) => app.tables.head.modules[module].path, {
    act: (/** @type {number} */ module) => app.addFilter({ kind: "module", at: module }),
    swatch: (/** @type {number} */ module) => moduleColour(app.ranks[module], 2, app.theme),
    menu: (/** @type {number} */ module, /** @type {number} */ x, /** @type {number} */ y) => openMenu([
      { title: baseName(app.tables.head.modules[module].path) },
      { text: "Only this module", key: "d", run: () => app.addFilter({ kind: "module", at: module }) },
      { text: "Hide this module", key: "D", run: () => app.addFilter({ kind: "hideModule", at: module }) },
      { text: "Merge this module", key: "g", run: () => app.addFilter({ kind: "merge", at: module }) },
    ], x, y),
  });
  const open = (/** @type {number} */ file) => {
    const [func] = functionsOfFile(app.model, file);
    if (func !== undefined) app.change({ view: "source", func });
  };
  const files = table("Source files", () => app.model.fileCosts(), (file) => app.tables.head.names[file], { act: open });
  const none = make("p", { class: "note", text: "No source files: the modules have no debug information here. The view Files shows the reason." });
  const panel = make("section", { class: "panel stacked" }, make("h3", { text: "Modules" }), modules.element, make("h3", { text: "Source files" }), files.element, none);
  const draw = () => {
    modules.show(keys(app.model.moduleCosts(), (module) => app.tables.head.modules[module].path), true);
    const all = keys(app.model.fileCosts(), (file) => app.tables.head.names[file]);
    files.show(all, true);
    for (const rows of [modules, files]) rows.shrink();
    files.element.hidden = all.length === 0;
    none.hidden = all.length > 0;
  };
  return { id: "modules", title: "Modules", panel, draw, resize: () => { modules.draw(); files.draw(); } };
}
