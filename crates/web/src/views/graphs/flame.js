// @ts-check
// Flame graph and icicle, with the path to the zoomed frame and a legend of colours.
import { nodeAt } from "../../data/tree/around.js";
import { kindColour, moduleColour } from "../../data/colour.js";
import { baseName } from "../../data/names.js";
import { pathTo } from "../../data/tree/tree.js";
import { openMenu } from "../elements/menu.js";
import { make } from "../elements/element.js";
import { cutTexts } from "../elements/fit.js";
import { Graph } from "./graph.js";
import { matchesOutside, nextMatch } from "./matches.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../shell.js").Shell} Shell */
/** @typedef {import("../shell.js").ViewPart} ViewPart */
/** @typedef {import("../../data/tree/around.js").CostPicture} CostPicture */

/** Number of modules in the legend. */
const SHOWN = 7;

/** @param {Shell} app @param {boolean} down
 * @param {{ legend: (element: HTMLElement) => void, tools?: HTMLElement[], hatched?: (node: number) => boolean }} parts
 * @returns {ViewPart} */
export function flameView(app, down, { legend: drawLegend, tools = [], hatched }) {
  const title = down ? "Icicle" : "Flame graph", crumbs = make("nav", { class: "crumbs", "aria-label": "Path to the zoomed frame" });
  const legend = make("div", { class: "legend" }), status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const graph = new Graph(app, {
    label: title, down, hatched,
    tell: (text) => { status.textContent = text; },
    zoomed: (node) => app.change({ zoom: wayTo(/** @type {CostPicture} */ (graph.picture), node) }),
  });
  const panel = make("section", { class: "panel column" }, make("div", { class: "bar" }, ...tools, crumbs, legend), graph.element, status);
  let shown = "";
  const draw = () => {
    const picture = app.model.picture(app.state.zoom), node = nodeAt(picture, app.state.zoom), key = `${app.model.treeKey} ${app.state.zoom}`;
    drawCrumbs(app, crumbs, wayTo(picture, node));
    drawLegend(legend);
    graph.show(picture, node, key !== shown);
    shown = key;
    status.textContent = graph.describe(graph.at).join(" · ");
  };
  return {
    id: down ? "icicle" : "flame", title, panel, draw, resize: () => graph.resize(), next: (step) => nextMatch(app, graph, step),
    outside: () => matchesOutside(app, graph.width).length, key: (event) => graph.key(event), isHovered: () => graph.isHovered(), graphs: () => [[graph]],
  };
}

/** Path of functions from the outermost frame of a picture to a node.
 * @param {CostPicture} picture @param {number} node */
const wayTo = ({ tree }, node) => pathTo(tree, node).map((at) => tree.func[at]);

/** @param {Shell} app @param {HTMLElement} crumbs @param {number[]} path functions */
function drawCrumbs(app, crumbs, path) {
  const button = (/** @type {string} */ text, /** @type {number[]} */ zoom, /** @type {boolean} */ here, title = text) =>
    make("button", { type: "button", "aria-current": here ? "true" : false, title, click: () => app.change({ zoom }), text });
  const steps = path.map((f, index) => button(app.label(f), path.slice(0, index + 1), index === path.length - 1, app.model.name(f)));
  // A long path shows only its first and last frames.
  const cut = steps.length > 7 ? [...steps.slice(0, 2), make("span", { text: `… ${steps.length - 6} more …` }), ...steps.slice(-4)] : steps;
  crumbs.replaceChildren(button("all", [], !path.length), ...cut);
  cutTexts(steps.filter((step) => step.isConnected));
}

/** Draws the legend of colours.
 * @param {App} app @param {HTMLElement} legend */
export function drawLegend(app, legend) {
  const entry = (/** @type {string} */ colour, /** @type {string} */ text, /** @type {(() => void) | null} */ act) => {
    const box = make("i", { class: "swatch", "aria-hidden": "true" });
    box.style.background = colour;
    return act ? make("button", { type: "button", click: act, title: `${text}: actions` }, box, text) : make("span", {}, box, text);
  };
  /** @type {HTMLElement[]} */
  let made;
  if (app.state.colour === "kind") {
    made = [["user", "user"], ["inlined", "inlined"], ["kernel", "kernel"], ["jit", "JIT"], ["anonymous", "no file"]]
      .map(([kind, text]) => entry(kindColour(kind, 2, app.theme), text, null));
  } else {
    const own = app.model.moduleOwn(), modules = app.tables.head.modules;
    const busiest = [...own.keys()].filter((module) => own[module] > 0).sort((a, b) => own[b] - own[a]);
    made = busiest.slice(0, SHOWN).map((module) => entry(moduleColour(app.ranks[module], 2, app.theme), baseName(modules[module].path), () => {
      const area = legend.getBoundingClientRect();
      openMenu([
        { title: modules[module].path },
        { text: "Only this module", key: "d", run: () => app.addFilter({ kind: "module", at: module }) },
        { text: "Hide this module", key: "D", run: () => app.addFilter({ kind: "hideModule", at: module }) },
        { text: "Merge this module", key: "g", run: () => app.addFilter({ kind: "merge", at: module }) },
      ], area.left, area.bottom);
    }));
    if (busiest.length > SHOWN) made.push(make("span", { text: `and ${busiest.length - SHOWN} more` }));
  }
  made.push(entry(moduleColour(-1, 0, app.theme), "truncated, gap", null),
    make("span", {}, make("i", { class: "swatch dashed", "aria-hidden": "true" }), "guessed"),
    make("span", {}, make("i", { class: "swatch dotted", "aria-hidden": "true" }), "of other samples"),
    make("span", {}, make("em", { text: "inlined" })));
  legend.replaceChildren(...made);
}
