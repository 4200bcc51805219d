// @ts-check
// Source view of one function: its lines with their costs, those of inlined functions in place, and instructions.
import { extentOf } from "../../data/listing/extent.js";
import { linesOf } from "../../data/listing/lines.js";
import { baseName } from "../../data/names.js";
import { percent } from "../../data/numbers.js";
import { make } from "../elements/element.js";
import { showSplitter, startSplitter } from "../graphs/splitter.js";
import { Instructions } from "./instructions.js";
import { Rows } from "../elements/rows.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */
/** @typedef {import("../../data/listing/lines.js").LineCost} LineCost */
/** Line of the source, with the number of functions around it that are inlined; `key` identifies it.
 * @typedef {LineCost & { line: number, text: string, key: string, depth: number }} Line */

/** Minimum width of the lines and of the instructions, in pixels. */
const LEAST = 200;

/** Cost of the machine code of a line: its own, and those of its inlined lines.
 * @param {LineCost} cost @returns {number} */
const machineCost = (cost) => (cost.inner || []).reduce((sum, inner) => sum + machineCost(inner), cost.own);

/** Largest own cost of a line or of its inlined lines.
 * @param {LineCost} cost @returns {number} */
const mostIn = (cost) => (cost.inner || []).reduce((most, inner) => Math.max(most, mostIn(inner)), cost.own);

