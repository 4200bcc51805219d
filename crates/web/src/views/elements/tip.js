// @ts-check
// Tooltip next to the mouse that describes the object under it.
import { byId, make } from "./element.js";

/** Shows lines at a position in the window; the first is a title.
 * @param {string[]} lines @param {number} x @param {number} y */
export function showTip(lines, x, y) {
  const tip = byId("tip");
  tip.replaceChildren(...lines.map((text, at) => make("div", { class: at === 0 ? "title" : "", text })));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 14 + width > innerWidth ? Math.max(0, x - 14 - width) : x + 14;
  const top = y + 18 + height > innerHeight ? Math.max(0, y - 12 - height) : y + 18;
  tip.style.left = left + "px";
  tip.style.top = top + "px";
}

export function hideTip() { byId("tip").hidden = true; }
