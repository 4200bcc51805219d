// @ts-check
// Overview: completeness of the stacks, the costliest functions, modules, processes and threads, reasons for truncation,
// and the recording.
import { adviceOf } from "../data/advice.js";
import { baseName, eventName, folded, rateText } from "../data/names.js";
import { amount, duration, percent, spread } from "../data/numbers.js";
import { waitCosts } from "../data/waits.js";
import { processRows, threadRows, threadsOf } from "../data/samples/threads.js";
import { make, withOptions } from "./elements/element.js";
import { cutTexts } from "./elements/fit.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./app.js").ViewPart} ViewPart */

const SHOWN = 12;
/** Number of modules with advice, and their smallest share of the frames or stacks. */
const ADVICE = 3, LEAST = 0.01;

/** @param {App} app @returns {ViewPart} */
export function overviewView(app) {
  const recorded = make("section", { "aria-label": "Recording" }), quality = make("section", { class: "wide", "aria-label": "Completeness of the stacks" });
  const details = make("section", { "aria-label": "Ends of the stacks" });
  const functions = make("section", { "aria-label": "Functions by their own cost" }), modules = make("section", { "aria-label": "Modules by their own cost" });
  const processes = make("section", { "aria-label": "Processes by cost" });
  const waits = make("section", { "aria-label": "Waiting by kind" });
  const threads = make("section", { "aria-label": "Threads by cost" }), summary = make("details", {}, make("summary", { text: "Summary of the command" }), make("pre", { text: app.tables.head.summary }));
  const panel = make("section", { class: "panel overview", tabindex: 0 }, quality,
    make("div", {}, functions, modules), make("div", {}, waits, processes, threads), make("div", {}, recorded, details, summary));
  const fit = () => cutTexts(/** @type {NodeListOf<HTMLElement>} */ (panel.querySelectorAll(".top button")));
  const draw = () => {
    recorded.replaceChildren(make("h3", { text: "Recorded" }), facts(app));
    quality.replaceChildren(...completeness(app));
    details.replaceChildren(...stacks(app));
    waits.hidden = !waitCosts(app.model);
    waits.replaceChildren(make("h3", { text: "Waiting by kind" }), topWaits(app));
    functions.replaceChildren(make("h3", { text: "Functions by their own cost" }), topFunctions(app));
    modules.replaceChildren(make("h3", { text: "Modules" }), topModules(app));
    processes.replaceChildren(make("h3", { text: "Processes" }), topProcesses(app));
    threads.replaceChildren(make("h3", { text: "Threads" }), topThreads(app));
    fit();
  };
  return { id: "overview", title: "Overview", panel, draw, resize: fit };
}

/** @param {App} app */
function facts(app) {
  const { head, span } = app.tables, { recording } = head, list = make("dl");
  const add = (/** @type {string} */ name, /** @type {string | undefined | null} */ value) => {
    if (value) list.append(make("dt", { text: name }), make("dd", {}, ...withOptions(value)));
  };
  add("Command", head.title);
  add("Filtered before", head.filters?.join(", "));
  add("Host", [recording.host, recording.kernel, recording.arch].filter(Boolean).join(", "));
  add("Processor", [recording.processor, recording.processors ? `${recording.processors} online` : ""].filter(Boolean).join(", "));
  // Date of the file, since recordings contain times of a clock that starts at boot.
  add("File written", !recording.written ? "" : new Date(recording.written).toISOString().replace("T", " ").replace(/\..*/, " UTC"));
  add("Duration", span ? duration(span * head.unit) : "");
  add("Recorder", recording.perf ? `perf ${recording.perf}` : "");
  add("Stack copied", recording.stackBytes ? `${amount(recording.stackBytes)} bytes per sample` : "");
  head.events.forEach((event, at) => {
    if (!app.eventCounts[at] && head.events.length > 1) return;
    add(at === app.event ? "Event shown" : "Event", `${eventName(event.name)}: ${amount(app.eventCounts[at])} samples${rateText(event, amount)}`);
  });
  return list;
}

/** Stacks of the current view: all, and those that are complete.
 * @param {App} app */
function stackCounts(app) {
  const { head } = app.tables, { ends } = app.costs;
  return { all: ends.reduce((sum, count) => sum + count, 0), complete: ends.reduce((sum, count, end) => sum + (head.complete[end] ? count : 0), 0) };
}

/** Items of a list.
 * @param {string[]} texts */
const items = (texts) => make("ul", {}, ...texts.map((text) => make("li", {}, ...withOptions(text))));

/** Advice on the files that matter most.
 * @param {App} app */
const missing = (app) => app.model.once("advice", "", () => adviceOf(app.tables.head, app.tables.samples)).filter(({ share }) => share >= LEAST).slice(0, ADVICE);

/** Share of complete stacks, and advice on missing files.
 * @param {App} app */