/** @param {App} app @returns {ViewPart} */
export function sourceView(app) {
  const head = make("h3"), whole = make("p", { class: "note" }), note = make("p", { class: "note" });
  const code = new Instructions(app);
  /** Shown function, and the keys of its expanded lines. */
  let f = -1, expanded = /** @type {Set<string>} */ (new Set());
  /** Largest own and inclusive cost of a line, and the keys of the lines of the selected instruction. */
  let most = { own: 1, total: 1 }, linked = /** @type {string[]} */ ([]);
  const share = (/** @type {number} */ cost) => cost ? percent(cost, app.costs.all) : "";
  /** @param {Line} row */
  const costs = (row) => {
    const inlined = (row.inner || []).reduce((sum, inner) => sum + inner.total, 0), calls = row.total - row.own - inlined;
    const parts = [inlined && `${app.cost(inlined)} in inlined functions`, inlined && calls > 0 && `${app.cost(calls)} in calls`].filter(Boolean);
    return [row.own ? `own ${app.leafText(row.own)}` : "",
      row.total ? `inclusive ${app.costText(row.total)}${parts.length ? `, ${parts.join(" and ")}` : ""}` : ""].filter(Boolean).join("; ");
  };
  /** Text of a file. A requested one is drawn when it arrives; it is cached by then.
   * @param {string} file */
  const textOf = (file) => {
    const text = file ? app.texts.known(file) : null;
    if (text === undefined) app.texts.ask(file).then(() => { if (app.state.view === "source") draw(); });
    return text || null;
  };
  /** Line of another file, or of another function.
   * @param {string} name @param {string} file @param {number} line */
  const elsewhere = (name, file, line) => [name, file ? `${baseName(file)}:${line}` : "line unknown", textOf(file)?.[line - 1]?.trim() ?? ""].filter(Boolean).join("  ");
  /** @param {Line} row @returns {Line[]} */
  const inlinedIn = (row) => (row.inner || []).map((inner) => {
    const { file, line } = app.model.lineOf(inner.func, inner.number);
    return { ...inner, line, text: elsewhere(app.label(inner.func), file, line), depth: row.depth + 1 };
  });
  /** @type {Rows<Line>} */
  const lines = new Rows({
    label: "Lines", tree: true,
    picked: (row) => code.mark(row.key),
    canOpen: (row) => !!row.inner,
    open: (row) => inlinedIn(row.data),
    expanded: (row) => expanded.has(row.key),
    toggled: (row) => {
      if (row.isOpen) expanded.add(row.data.key); else expanded.delete(row.data.key);
      fit();
    },
    columns: [
      { title: "Own", width: "5em", kind: "number", text: (row) => share(row.own), hint: costs, bar: (row) => row.own / most.own },
      { title: "Inclusive", width: "6em", kind: "number", text: (row) => share(row.total), hint: costs, bar: (row) => row.total / most.total, drop: 1 },
      { title: "Line", width: "4em", kind: "number", text: (row) => row.line ? String(row.line) : "?" },
      { title: "Source", width: "minmax(12em, 1fr)", kind: "name", text: (row) => row.text, hint: (row) => row.depth ? row.text : "",
        mark: (row) => "code" + (row.own || row.total ? " hot" : "") + (row.depth ? " inner" : "") + (linked.includes(row.key) ? " linked" : "") },
    ],
  });
  const fit = () => lines.fit((row) => row.text + "   ".repeat(row.depth + 1));
  code.selected = (of) => {
    linked = of;
    const at = lines.rows.findIndex(({ data }) => of.includes(data.key));
    if (at >= 0) lines.reveal(at); else lines.draw();
  };
  const listing = make("div", { class: "column", id: "listing" }, make("h4", { text: "Lines" }), lines.element);
  const line = make("div", { class: "splitter", role: "separator", tabindex: 0, "aria-orientation": "vertical", "aria-controls": "listing", "aria-label": "Width of the lines",
    "aria-valuenow": 0, title: "Drag, or use the arrow keys, to set the width of the lines; a double click resets it" });
  const beside = make("div", { class: "beside source" }, listing, line, code.element);
  const panel = make("section", { class: "panel column" }, head, whole, note, beside);
  const widest = () => Math.max(0, beside.clientWidth - LEAST);
  /** Sets the width of the lines. */
  const split = () => {
    const { wide } = app.state;
    beside.style.setProperty("--lines", wide ? `${Math.max(LEAST, Math.min(wide, widest()))}px` : "minmax(0, 1fr)");
    showSplitter(line, listing.clientWidth, widest(), LEAST);
  };
  startSplitter(line, { size: () => listing.clientWidth, most: widest, set: (wide, isMoving) => {
    const patch = { wide: wide && Math.max(LEAST, wide) };
    if (isMoving) app.state = { ...app.state, ...patch }; else app.keep(patch);
    split();
  } });
  const draw = () => {
    const { own } = app.model.functionCosts(), before = f;
    f = app.state.func;
    if (f < 0 || f >= app.model.functions) f = own.subarray(0, app.model.functions).reduce((best, cost, at) => cost > own[best] ? at : best, 0);
    if (!app.model.functions) return;
    if (f !== before) expanded = new Set();
    const file = app.model.file(f), text = textOf(file);
    split();
    head.textContent = app.label(f);
    app.showWhole(whole, f);
    note.textContent = `${file || "source file unknown"}${app.model.module(f) ? ` in ${app.model.module(f)}` : ""}. ` +
      (text || !file ? "" : app.texts.why);
    /** @type {Line[]} */
    let shown = [];
    /** @type {(Line & { file: string })[]} */
    const others = [];
    for (const [number, cost] of linesOf(app.model, f)) {
      const { file: found, line } = app.model.lineOf(f, number), row = { ...cost, line, key: String(number), depth: 0 };
      if (found === file) shown.push({ ...row, text: text ? text[line - 1] ?? "" : line ? `${baseName(file)}:${line}` : "line unknown" });
      else others.push({ ...row, file: found, text: elsewhere("", found, line) });
    }
    shown.sort((a, b) => a.line - b.line);
    // Lines of other files, such as an included body, follow those of the function's file.
    others.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
    if (text) shown = [...withText(shown, text, app.model.named.functions[f][3] ?? 0), ...others];
    else shown = [...shown, ...others].sort((a, b) => b.own - a.own || b.total - a.total || a.line - b.line);
    most = { own: Math.max(1, ...shown.map(mostIn)), total: Math.max(1, ...shown.map((row) => row.total)) };
    linked = [];
    code.key = "";
    lines.show(shown, true);
    fit();
    if (text) revealHottest();
    void code.show(f);
  };
  /** Scrolls to the line with the costliest machine code, with some lines below it. */
  const revealHottest = () => {
    let hottest = 0;
    lines.rows.forEach(({ data, level }, at) => { if (level === 1 && machineCost(data) > machineCost(lines.rows[hottest].data)) hottest = at; });
    lines.reveal(hottest + 6);
    lines.reveal(hottest - 6);
    lines.reveal(hottest);
  };
  return { id: "source", title: "Source", panel, draw, resize: () => { split(); lines.draw(); code.rows.draw(); } };
}

/** All lines of a function's text, if lines of it have a cost.
 * @param {Line[]} rows in ascending order @param {string[]} text @param {number} declared line of its declaration, or 0
 * @returns {Line[]} */
function withText(rows, text, declared) {
  const known = rows.filter((row) => row.line > 0), made = rows.filter((row) => row.line === 0);
  if (!known.length) return rows;
  const by = new Map(known.map((row) => [row.line, row]));
  const { first, last } = extentOf(text, known[0].line, known[known.length - 1].line, declared);
  for (let line = first; line <= last; line++) made.push(by.get(line) || { line, own: 0, total: 0, text: text[line - 1] ?? "", key: String(line), depth: 0 });
  return made;
}
