// @ts-check
// Overview of a comparison: recordings, method, notes, and the largest changes.
import { baseName, eventName } from "../../data/names.js";
import { ranked } from "../../data/compare/compare.js";
import { amount, duration, percent, ratio, scaled } from "../../data/numbers.js";
import { REASONS, range } from "./changes.js";
import { make } from "../elements/element.js";
import { cutTexts } from "../elements/fit.js";

/** @typedef {import("./diffapp.js").DiffApp} DiffApp */
/** @typedef {import("../../data/compare/diff.js").RunHead} RunHead */

const SHOWN = 10;
const METHODS = {
  rates: "A change is marked if it exceeds the sampling error of these two runs.",
  proportions: "A change is marked if it exceeds the sampling error of these two runs.",
  spread: "A change is marked if it exceeds the spread between the runs of a side.",
  unknown: "Nothing is marked: each side needs one recording, or three or more.",
};

/** @param {DiffApp} app @returns {import("../shell.js").ViewPart} */
export function diffOverview(app) {
  const { head } = app.tables;
  const before = make("section", { "aria-label": "Recordings before" }, make("h3", { text: "Before" }), facts(head.before, head));
  const after = make("section", { "aria-label": "Recordings after" }, make("h3", { text: "After" }), facts(head.after, head));
  const notes = make("section", { "aria-label": "Notes" });
  const own = make("section", { "aria-label": "Functions by the change of their own cost" }), total = make("section", { "aria-label": "Functions by the change of their inclusive cost" });
  const others = make("section", { "aria-label": "Functions that are not compared" });
  const panel = make("section", { class: "panel overview", tabindex: 0 }, own, total, notes, before, after, others);
  const how = [`${eventName(head.event)}: ${head.normalized}, by function (${head.exactNames ? "exact name" : "name"} and module, ${head.inlines ? "inlined ones included" : "without inlined ones"}).`, METHODS[head.method]];
  notes.append(make("h3", { text: "Compared" }), ...how.map((text) => make("p", { text })), make("ul", {}, ...head.notes.map((text) => make("li", { text }))));
  const all = make("p");
  notes.append(all);
  const fit = () => cutTexts(/** @type {NodeListOf<HTMLElement>} */ (panel.querySelectorAll(".top li > button")));
  const draw = () => {
    const { all: change } = app.compared;
    all.textContent = `In total: ${scaled(change.before, head.scale)} before, ${scaled(change.after, head.scale)} after, ${ratio(change.before, change.after)}.`;
    own.replaceChildren(...changes(app, "own"));
    total.replaceChildren(...changes(app, "total"));
    others.replaceChildren(...functionsNotCompared(app));
    fit();
  };
  return { id: "overview", title: "Overview", panel, draw, resize: fit };
}

/** @param {RunHead[]} runs @param {import("../../data/compare/diff.js").DiffHead} head */
function facts(runs, head) {
  const list = make("dl"), sum = (/** @type {(run: RunHead) => number} */ of) => runs.reduce((all, run) => all + of(run), 0);
  const add = (/** @type {string} */ name, /** @type {string} */ text) => { if (text) list.append(make("dt", { text: name }), make("dd", { text })); };
  add(runs.length > 1 ? `${runs.length} recordings` : "Recording", runs.map((run) => run.name).join(", "));
  add("Samples", `${amount(sum((run) => run.samples))} of ${eventName(head.event)}`);
  const cost = sum((run) => run.cost);
  add("Cost", head.unit === "nanoseconds" ? duration(cost) : head.unit === "samples" ? "" : `${amount(cost)} ${head.unit === "count" ? "events" : head.unit}`);
  const seconds = runs.map((run) => run.seconds).filter((one) => one !== null);
  add("Duration", seconds.length === runs.length ? seconds.map((one) => duration(1e9 * one)).join(", ") : "not known");
  add("Complete stacks", percent(sum((run) => run.complete), sum((run) => run.samples)));
  add("Lost by the kernel", sum((run) => run.lost) ? `${amount(sum((run) => run.lost))} samples` : "");
  return list;
}

/** Largest changes of a cost.
 * @param {DiffApp} app @param {"own" | "total"} which */
function changes(app, which) {
  const marked = ranked(app.rows.filter((row) => row[which].marked), which), word = which === "own" ? "own" : "inclusive";
  const tested = app.model.tested?.[which === "own" ? 0 : 1] ?? 0;
  const made = [make("h3", { text: which === "own" ? "Own cost" : "Inclusive cost" }), make("p", { text: `${marked.length ? amount(marked.length) : "None"} of ${amount(tested)} functions changed significantly.` })];
  made.push(make("ol", { class: "top changes" }, ...marked.slice(0, SHOWN).map((row) => {
    const change = row[which], module = app.model.module(row.key), interval = range(change, app.scale);
    return make("li", {}, make("span", { class: `share ${change.delta > 0 ? "more" : "less"}`, text: scaled(change.delta, app.scale, true) }),
      make("button", { type: "button", title: `${app.model.name(row.key)}${module ? ` in ${module}` : ""}`, text: app.label(row.key), click: () => app.change({ view: "sandwich", func: row.key }) }),
      make("small", { text: [ratio(change.before, change.after), interval && interval + app.scale[2]].filter(Boolean).join("  ") }));
  })));
  if (marked.length > SHOWN) made.push(make("button", { type: "button", text: `All by their ${word} cost`, click: () => app.change({ view: "functions", sort: which }) }));
  return made;
}

/** Costliest functions that are not compared.
 * @param {DiffApp} app */
function functionsNotCompared(app) {
  const { model, compared } = app, all = app.rows.filter((row) => model.notCompared(row.key));
  const rows = all.filter((row) => row.own.before + row.own.after > 0);
  if (!rows.length) return [];
  const sum = (/** @type {"before" | "after"} */ side) => percent(rows.reduce((cost, row) => cost + row.own[side], 0), compared.all[side]);
  const cost = (/** @type {import("../../data/compare/compare.js").Row} */ row) => Math.max(row.own.before, row.own.after);
  const list = rows.sort((a, b) => cost(b) - cost(a)).slice(0, SHOWN).map((row) => {
    const module = model.module(row.key), sides = `${scaled(row.own.before, app.scale)} before, ${scaled(row.own.after, app.scale)} after`;
    return make("li", {}, make("button", { type: "button", title: `${model.name(row.key)}: ${REASONS[model.notCompared(row.key)]}`, text: app.label(row.key), click: () => app.change({ view: "sandwich", func: row.key }) }),
      make("small", { text: `${sides} ${module ? baseName(module) : ""}; ${model.notCompared(row.key) === 1 ? "no counterpart" : "no name on one side"}` }));
  });
  return [make("h3", { text: "Not compared" }), make("p", { text: `${sum("before")} of the cost before and ${sum("after")} of the cost after: their module has no counterpart, or they have no name on one side.` }),
    make("ol", { class: "top changes" }, ...list)];
}
