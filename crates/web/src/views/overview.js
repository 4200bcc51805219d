// @ts-check
// What was recorded, how complete the stacks are and why not, and where the time went, in short.
import { baseName, folded } from "../data/names.js";
import { amount, duration, percent, spread } from "../data/numbers.js";
import { busyThreads } from "../data/samples/order.js";
import { make } from "./elements/element.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./app.js").ViewPart} ViewPart */

const SHOWN = 12;

/** @param {App} app @returns {ViewPart} */
export function overviewView(app) {
  const recorded = make("section", { "aria-label": "What was recorded" }), quality = make("section", { "aria-label": "How complete the stacks are" });
  const functions = make("section", { "aria-label": "Functions by their own cost" }), modules = make("section", { "aria-label": "Modules by their own cost" });
  const threads = make("section", { "aria-label": "Threads by samples" }), summary = make("details", {}, make("summary", { text: "The summary of the command" }), make("pre", { text: app.tables.head.summary }));
  const panel = make("section", { class: "panel overview", tabindex: 0 }, recorded, quality, functions, modules, threads, summary);
  const draw = () => {
    recorded.replaceChildren(make("h3", { text: "Recorded" }), facts(app));
    quality.replaceChildren(make("h3", { text: "Stacks" }), ...stacks(app));
    functions.replaceChildren(make("h3", { text: "Functions by their own cost" }), topFunctions(app));
    modules.replaceChildren(make("h3", { text: "Modules" }), topModules(app));
    threads.replaceChildren(make("h3", { text: "Threads" }), topThreads(app));
  };
  return { id: "overview", title: "Overview", panel, draw };
}

/** @param {App} app */
function facts(app) {
  const { head, span } = app.tables, { recording } = head, list = make("dl");
  const add = (/** @type {string} */ name, /** @type {string | undefined | null} */ value) => {
    if (value) list.append(make("dt", { text: name }), make("dd", { text: value }));
  };
  add("Command", head.title);
  add("Host", [recording.host, recording.kernel, recording.arch].filter(Boolean).join(", "));
  add("Processor", [recording.processor, recording.processors ? `${recording.processors} online` : ""].filter(Boolean).join(", "));
  // The file's own date: recordings hold times of a clock that begins when the machine does.
  add("File written", !recording.written ? "" : new Date(recording.written).toISOString().replace("T", " ").replace(/\..*/, " UTC"));
  add("Duration", span ? duration(span * head.unit) : "");
  add("Recorder", recording.perf ? `perf ${recording.perf}` : "");
  add("Stack copied", recording.stackBytes ? `${amount(recording.stackBytes)} bytes a sample` : "");
  head.events.forEach((event, at) => {
    if (!app.eventCounts[at] && head.events.length > 1) return;
    const rate = event.rate ? (event.frequency ? `, ${amount(event.rate)} a second` : `, one for ${amount(event.rate)}`) : "";
    add(at === app.event ? "Event shown" : "Event", `${event.name}: ${amount(app.eventCounts[at])} samples${rate}`);
  });
  return list;
}

