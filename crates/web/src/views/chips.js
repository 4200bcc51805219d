// @ts-check
// Filters as chips, in the order of application, each with a button to remove it; and a notice of those that a link
// names and the recording lacks.
import { byId, make } from "./elements/element.js";
import { cutTexts } from "./elements/fit.js";

/** @typedef {import("./shell.js").Shell} Shell */

/** Chip with a button that removes it.
 * @param {string} text @param {string} label @param {() => void} act @param {string} [kind] */
export const chip = (text, label, act, kind) => make("span", { class: `chip ${kind || ""}`, title: text }, make("span", { text }), make("button", { type: "button", "aria-label": label, text: "×", click: act }));

/** @param {Shell} app @param {HTMLElement[]} more chips after those of the filters @param {string} note text if there
 * are no chips */
export function drawChips(app, more, note) {
  const { filters } = app.state;
  const without = (/** @type {number} */ at) => app.change({ filters: filters.filter((_, index) => index !== at), zoom: [] });
  const made = [...filters.map((filter, at) => chip(app.filterName(filter), `Remove: ${app.filterName(filter)}`, () => without(at))), ...more];
  if (!made.length) made.push(make("span", { class: "note", text: note }));
  if (app.past.length) made.push(make("button", { type: "button", id: "undo", title: "Backspace", text: "Undo", click: () => app.undo() }));
  if (filters.length) made.push(make("button", { type: "button", id: "everything", text: "Remove all filters", click: () => app.change({ filters: [], zoom: [] }) }));
  const chips = byId("chips"), notice = byId("notice"), missing = app.missing.join(" ");
  chips.replaceChildren(...made);
  cutTexts(/** @type {NodeListOf<HTMLElement>} */ (chips.querySelectorAll(".chip > span")));
  notice.hidden = !missing;
  if (notice.textContent !== missing) notice.textContent = missing;
}