function completeness(app) {
  const { modules } = app.tables.head, { all, complete } = stackCounts(app), files = missing(app);
  const meter = make("span", { class: "meter", role: "img", "aria-label": `${percent(complete, all)} of the stacks are complete` });
  const bar = make("i");
  bar.style.width = all ? `${100 * complete / all}%` : "0";
  meter.append(bar);
  const line = make("p", {}, meter, all && complete === all ? `All ${amount(all)} stacks shown are complete.` : `${percent(complete, all)} of the stacks shown are complete.`);
  if (!files.length) return [line];
  const list = items(files.map(({ module, text }) => `${baseName(modules[module].path)}: ${text}`));
  [...list.children].forEach((item, at) => item.setAttribute("title", modules[files[at].module].path));
  return [line, make("h3", { text: "Missing files in this recording" }), list];
}

/** Reasons for incomplete stacks, and findings.
 * @param {App} app */
function stacks(app) {
  const { head } = app.tables, { ends } = app.costs, { all, complete } = stackCounts(app), made = [];
  const parts = [...ends.keys()].filter((end) => ends[end] > 0).sort((a, b) => head.complete[b] - head.complete[a] || ends[b] - ends[a]);
  if (complete < all) made.push(make("h3", { text: "Ends of the stacks" }), items(parts.map((end) => `${percent(ends[end], all)} ended by ${head.ends[end]} (${amount(ends[end])})`)));
  if (head.losses.length) {
    made.push(make("h3", { text: "Modules that end stacks early" }), items(head.losses.slice(0, 6).map((loss) => {
      const name = loss.module >= 0 ? head.modules[loss.module].path : "no module";
      return `${percent(loss.samples, app.tables.samples)} ${name}: ${loss.reason}.` + (loss.help ? ` Remedy: ${loss.help}.` : "");
    })));
  }
  const lost = head.lost ? [`the kernel lost ${amount(head.lost)} samples`] : [];
  // The advice on missing files covers addresses without a name.
  const isAdvised = missing(app).some(({ isNameless }) => isNameless);
  const notes = [...lost, ...head.findings.filter(({ kind }) => !isAdvised || kind !== "not-covered").map((finding) => `${finding.kind}: ${finding.message}` + (finding.count > 1 ? ` (and ${amount(finding.count - 1)} more)` : ""))];
  if (notes.length) made.push(make("h3", { text: "Findings in the input" }), items(notes));
  const hints = head.summary.split("\n").filter((line) => line.startsWith("Tip: ")).map((line) => line.slice(5));
  if (hints.length) made.push(make("h3", { text: "Advice" }), items(hints));
  return made;
}

/** Line of a list: a share, a clickable name, and a confidence interval.
 * @param {App} app @param {number} cost @param {number} squares of its samples' costs @param {string} text
 * @param {string} title @param {() => void} act */
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

/** Kinds of wait; a click shows only the times of a kind.
 * @param {App} app */
function topWaits(app) {
  const costs = waitCosts(app.model);
  if (!costs) return make("ol");
  const { all, squares } = costs, top = [...all.keys()].filter((kind) => all[kind] > 0).sort((a, b) => all[b] - all[a] || a - b);
  return make("ol", { class: "top" }, ...top.map((kind) => line(app, all[kind], squares[kind], `${app.waitName(kind)}: ${app.costText(all[kind])}`, `Only ${app.waitName(kind)}`, () => app.addFilter({ kind: "wait", at: kind }))));
}

/** Processes with equal names, each row with the number of processes.
 * @param {App} app */
function topProcesses(app) {
  const top = processRows(app.model).slice(0, SHOWN);
  return make("ol", { class: "top" }, ...top.map(({ name, ids, pids, cost, squares }) => {
    const text = pids.length > 1 ? `${name} (${amount(pids.length)} processes)` : `${name} ${pids[0]}`;
    const filter = () => app.addFilter(pids.length > 1 ? { kind: "threads", ids: threadsOf(app.tables.head, pids) } : { kind: "process", pid: pids[0] });
    return line(app, cost, squares, text, `${amount(ids.length)} thread${ids.length > 1 ? "s" : ""}`, filter);
  }));
}

/** Threads; those with names that differ only in a trailing number are one row.
 * @param {App} app */
function topThreads(app) {
  const top = threadRows(app.model).slice(0, SHOWN), { threads } = app.tables.head;
  return make("ol", { class: "top" }, ...top.map(({ name, ids, cost, squares }) => {
    const text = ids.length > 1 ? `${name} (${amount(ids.length)} threads)` : app.threadName(ids[0]);
    const filter = () => app.addFilter(ids.length > 1 ? { kind: "comm", comm: folded(threads[ids[0]][2]) } : { kind: "threads", ids });
    return line(app, cost, squares, text, text, filter);
  }));
}
