// @ts-check
// Frame of a page: tabs, search, keys, theme, and the open view.
import { isInvalid } from "../data/names.js";
import { amount, percent } from "../data/numbers.js";
import { byId, input, make } from "./elements/element.js";
import { closeMenu, startMenu } from "./elements/menu.js";
import { startPointer } from "./elements/pointer.js";
import { hideTip } from "./elements/tip.js";
import { startExport } from "./export/menu.js";

/** @typedef {import("./shell.js").Shell} Shell */
/** @typedef {import("./shell.js").ViewPart} ViewPart */

/** Starts a page of views, and shows the state in its address.
 * @param {Shell} app @param {string} title @param {ViewPart[]} views the first one is the default
 * @param {{ isShown?: (view: ViewPart) => boolean, refreshed: () => void, keys: string[][] }} options */
export function startFrame(app, title, views, { isShown = () => true, refreshed, keys }) {
  document.title = title;
  byId("title").textContent = title;
  byId("title").title = title;
  app.views = views.map((view) => view.id);
  const tabs = startTabs(app, views, isShown);
  startMenu();
  startPointer();
  /** @type {ViewPart | null} */
  let open = null;
  const refresh = () => {
    hideTip();
    const view = views.find((view) => view.id === app.state.view && isShown(view)) || views[0];
    tabs(view);
    for (const one of views) one.panel.hidden = one !== view;
    refreshed();
    open = view;
    view.draw();
    showSearch(app, view.outside?.() ?? 0);
  };
  app.listeners.push(refresh);
  startSearch(app, () => open);
  startKeys(app, views, () => open);
  startExport(app, () => open);
  startTheme(app, refresh);
  byId("keys-list").append(make("dl", {}, ...keys.flatMap(([key, what]) => [make("dt", {}, make("kbd", { text: key })), make("dd", { text: what })])));
  byId("help").addEventListener("click", showKeys);
  addEventListener("popstate", () => app.reopen());
  addEventListener("hashchange", () => app.reopen());
  addEventListener("resize", () => { hideTip(); closeMenu(); open?.resize?.(); });
  app.refresh();
}

/** Shows the list of keys from its beginning; its button, which receives the focus, is at the end. */
function showKeys() {
  const dialog = /** @type {HTMLDialogElement} */ (byId("keys"));
  dialog.showModal();
  dialog.scrollTop = 0;
}

/** @param {Shell} app @param {ViewPart[]} views @param {(view: ViewPart) => boolean} isShown */
function startTabs(app, views, isShown) {
  const strip = byId("tabs"), main = byId("views");
  const buttons = views.map((view, index) => {
    const tab = make("button", { type: "button", role: "tab", id: `tab-${view.id}`, "aria-controls": `view-${view.id}`, click: () => app.change({ view: view.id }), text: view.title });
    view.panel.id = `view-${view.id}`;
    view.panel.setAttribute("role", "tabpanel");
    view.panel.setAttribute("aria-labelledby", tab.id);
    tab.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || (event.key === "Enter" && !view.isHovered?.())) {
        event.preventDefault();
        mainOf(view).focus();
        return;
      }
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
    buttons[index].hidden = !isShown(view);
  });
}

/** Part of a view that has the focus first: its graph or table.
 * @param {ViewPart} view @returns {HTMLElement} */
const mainOf = (view) => view.panel.querySelector("canvas[tabindex], .rows[tabindex]") || view.panel;

/** @param {Shell} app @param {number} outside number of matches outside of the zoomed part */
function showSearch(app, outside) {
  if (document.activeElement !== byId("search")) input("search").value = app.state.search;
  const isWrong = isInvalid(app.state.search);
  input("search").setAttribute("aria-invalid", String(isWrong));
  const more = outside ? `; ${amount(outside)} more match${outside > 1 ? "es" : ""} outside the zoomed part` : "";
  byId("matched").textContent = isWrong ? "not a valid pattern" : app.found ? `${percent(app.found.found, app.all)} of the stacks match${more}` : "";
  for (const id of ["next", "previous"]) /** @type {HTMLButtonElement} */ (byId(id)).disabled = !app.found;
}

/** @param {Shell} app @param {() => ViewPart | null} open */
function startSearch(app, open) {
  let waiting = 0;
  byId("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(() => app.change({ search: input("search").value.trim() }, true), 120);
  });
  byId("search").addEventListener("keydown", (event) => {
    const view = open();
    if (event.key === "Enter") view?.next?.(event.shiftKey ? -1 : 1);
    else if (event.key === "ArrowDown" && view) mainOf(view).focus();
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

/** Returns true if a key is meant for an input field.
 * @param {KeyboardEvent} event */
const isTyping = (event) => event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;

/** Returns true if a key has a meaning for the element with the focus: Enter and the space bar for controls.
 * @param {KeyboardEvent} event */
const isForControl = ({ key, target }) => (key === "Enter" || key === " ") && target instanceof Element
  && target.closest("button:not([role=tab]), a, summary") !== null;

/** @param {Shell} app @param {ViewPart[]} views @param {() => ViewPart | null} open */
function startKeys(app, views, open) {
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
    else if (event.key === "?") showKeys();
    else if (/^[0-9]$/.test(event.key)) {
      const { id } = views[(Number(event.key) + 9) % 10] || views[0];
      app.change({ view: id });
      byId(`tab-${id}`).focus();
    } else if (event.key === "Escape" && !byId("menu").hidden) closeMenu();
    else if (!isForControl(event) && !/^Arrow|^Home$/.test(event.key) && open()?.key?.(event)) hideTip();
    else if (event.key === "Escape") hideTip();
    else return;
    event.preventDefault();
  });
}

/** Light or dark theme: the reader's choice, else the system's setting. The choice is not stored if storage is blocked.
 * @param {Shell} app @param {() => void} refresh */
function startTheme(app, refresh) {
  const storedTheme = () => { try { return localStorage.getItem("unwind-perf-theme"); } catch { return null; } };
  const storeTheme = (/** @type {string} */ name) => { try { localStorage.setItem("unwind-perf-theme", name); } catch { /* not kept */ } };
  const set = (/** @type {"light" | "dark"} */ name) => {
    app.theme = name;
    document.documentElement.dataset.theme = name;
    byId("theme").setAttribute("aria-pressed", String(name === "dark"));
  };
  const system = matchMedia("(prefers-color-scheme: dark)"), ofSystem = () => system.matches ? "dark" : "light";
  const known = storedTheme();
  set(known === "dark" || known === "light" ? known : ofSystem());
  system.addEventListener("change", () => { if (!storedTheme()) { set(ofSystem()); refresh(); } });
  byId("theme").addEventListener("click", () => {
    const name = app.theme === "dark" ? "light" : "dark";
    set(name);
    storeTheme(name);
    refresh();
  });
}
