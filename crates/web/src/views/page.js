// @ts-check
// Composition of the page of a profile: its views, the toolbar, the timeline.
import { eventName } from "../data/names.js";
import { amount, percent } from "../data/numbers.js";
import { wordOf } from "../data/samples/values.js";
import { chip, drawChips } from "./chips.js";
import { comparisonView } from "./compare/comparison.js";
import { byId, select } from "./elements/element.js";
import { filesView } from "./tables/files.js";
import { drawLegend, flameView } from "./graphs/flame.js";
import { startFrame } from "./frame.js";
import { functionsView, sandwichView } from "./tables/functions.js";
import { heatView } from "./graphs/heatmap.js";
import { Timeline } from "./graphs/timeline.js";
import { showTitle, titleOf } from "./title.js";
import { revealTab, startToolbar } from "./toolbar.js";
import { sourceView } from "./tables/lines.js";
import { modulesView } from "./tables/modules.js";
import { overviewView } from "./overview.js";
import { orderView } from "./graphs/timeorder.js";
import { threadsView } from "./tables/threads.js";
import { treeView } from "./tables/trees.js";

/** @typedef {import("./app.js").App} App */

const KEYS = [
  ["/", "search; a pattern is between slashes; Enter: the next match, ↓: into the view"], ["n, N", "the next, the previous match"], ["Backspace", "undo the last step"],
  ["click, tap", "select a frame, row or cell; its description stays below"], ["double click, second tap", "zoom to a frame"], ["Escape", "close, or zoom out"], ["Arrow keys", "from frame to frame, row to row, cell to cell"], ["Enter", "zoom, open, choose, follow a jump; from a tab: into the view, as ↓"],
  ["m, right click", "menu; its entries show their keys, which act on the frame under the mouse, else on the selection"], ["c", "callers and callees"], ["a", "source and instructions"],
  ["f, o, x", "focus on a function; only stacks with it; none of these"], ["h, u, i", "hide it; charge it to its callers; fold its callees"],
  ["r, R", "collapse its recursion; all recursion"], ["p", "charge parts (.cold, .part) to their functions"], ["d, D, k", "only its module; without that; only the kernel"], ["g, G", "merge its module; all modules"],
  ["t", "only the thread of a lane"], ["e", "in trees: open the hot path"], ["1 to 9, 0", "the views"], ["?", "this list"],
];

/** @param {App} app */
export function startPage(app) {
  // First, since the views over time use its axis.
  const lanes = new Timeline(app);
  const flame = (/** @type {boolean} */ down) => flameView(app, down, { legend: (element) => drawLegend(app, element) });
  const views = [overviewView(app), flame(false), flame(true), sandwichView(app), treeView(app, "top"), treeView(app, "bottom"),
    functionsView(app), modulesView(app), heatView(app), orderView(app), threadsView(app), sourceView(app), filesView(app), comparisonView(app)];
  prepare(app);
  startTools(app);
  startFrame(app, titleOf(app), views, {
    isShown: (view) => view.id !== "compare" || app.state.base !== null,
    keys: KEYS,
    refreshed: () => {
      showTitle(app);
      showTools(app);
      showFilters(app);
      revealTab();
      lanes.tell();
      lanes.draw();
    },
  });
  startToolbar();
}

/** Precomputes data for likely clicks while the browser is idle.
 * @param {App} app */
function prepare(app) {
  const later = globalThis.requestIdleCallback || ((/** @type {() => void} */ act) => setTimeout(act, 200));
  later(() => app.model.prepare());
}

/** Shows the filters, and the number of samples that pass them.
 * @param {App} app */
function showFilters(app) {
  const { base } = app.state, more = [];
  if (base) {
    more.push(chip(`baseline ${app.baseTimes().map(([from, to]) => app.timeText(from, to)).join(" and ")}`, "Remove the baseline",
      () => app.change({ base: null, view: app.state.view === "compare" ? "heat" : app.state.view }), "base"));
  }
  drawChips(app, more, "No filters: right click, or m, on a frame, a row or a lane opens the menu.");
  const { samples, allN, ends } = app.costs, { rooted } = app.tables.head;
  const known = ends.reduce((sum, count) => sum + count, 0), cut = ends.reduce((sum, count, end) => sum + (rooted[end] ? 0 : count), 0);
  const of = app.eventCounts[app.event];
  byId("selected").textContent = `${amount(allN)} of ${amount(of)} samples` + (allN < samples ? ` (${amount(samples)} before filters of frames)` : "") +
    `; truncated ${percent(cut, known)}`;
}

/** @param {App} app */
function startTools(app) {
  const { head } = app.tables, seen = [...head.events.keys()].filter((event) => app.eventCounts[event] > 0);
  byId("event-label").hidden = seen.length < 2;
  byId("weight-label").hidden = !app.model.weighs;
  select("event").append(...seen.map((event) => new Option(`${eventName(head.events[event].name)} (${amount(app.eventCounts[event])})`, String(event))));
  if (head.cgroups) select("group").append(new Option("control group", "cgroup"));
  for (const value of head.values ?? []) select("group").append(new Option(`${value.kind} ${value.name}`, wordOf(value)));
  const bind = (/** @type {string} */ id, /** @type {(value: string) => any} */ patch) =>
    byId(id).addEventListener("change", () => app.change(patch(select(id).value)));
  byId("event").addEventListener("change", () => app.showEvent(Number(select("event").value)));
  bind("kernel", (value) => ({ kernel: value, zoom: [] }));
  bind("weight", (value) => ({ weight: value }));
  bind("truncated", (value) => ({ truncated: value, zoom: [] }));
  bind("group", (value) => ({ group: value, zoom: [] }));
  bind("colour", (value) => ({ colour: value }));
  bind("names", (value) => ({ names: value }));
}

/** @param {App} app */
function showTools(app) {
  const { state } = app;
  document.documentElement.dataset.weight = state.weight;
  select("event").value = String(app.event);
  byId("kernel-label").hidden = app.event !== app.tables.head.offCpu;
  for (const id of /** @type {const} */ (["weight", "truncated", "group", "colour", "names", "kernel"])) select(id).value = state[id];
}
