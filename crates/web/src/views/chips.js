// @ts-check
// The filters, in the order in which they work, each with a way to take it away; and what they leave.
import { amount, percent } from "../data/numbers.js";
import { byId, make } from "./element.js";

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function drawChips(app) {
  const { filters, base } = app.state, box = byId("chips");
  const without = (/** @type {number} */ at) => app.change({ filters: filters.filter((_, index) => index !== at), zoom: [] });
  const chips = filters.map((filter, at) => make("span", { class: "chip" }, app.filterName(filter),
    make("button", { type: "button", "aria-label": `Take away: ${app.filterName(filter)}`, text: "×", click: () => without(at) })));
  if (base) {
    chips.push(make("span", { class: "chip base" }, `baseline ${app.seconds(base[0]).toFixed(3)} s to ${app.seconds(base[1]).toFixed(3)} s`,
      make("button", { type: "button", "aria-label": "Take the baseline away", text: "×", click: () => app.change({ base: null, view: app.state.view === "compare" ? "heat" : app.state.view }) })));
  }
  const made = [];
  if (chips.length) made.push(...chips);
  else made.push(make("span", { class: "note", text: "No filters: right click, or m, on a frame, a row or a lane opens the menu." }));
  if (app.past.length) made.push(make("button", { type: "button", id: "undo", title: "Backspace", text: "Undo", click: () => app.undo() }));
  if (filters.length) made.push(make("button", { type: "button", id: "everything", text: "Remove all filters", click: () => app.change({ filters: [], zoom: [] }) }));
  box.replaceChildren(...made);
  const { samples, allN, ends } = app.costs, { rooted } = app.tables.head;
  const known = ends.reduce((sum, count) => sum + count, 0), cut = ends.reduce((sum, count, end) => sum + (rooted[end] ? 0 : count), 0);
  const of = app.eventCounts[app.event];
  byId("selected").textContent = `${amount(allN)} of ${amount(of)} samples` + (allN < samples ? ` (${amount(samples)} before filters of frames)` : "") +
    `; truncated ${percent(cut, known)}`;
}
