// @ts-check
// Title of the page of a profile: program, host, date and samples.
import { amount, dateText } from "../data/numbers.js";
import { byId } from "./elements/element.js";

/** @typedef {import("./app.js").App} App */

/** Name of the recorded program. If the recorder did not start it, that of the costliest process.
 * @param {App} app */
function programOf(app) {
  const { head, thread, samples } = app.tables, { program } = head.recording;
  if (program) return program;
  /** @type {Map<string, number>} */
  const by = new Map();
  const counts = new Uint32Array(head.threads.length);
  for (let i = 0; i < samples; i++) counts[thread[i]]++;
  head.threads.forEach(([, , comm, process], id) => { if (counts[id]) by.set(process || comm, (by.get(process || comm) || 0) + counts[id]); });
  const names = [...by.keys()].sort((a, b) => (by.get(b) || 0) - (by.get(a) || 0));
  return names.length > 1 ? `${names[0] || "?"} and ${amount(names.length - 1)} other program${names.length > 2 ? "s" : ""}` : names[0] || "Profile";
}

/** Text of the title, for the samples of the shown event.
 * @param {App} app */
export function titleOf(app) {
  const { host, written } = app.tables.head.recording, samples = app.eventCounts[app.event] ?? 0;
  const name = app.model.once("program", "", () => programOf(app)) + (host ? ` on ${host}` : "");
  return [name, written ? dateText(written) : "", `${amount(samples)} sample${samples === 1 ? "" : "s"}`].filter(Boolean).join(", ");
}

/** Shows the title; its tooltip is the command.
 * @param {App} app */
export function showTitle(app) {
  const text = titleOf(app), title = byId("title");
  if (document.title !== text) document.title = text;
  if (title.textContent !== text) title.textContent = text;
  title.title = app.tables.head.title;
}
