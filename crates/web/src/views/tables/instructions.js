// @ts-check
// Machine code that contains samples of a function: its instructions with their costs, or a note on the samples without
// code.
import { codeLines, endOf, hex, addressesOf, whyNoAddress } from "../../data/code.js";
import { functionsAt, jumpsOf, shortTarget, targetOf } from "../../data/listing/jumps.js";
import { percent } from "../../data/numbers.js";
import { make } from "../elements/element.js";
import { Arrows, withTarget } from "./arrows.js";
import { Rows } from "../elements/rows.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../../data/code.js").CodeBlock} CodeBlock */
/** @typedef {import("../../data/code.js").CodeLine} CodeLine */

/** Maximum number of selectable parts of machine code: the function itself, and the functions it was inlined into. */
const MOST = 12;
/** Index of the column of addresses: those of kernels have 16 digits. */
const ADDRESS = 2;

export class Instructions {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.head = make("h4", { text: "Instructions" });
    this.note = make("p", { class: "note" });
    this.list = /** @type {HTMLSelectElement} */ (make("select", { "aria-label": "Machine code of", change: () => this.choose() }));
    const mark = (/** @type {CodeLine} */ row) => "code" + (row.own ? " hot" : "") + (row.of.includes(this.key) ? " linked" : "") + (this.arrows.isEnd(this.index(row)) ? " end" : "");
    this.arrows = new Arrows();
    /** Functions by address, of the module of the shown code. @type {Map<number, number>} */
    this.callees = new Map();
    /** Indexes of the shown instructions. @type {Map<CodeLine, number>} */
    this.indexes = new Map();
    /** Key of the selected source line, and the receiver of the lines of a selected instruction. */
    this.key = "";
    /** @type {(keys: string[]) => void} */
    this.selected = () => {};
    const share = (/** @type {number} */ cost) => cost ? percent(cost, app.costs.all) : "";
    /** @type {Rows<CodeLine>} */
    this.rows = new Rows({
      label: "Instructions",
      picked: (row) => {
        this.arrows.at = this.index(row);
        this.rows.draw();
        this.selected(row.of);
      },
      follow: (row) => this.follow(row),
      over: (row) => this.light(row ? this.index(row) : -1),
      columns: [
        { title: "Own", width: "5.5em", kind: "number", text: (row) => share(row.own), hint: (row) => row.own ? app.leafText(row.own) : "", bar: (row) => row.own / this.most },
        { title: "All", width: "5.5em", kind: "number", text: (row) => share(row.all), hint: (row) => row.all ? `${app.costText(row.all)}${row.all > row.own ? `, ${app.cost(row.all - row.own)} of it in other functions inlined here, or in functions that inline this one` : ""}` : "", bar: (row) => row.all / this.mostAll },
        { title: "Address", width: "8em", kind: "name", text: (row) => hex(row.address), mark },
        { title: "Jumps", width: "4.6em", kind: "name", text: () => "", draw: (row) => [this.arrows.draw(this.index(row))], drop: 1 },
        { title: "Instruction", width: "minmax(16em, 1fr)", kind: "name", text: (row) => row.text, mark, draw: (row) => withTarget(row.text, this.calleeName(row)) },
      ],
    });
    /** Own cost of the instruction with the largest, and the whole cost of the one with the largest. */
    this.most = this.mostAll = 1;
    this.element = make("div", { class: "column" }, this.head, this.note, this.list, this.rows.element);
    /** @type {{ block: CodeBlock, end: number, lines: CodeLine[], whole: number, own: number }[]} */
    this.parts = [];
    /** Number of the latest request; answers to earlier ones are ignored. */
    this.asked = 0;
    this.shown = "";
  }

  /** Shows the code of a function.
   * @param {number} f */
  async show(f) {
    const { app } = this, asked = ++this.asked, places = addressesOf(app.model, f), module = app.model.moduleOf()[f];
    const key = `${f} ${app.model.costsKey}`;
    /** @type {Instructions["parts"]} */
    const parts = [];
    let left = places, outside = 0;
    while (left.length && parts.length < MOST) {
      const [{ address }] = left, block = await app.code.at(module, address).catch(() => null);
      if (asked !== this.asked) return;
      if (!block) { outside += left[0].n; left = left.slice(1); if (!parts.length && outside && left.length > 50) break; continue; }
      const { lines, whole } = codeLines(app.model, f, block), end = endOf(block);
      parts.push({ block, end, lines, whole, own: lines.reduce((sum, line) => sum + line.own, 0) });
      left = left.filter((place) => place.address < block.start || place.address >= end);
    }
    this.parts = parts.sort((a, b) => b.own - a.own);
    this.list.replaceChildren(...this.parts.map((part, at) => make("option", { value: at, text: `${app.label(part.whole < 0 ? f : part.whole)} ${hex(part.block.start)}: ${app.costText(part.own)}` })));
    this.list.hidden = this.parts.length < 2;
    const all = places.reduce((sum, place) => sum + place.n, 0), here = this.parts.reduce((sum, part) => sum + part.own, 0);
    this.callees = functionsAt(app.model, module, app.code.blocks());
    this.note.textContent = !all ? whyNoAddress(app.model, f) : this.parts.length ? (here < all ? `${app.cost(all - here)} of its ${app.costText(all)} are in code that is not shown. ${app.code.why}` : "") : app.code.why;
    if (this.parts.length) this.choose(key === this.shown);
    else {
      this.head.textContent = "Addresses of the samples";
      this.most = this.mostAll = Math.max(1, ...places.map(({ n }) => n));
      this.arrows.show([]);
      this.rows.show(places.map(({ address, n }) => ({ address, text: "", all: n, own: n, of: [] })), key === this.shown);
      this.rows.widen(ADDRESS);
    }
    this.shown = key;
  }

  /** Selected part; undefined if there is no code. */
  get part() { return /** @type {Instructions["parts"][0] | undefined} */ (this.parts[Number(this.list.value) || 0]); }

  /** Shows the selected part, scrolled to its most sampled instruction.
   * @param {boolean} [keepPlace] */
  choose(keepPlace) {
    const { part } = this;
    if (!part) return;
    this.head.textContent = `Instructions of ${part.whole < 0 ? "the machine code" : this.app.label(part.whole)}`;
    this.head.title = part.whole < 0 ? "" : this.app.model.name(part.whole);
    let most = 0;
    part.lines.forEach((line, at) => { if (line.all > part.lines[most].all) most = at; });
    this.most = part.lines.reduce((sum, line) => Math.max(sum, line.own), 1);
    this.mostAll = Math.max(1, part.lines[most]?.all ?? 1);
    this.arrows.show(jumpsOf(part.lines));
    this.indexes = new Map(part.lines.map((line, at) => [line, at]));
    this.arrows.at = keepPlace ? this.rows.at : most;
    this.rows.show(part.lines, keepPlace);
    this.rows.widen(ADDRESS);
    this.rows.fit((row) => `${row.text} <${this.calleeName(row)}>`);
    if (keepPlace) return;
    this.rows.reveal(Math.min(part.lines.length - 1, most + 6));
    this.rows.reveal(most);
  }

  /** Marks the instructions of a source line, and scrolls to the costliest one.
   * @param {string} key */
  mark(key) {
    this.key = key;
    let most = -1;
    const { rows } = this.rows;
    rows.forEach(({ data }, at) => { if (data.of.includes(key) && (most < 0 || data.all > rows[most].data.all)) most = at; });
    if (most >= 0) this.rows.reveal(most); else this.rows.draw();
  }

  /** @param {CodeLine} row */
  index(row) { return this.indexes.get(row) ?? -1; }

  /** Function that a call or a jump enters; -1 if it is unknown.
   * @param {CodeLine} row */
  callee(row) { return this.callees.get(targetOf(row.text)?.address ?? -1) ?? -1; }

  /** @param {CodeLine} row */
  calleeName(row) {
    const f = this.callee(row), address = targetOf(row.text)?.address ?? -1, { part } = this;
    if (f >= 0) return this.app.label(f);
    if (!part || (address >= part.block.start && address < part.end)) return "";
    const name = this.app.code.nameAt?.(part.block.module, address) ?? "";
    return this.app.state.names === "short" ? shortTarget(name) : name;
  }

  /** Goes to the target of a jump, or to the function that a call or a jump enters.
   * @param {CodeLine} row */
  follow(row) {
    const from = this.index(row), address = targetOf(row.text)?.address, to = this.rows.rows.findIndex(({ data }) => data.address === address);
    if (to >= 0) {
      this.rows.reveal(to + (to < from ? -3 : 3));
      this.rows.pick(to);
    } else if (this.callee(row) >= 0) this.app.change({ func: this.callee(row) });
  }

  /** Highlights the jumps at the row under the mouse, and their other ends.
   * @param {number} row */
  light(row) {
    if (row === this.arrows.over) return;
    const { arrows, rows } = this, isLess = arrows.hasEnd(arrows.over);
    arrows.over = row;
    if (!isLess && !arrows.hasEnd(row)) return;
    for (const element of rows.space.children) {
      const index = Number(element.getAttribute("data-index"));
      element.querySelector(".arrows")?.replaceWith(arrows.draw(index));
      for (const cell of element.querySelectorAll(".cell.code")) cell.classList.toggle("end", arrows.isEnd(index));
    }
  }
}
