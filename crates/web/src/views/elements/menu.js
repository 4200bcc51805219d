// @ts-check
// Context menu, opened by a right click, a long touch or a key; navigated with arrow keys.
import { byId, make } from "./element.js";
import { cutTexts } from "./fit.js";
import { hideTip } from "./tip.js";

/** @typedef {{ text: string, key?: string, run: () => void } | { title: string, hint?: string }} Entry */

/** @type {Element | null} */
let before = null;

/** @param {Entry[]} entries @param {number} x @param {number} y */
export function openMenu(entries, x, y) {
  const menu = byId("menu");
  hideTip();
  before = document.activeElement;
  menu.replaceChildren(...entries.map((entry) => {
    if ("title" in entry) return make("div", { class: "title", role: "presentation", title: entry.hint, text: entry.title });
    const item = make("button", { type: "button", role: "menuitem", tabindex: -1, click: () => { closeMenu(); entry.run(); } },
      make("span", { text: entry.text }));
    if (entry.key) item.append(make("kbd", { text: entry.key }));
    return item;
  }));
  menu.hidden = false;
  cutTexts(/** @type {NodeListOf<HTMLElement>} */ (menu.querySelectorAll(".title")));
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = Math.max(0, Math.min(x, innerWidth - width)) + "px";
  menu.style.top = Math.max(0, Math.min(y, innerHeight - height)) + "px";
  items()[0]?.focus();
}

/** @returns {HTMLElement[]} */
const items = () => [...byId("menu").querySelectorAll("button")];

export function closeMenu() {
  const menu = byId("menu");
  if (menu.hidden) return;
  menu.hidden = true;
  if (before instanceof HTMLElement) before.focus();
}

export function startMenu() {
  const menu = byId("menu");
  menu.addEventListener("keydown", (event) => {
    const all = items(), at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    event.stopPropagation();
    if (event.key === "ArrowDown") all[(at + 1) % all.length].focus();
    else if (event.key === "ArrowUp") all[(at + all.length - 1) % all.length].focus();
    else if (event.key === "Home") all[0].focus();
    else if (event.key === "End") all[all.length - 1].focus();
    else if (event.key === "Escape" || event.key === "Tab") closeMenu();
    else {
      const wanted = all.find((item) => item.querySelector("kbd")?.textContent === event.key);
      if (!wanted) return;
      wanted.click();
    }
    event.preventDefault();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!menu.hidden && !menu.contains(/** @type {Node} */ (event.target))) menu.hidden = true;
  });
}
