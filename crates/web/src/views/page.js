// @ts-check
// Puts the page together: the bar of tools, tabs, keys, and the view that is open.
import { amount, percent } from "../data/numbers.js";
import { fromFragment } from "../data/state.js";
import { drawChips } from "./chips.js";
import { comparisonView } from "./comparison.js";
import { byId, input, make, select } from "./element.js";
import { filesView } from "./files.js";
import { flameView } from "./flame.js";
import { functionsView, sandwichView } from "./functions.js";
import { heatView } from "./heatmap.js";
import { Lanes } from "./lanes.js";
import { sourceView } from "./lines.js";
import { closeMenu, startMenu } from "./menu.js";
import { modulesView } from "./modules.js";
import { overviewView } from "./overview.js";
import { hideTip } from "./tip.js";
import { orderView } from "./timeorder.js";
import { treeView } from "./trees.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./app.js").ViewPart} ViewPart */

const KEYS = [
  ["/", "search; a pattern stands between slashes"], ["n, N", "the next, the previous match"], ["Backspace", "undo the last step"],
  ["Escape", "close, or zoom out"], ["Arrow keys", "from frame to frame, row to row, cell to cell"], ["Enter", "zoom, open, choose"],
  ["m", "the menu of what is marked; its entries show their own keys"], ["c", "callers and callees"], ["a", "source and addresses"],
  ["f, o, x", "focus on a function; only stacks with it; none of these"], ["h, u, i", "hide it; charge it to its callers; fold what it calls"],
  ["r, R", "collapse its recursion; all recursion"], ["d, D, k", "only its module; without that; only the kernel"], ["g, G", "merge its module; all modules"],
  ["t", "only the thread of a lane"], ["e", "in trees: open the way of most cost"], ["1 to 9, 0", "the views"], ["?", "this list"],
];

/** @param {App} app */
export function startPage(app) {
  const { head } = app.tables;
  document.title = head.title;
  byId("title").textContent = head.title;
  byId("title").title = head.title;
  const views = [overviewView(app), flameView(app, false), flameView(app, true), sandwichView(app), treeView(app, "top"), treeView(app, "bottom"),
    functionsView(app), modulesView(app), heatView(app), orderView(app), sourceView(app), filesView(app), comparisonView(app)];
  const tabs = startTabs(app, views), lanes = new Lanes(app);
  startTools(app);
  startMenu();
  const current = () => views.find((view) => view.id === app.state.view && (view.id !== "compare" || app.state.base)) || views[0];
  /** @type {ViewPart | null} */
  let open = null;
  const refresh = () => {
    hideTip();
    const view = current();
    tabs(view);
    for (const one of views) one.panel.hidden = one !== view;
    showTools(app);
    drawChips(app);
    lanes.tell();
    lanes.draw();
    open = view;
    view.draw();
  };
  app.listeners.push(refresh);
  startSearch(app, () => open);
  startKeys(app, views);
  startTheme(app, refresh);
  addEventListener("popstate", () => { app.state = fromFragment(location.hash); app.refresh(); });
  addEventListener("hashchange", () => { app.state = fromFragment(location.hash); app.refresh(); });
  addEventListener("resize", () => { hideTip(); closeMenu(); open?.resize?.(); });
  app.refresh();
}

/** @param {App} app @param {ViewPart[]} views */
function startTabs(app, views) {
  const strip = byId("tabs"), main = byId("views");
  const buttons = views.map((view, index) => {
    const tab = make("button", { type: "button", role: "tab", id: `tab-${view.id}`, "aria-controls": `view-${view.id}`, click: () => app.change({ view: view.id }), text: view.title });
    view.panel.id = `view-${view.id}`;
    view.panel.setAttribute("role", "tabpanel");
    view.panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("keydown", (event) => {
      const shown = buttons.filter((one) => !one.hidden), at = shown.indexOf(tab);
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const next = step ? shown[(at + step + shown.length) % shown.length] : event.key === "Home" ? shown[0] : event.key === "End" ? shown[shown.length - 1] : null;
      if (!next) return;
      event.preventDefault();
      next.click();
      next.focus();
    });
    if (index < 10) tab.title = `Key ${(index + 1) % 10}`;
    strip.append(tab);
    main.append(view.panel);
    return tab;
  });
  return (/** @type {ViewPart} */ chosen) => views.forEach((view, index) => {
    const isChosen = view === chosen;
    buttons[index].setAttribute("aria-selected", String(isChosen));
    buttons[index].tabIndex = isChosen ? 0 : -1;
    buttons[index].hidden = view.id === "compare" && !app.state.base;
  });
}

