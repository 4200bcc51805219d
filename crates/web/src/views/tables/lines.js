// @ts-check
// Source view of one function: lines with their costs, and instructions.
import { linesOf } from "../../data/tree/around.js";
import { baseName } from "../../data/names.js";
import { amount, percent, spread } from "../../data/numbers.js";
import { make } from "../elements/element.js";
import { Instructions } from "./instructions.js";
import { Rows } from "../elements/rows.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */
/** Line of the source; `file` is set if the line is in another file than its function.
 * @typedef {{ line: number, own: number, total: number, text: string, file?: string }} Line */

/** Number of context lines around those with a cost. */
const AROUND = 6;

/** @param {App} app @returns {ViewPart} */
export function sourceView(app) {
  const head = make("h3"), whole = make("p", { class: "note" }), note = make("p", { class: "note" });
  const code = new Instructions(app);
  const costs = (/** @type {Line} */ row) => [row.own ? `own ${amount(row.own)} samples, ${spread(row.own, app.costs.allN, row.own, app.costs.allN)}` : "",
    row.total ? `inclusive ${amount(row.total)} samples` : ""].filter(Boolean).join("; ");
  /** Own samples of the costliest line, and the numbers of the lines of the selected instruction. */
  let most = 1, linked = /** @type {number[]} */ ([]);
  const share = (/** @type {number} */ n) => n ? percent(n, app.costs.allN) : "";
  /** @type {Rows<Line>} */
  const lines = new Rows({
    label: "Lines",
    picked: (row) => code.mark(row.file ? 0 : row.line),
    columns: [
      { title: "Own", width: "5.5em", kind: "number", text: (row) => share(row.own), hint: costs, bar: (row) => row.own / most },
      { title: "Inclusive", width: "6.5em", kind: "number", text: (row) => share(row.total), hint: costs, drop: 1 },
      { title: "Line", width: "4em", kind: "number", text: (row) => row.line ? String(row.line) : "?" },
      { title: "Source", width: "minmax(12em, 1fr)", kind: "name", text: (row) => row.text,
        mark: (row) => "code" + (row.own || row.total ? " hot" : "") + (!row.file && linked.includes(row.line) ? " linked" : "") },
    ],
  });
  code.selected = (of) => {
    linked = of;
    const at = lines.rows.findIndex(({ data }) => !data.file && of.includes(data.line));
    if (at >= 0) lines.reveal(at); else lines.draw();
  };
  const panel = make("section", { class: "panel column" }, head, whole, note, make("div", { class: "beside source" },
    make("div", { class: "column" }, make("h4", { text: "Lines" }), lines.element), code.element));
  const draw = () => {
    const { own } = app.model.functionCosts();
    let f = app.state.func;
    if (f < 0 || f >= app.model.functions) f = own.subarray(0, app.model.functions).reduce((best, cost, at) => cost > own[best] ? at : best, 0);
    if (!app.model.functions) return;
    const found = linesOf(app.model, f), file = app.model.file(f), text = file ? app.texts.known(file) : null;
    // A requested text is drawn when it arrives; it is cached by then.
    if (text === undefined) app.texts.ask(file).then(() => { if (app.state.view === "source") draw(); });
    head.textContent = app.label(f);
    app.showWhole(whole, f);
    note.textContent = `${file || "source file unknown"}${app.model.module(f) ? ` in ${app.model.module(f)}` : ""}. ` +
      (text || !file ? "" : app.texts.why);
    /** @type {Line[]} */
    let shown = [];
    /** @type {Line[]} */
    const others = [];
    for (const [number, cost] of found) {
      const at = app.model.lineOf(f, number), { line } = at, own = cost.own, total = cost.total;
      if (at.file === file) shown.push({ line, own, total, text: text ? text[line - 1] ?? "" : line ? `${baseName(file)}:${line}` : "line unknown" });
      else {
        const other = app.texts.known(at.file);
        if (other === undefined) app.texts.ask(at.file).then(() => { if (app.state.view === "source") draw(); });
        const place = `${baseName(at.file)}:${line}`;
        others.push({ line, own, total, file: at.file, text: other ? `${place}  ${other[line - 1] ?? ""}` : place });
      }
    }
    shown.sort((a, b) => a.line - b.line);
    // Lines of other files, such as an included body, follow those of the function's file.
    others.sort((a, b) => (a.file || "").localeCompare(b.file || "") || a.line - b.line);
    if (text) shown = withText(shown, text).concat(others);
    else (shown = shown.concat(others)).sort((a, b) => b.own - a.own || b.total - a.total || a.line - b.line);
    most = Math.max(1, ...shown.map((row) => row.own));
    linked = [];
    code.line = 0;
    lines.show(shown, true);
    lines.fit((row) => row.text);
    if (text) lines.reveal(Math.max(0, shown.findIndex((row) => row.own === most)));
    void code.show(f);
  };
  return { id: "source", title: "Source", panel, draw, resize: () => { lines.draw(); code.rows.draw(); } };
}

/** Lines of the function's text, with context before the first and after the last line with a cost.
 * @param {Line[]} rows @param {string[]} text @returns {Line[]} */
function withText(rows, text) {
  const known = rows.filter((row) => row.line > 0), unknown = rows.filter((row) => row.line === 0);
  if (!known.length) return rows;
  const by = new Map(known.map((row) => [row.line, row])), made = [...unknown];
  const first = Math.max(1, known[0].line - AROUND), last = Math.min(text.length, known[known.length - 1].line + AROUND);
  for (let line = first; line <= last; line++) made.push(by.get(line) || { line, own: 0, total: 0, text: text[line - 1] });
  return made;
}
