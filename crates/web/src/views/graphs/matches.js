// @ts-check
// Matches of a search in a flame graph: those of the zoomed part, and those outside of it.
import { NONE } from "../../data/columns.js";
import { layout } from "../../data/tree/layout.js";
import { nodeAt } from "../../data/tree/around.js";
import { pathTo } from "../../data/tree/tree.js";

/** @typedef {import("../shell.js").Shell} Shell */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("../../data/tree/around.js").CostPicture} CostPicture */

/** Frames of a graph that match the search and are wide enough to be drawn, in descending order of cost.
 * @param {Shell} app @param {CostPicture} picture @param {import("../../data/tree/layout.js").Box[][]} rows */
function matchesIn(app, { tree, total }, rows) {
  const hits = /** @type {Uint8Array} */ (app.found?.hits), found = new Set();
  for (const row of rows) for (const { node } of row) if (node !== NONE && hits[tree.func[node]]) found.add(node);
  return [...found].sort((a, b) => total[b] - total[a] || a - b);
}

/** Matches outside of the zoomed part, as nodes of the picture of everything.
 * @param {Shell} app @param {number} width of the graph @returns {number[]} */
export function matchesOutside(app, width) {
  const { zoom } = app.state;
  if (!app.found || !zoom.length || !width) return [];
  const whole = app.model.picture([]), { tree } = whole, end = nodeAt(whole, zoom), callers = new Set(pathTo(tree, end));
  const isInside = (/** @type {number} */ node) => callers.has(node) || pathTo(tree, node).includes(end);
  return matchesIn(app, whole, layout(whole, NONE, width)).filter((node) => !isInside(node));
}

/** Moves the focus to a graph. It stays in the search field, since Enter would zoom to the match instead of showing the next one.
 * @param {Graph} graph */
function enter(graph) {
  if (globalThis.document?.activeElement?.id !== "search") graph.canvas.focus();
}

/** Selects the next match of a graph, beginning with the costliest one; after the last of the zoomed part, it zooms out
 * to the matches outside.
 * @param {Shell} app @param {Graph} graph @param {number} step */
export function nextMatch(app, graph, step) {
  if (!app.found) return;
  const all = matchesIn(app, /** @type {CostPicture} */ (graph.picture), graph.rows), at = all.indexOf(graph.at);
  const place = at >= 0 ? at + step : step > 0 ? 0 : all.length - 1, isOver = place < 0 || place >= all.length;
  const outside = isOver ? matchesOutside(app, graph.width) : [];
  if (outside.length) {
    app.change({ zoom: [] });
    enter(graph);
    graph.pick(/** @type {number} */ (outside.at(step > 0 ? 0 : -1)));
  } else if (all.length) {
    enter(graph);
    graph.pick(all[(place + all.length) % all.length]);
  } else {
    // All matches are too narrow to be drawn: zoom to the costliest one.
    const way = app.model.widest(app.found.hits);
    if (way.length) app.change({ zoom: way });
  }
}