/** @param {App} app */
function startTools(app) {
  const { head } = app.tables, seen = [...head.events.keys()].filter((event) => app.eventCounts[event] > 0);
  byId("event-label").hidden = seen.length < 2;
  byId("weight-label").hidden = !app.model.weighs;
  select("event").append(...seen.map((event) => new Option(`${head.events[event].name} (${amount(app.eventCounts[event])})`, String(event))));
  const bind = (/** @type {string} */ id, /** @type {(value: string) => any} */ patch) =>
    byId(id).addEventListener("change", () => app.change(patch(select(id).value)));
  bind("event", (value) => ({ event: Number(value), zoom: [] }));
  bind("weight", (value) => ({ weight: value }));
  bind("truncated", (value) => ({ truncated: value, zoom: [] }));
  bind("group", (value) => ({ group: value, zoom: [] }));
  bind("colour", (value) => ({ colour: value }));
  bind("names", (value) => ({ names: value }));
  byId("keys-list").append(make("dl", {}, ...KEYS.flatMap(([key, what]) => [make("dt", {}, make("kbd", { text: key })), make("dd", { text: what })])));
  byId("help").addEventListener("click", () => /** @type {HTMLDialogElement} */ (byId("keys")).showModal());
  byId("fold").addEventListener("click", () => {
    const isOpen = byId("lanes").hidden;
    byId("lanes").hidden = !isOpen;
    byId("fold").setAttribute("aria-expanded", String(isOpen));
  });
}

/** @param {App} app */
function showTools(app) {
  const { state } = app;
  document.documentElement.dataset.weight = state.weight;
  select("event").value = String(app.event);
  for (const id of /** @type {const} */ (["weight", "truncated", "group", "colour", "names"])) select(id).value = state[id];
  if (document.activeElement !== byId("search")) input("search").value = state.search;
  byId("matched").textContent = app.found ? `${percent(app.found.found, app.costs.all)} of the stacks match` : "";
  for (const id of ["next", "previous"]) /** @type {HTMLButtonElement} */ (byId(id)).disabled = !app.found;
}

/** @param {App} app @param {() => ViewPart | null} open */
function startSearch(app, open) {
  let waiting = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => app.change({ search: input("search").value.trim() }, true), 120);
  });
  byId("search").addEventListener("keydown", (event) => {
    if (event.key === "Enter") open()?.next?.(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape" && input("search").value) { input("search").value = ""; app.change({ search: "" }, true); }
    else return;
    event.preventDefault();
  });
  byId("next").addEventListener("click", () => open()?.next?.(1));
  byId("previous").addEventListener("click", () => open()?.next?.(-1));
  document.addEventListener("keydown", (event) => {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "n" || event.key === "N") open()?.next?.(event.key === "n" ? 1 : -1);
    else return;
    event.preventDefault();
  });
}

/** Whether a key is meant for a field.
 * @param {KeyboardEvent} event */
const isTyping = (event) => event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;

/** @param {App} app @param {ViewPart[]} views */
function startKeys(app, views) {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey) return;
    if (event.key === "f" && (event.ctrlKey || event.metaKey)) {
      input("search").select();
      event.preventDefault();
      return;
    }
    if (isTyping(event) || event.ctrlKey || event.metaKey || /** @type {HTMLDialogElement} */ (byId("keys")).open) return;
    if (event.key === "/") input("search").select();
    else if (event.key === "Backspace") app.undo();
    else if (event.key === "?") /** @type {HTMLDialogElement} */ (byId("keys")).showModal();
    else if (event.key === "Escape") { hideTip(); closeMenu(); }
    else if (/^[0-9]$/.test(event.key)) app.change({ view: views[(Number(event.key) + 9) % 10].id });
    else return;
    event.preventDefault();
  });
}

/** Dark or light: what the reader chose, else what the system has. Where pages may keep nothing, it is not kept.
 * @param {App} app @param {() => void} refresh */
function startTheme(app, refresh) {
  const kept = () => { try { return localStorage.getItem("unwind-perf-theme"); } catch { return null; } };
  const keep = (/** @type {string} */ name) => { try { localStorage.setItem("unwind-perf-theme", name); } catch { /* not kept */ } };
  const set = (/** @type {"light" | "dark"} */ name) => {
    app.theme = name;
    document.documentElement.dataset.theme = name;
    byId("theme").setAttribute("aria-pressed", String(name === "dark"));
  };
  const system = matchMedia("(prefers-color-scheme: dark)"), ofSystem = () => system.matches ? "dark" : "light";
  const known = kept();
  set(known === "dark" || known === "light" ? known : ofSystem());
  system.addEventListener("change", () => { if (!kept()) { set(ofSystem()); refresh(); } });
  byId("theme").addEventListener("click", () => {
    const name = app.theme === "dark" ? "light" : "dark";
    set(name);
    keep(name);
    refresh();
  });
}