/** @param {App} app */
function stacks(app) {
  const { head } = app.tables, ends = app.costs.ends, all = ends.reduce((sum, count) => sum + count, 0);
  const complete = ends.reduce((sum, count, end) => sum + (head.complete[end] ? count : 0), 0);
  const list = make("ul"), parts = [...ends.keys()].filter((end) => ends[end] > 0).sort((a, b) => head.complete[b] - head.complete[a] || ends[b] - ends[a]);
  const meter = make("div", { class: "meter", role: "img", "aria-label": `${percent(complete, all)} of the stacks are complete` });
  const bar = make("i");
  bar.style.width = all ? `${100 * complete / all}%` : "0";
  meter.append(bar);
  for (const end of parts) list.append(make("li", { text: `${percent(ends[end], all)} ended by ${head.ends[end]} (${amount(ends[end])})` }));
  const made = [make("p", { text: `${percent(complete, all)} of the stacks shown are complete.` }), meter, list];
  if (head.losses.length) {
    made.push(make("h4", { text: "Modules at which stacks ended early" }), make("ul", {}, ...head.losses.slice(0, 6).map((loss) => {
      const name = loss.module >= 0 ? head.modules[loss.module].path : "no module";
      return make("li", { text: `${percent(loss.samples, app.tables.samples)} ${name}: ${loss.reason}` + (loss.help ? ` What helps: ${loss.help}` : "") });
    })));
  }
  const lost = head.lost ? [`the kernel lost ${amount(head.lost)} samples`] : [];
  const notes = [...lost, ...head.findings.map((finding) => `${finding.kind}: ${finding.message}` + (finding.count > 1 ? ` (and ${amount(finding.count - 1)} more)` : ""))];
  if (notes.length) made.push(make("h4", { text: "What is wrong with the input" }), make("ul", {}, ...notes.map((text) => make("li", { text }))));
  const hints = head.summary.split("\n").filter((line) => line.startsWith("Tip: ")).map((line) => line.slice(5));
  if (hints.length) made.push(make("h4", { text: "Advice" }), make("ul", {}, ...hints.map((text) => make("li", { text }))));
  return made;
}

/** A line of a list: a share, a name that can be chosen, and its interval.
 * @param {App} app @param {number} cost @param {number} squares of what its samples cost @param {string} text @param {string} title @param {() => void} act */
function line(app, cost, squares, text, title, act) {
  const bar = make("i", { class: "bar" });
  bar.style.width = app.costs.all ? `${100 * cost / app.costs.all}%` : "0";
  return make("li", {}, make("span", { class: "share", text: percent(cost, app.costs.all) }), make("button", { type: "button", title, click: act, text }),
    make("small", { text: spread(cost, app.costs.all, squares, app.costs.allSquares) }), bar);
}

/** @param {App} app */
function topFunctions(app) {
  const { own, ownSquares } = app.model.functionCosts();
  const top = [...own.keys()].filter((f) => own[f] > 0).sort((a, b) => own[b] - own[a] || a - b).slice(0, SHOWN);
  return make("ol", { class: "top" }, ...top.map((f) => line(app, own[f], ownSquares[f], app.label(f), app.model.name(f), () => app.change({ view: "sandwich", func: f }))));
}

/** @param {App} app */
function topModules(app) {
  const { own, ownSquares } = app.model.moduleCosts(), modules = app.tables.head.modules;
  const top = [...own.keys()].filter((module) => own[module] > 0).sort((a, b) => own[b] - own[a] || a - b).slice(0, SHOWN);
  return make("ol", { class: "top" }, ...top.map((module) => line(app, own[module], ownSquares[module], baseName(modules[module].path), modules[module].path, () => app.addFilter({ kind: "module", at: module }))));
}

/** Threads, those whose names differ by numbers only together.
 * @param {App} app */
function topThreads(app) {
  /** @type {Map<string, { count: number, ids: number[] }>} */
  const by = new Map(), { threads } = app.tables.head;
  for (const { id, count } of busyThreads(app.model)) {
    const name = folded(threads[id][2]), row = by.get(name) || { count: 0, ids: [] };
    row.count += count;
    row.ids.push(id);
    by.set(name, row);
  }
  const top = [...by].filter(([, row]) => row.count > 0).sort((a, b) => b[1].count - a[1].count).slice(0, SHOWN);
  return make("ol", { class: "top" }, ...top.map(([name, { count, ids }]) => {
    const text = ids.length > 1 ? `${name || "?"} (${amount(ids.length)} threads)` : app.threadName(ids[0]);
    return make("li", {}, make("span", { class: "share", text: amount(count) }), make("button", { type: "button", text, click: () => app.addFilter(ids.length > 1 ? { kind: "comm", comm: name } : { kind: "threads", ids }) }));
  }));
}
