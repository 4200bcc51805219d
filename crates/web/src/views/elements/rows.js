// @ts-check
// Table of any length: only visible rows are elements. With levels, it is a tree with expandable rows.
import { make } from "./element.js";
import { appendCut, textWidths } from "./fit.js";

/** Row of the table; `data` is its subject.
 * @template T @typedef {{ data: T, level: number, canOpen: boolean, isOpen: boolean }} Row */
/** Column: its title, width, cell contents (text and optional class), sort key, and the share that a bar in the cell shows.
 * `draw` replaces the text by elements; `hidden` tells if the column has nothing to say. In a narrow table, columns with a rank in `drop` are left out, low ranks first; then those with `brief` show that.
 * @template T @typedef {{ title: string, width: string, kind: "number" | "name" | "where", sort?: string,
 *   text: (data: T) => string, mark?: (data: T) => string, hint?: (data: T) => string, bar?: (data: T) => number, drop?: number,
 *   hidden?: () => boolean, draw?: (data: T) => (Node | string)[] | null, brief?: { width: string, text: (data: T) => string } }} Column */

const HEIGHT = 22;
/** Widths of a cell's padding, of the sign of a row that opens, and of a colour, in pixels. */
const PADDING = 13, TWIST = 14, SWATCH = 15;
/** Width of names in pixels below which levels have narrow steps. */
const TIGHT = 260;
/** Width that names have at least, before columns are left out: a share of the table, and a limit in em. */
const NAMES = 0.5, ENOUGH = 16;
/** Minimum width of a table that keeps all columns, in em. */
const LEAST = 38;
/** Width of a character in a monospaced font, in em. */
const LETTER = 0.62;
/** Minimum width of names in other tables, in em. */
const NAME = 8;
let serial = 0;

/** @template T */
export class Rows {
  /** @param {{ label: string, columns: Column<T>[], tree?: boolean, sorted?: () => string, sort?: (by: string) => void,
   *   act?: (data: T) => void, menu?: (data: T, x: number, y: number) => void, open?: (row: Row<T>) => T[],
   *   toggled?: (row: Row<T>) => void, canOpen?: (data: T) => boolean, least?: number, picked?: (data: T) => void,
   *   swatch?: (data: T) => string, expanded?: (data: T) => boolean, follow?: (data: T) => void,
   *   over?: (data: T | null) => void }} options with `expanded`: whether a row that appears is expanded; `follow` for
   *   Enter, or a click on the class of that name; `over` for the row under the mouse */
  constructor(options) {
    this.options = options;
    /** @type {Row<T>[]} */
    this.rows = [];
    this.at = 0;
    /** Widths of the columns' texts, and of characters. */
    this.widths = /** @type {number[]} */ ([]);
    this.letters = textWidths();
    this.id = `rows${serial++}`;
    this.head = make("div", { class: "row head", role: "row", "aria-rowindex": 1 });
    this.space = make("div", { class: "space", role: "rowgroup" });
    this.element = make("div", {
      class: "rows", role: options.tree ? "treegrid" : "grid", tabindex: 0, "aria-label": options.label,
      scroll: () => this.draw(), keydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
    }, make("div", { role: "rowgroup", class: "headgroup" }, this.head), this.space);
    /** Columns that fit. */
    this.columns = options.columns;
    /** Width of the longest text of the last column, in em; 0 if it is cut. */
    this.longest = 0;
    this.fitted = "";
    new ResizeObserver(() => this.draw()).observe(this.element);
    this.space.addEventListener("click", (event) => this.clicked(event));
    if (options.over) {
      this.space.addEventListener("pointermove", (event) => options.over?.(this.rowOf(event)?.row.data ?? null));
      this.space.addEventListener("pointerleave", () => options.over?.(null));
    }
    this.space.addEventListener("contextmenu", (event) => {
      const row = this.rowOf(event);
      if (!row || !options.menu) return;
      event.preventDefault();
      this.pick(row.index);
      options.menu(row.row.data, event.clientX, event.clientY);
    });
  }

  /** Shows new rows.
   * @param {T[]} data @param {boolean} [keepPlace] */
  show(data, keepPlace) {
    this.rows = this.withInner(data, 1);
    if (!keepPlace) { this.at = 0; this.element.scrollTop = 0; }
    this.at = Math.max(0, Math.min(this.at, this.rows.length - 1));
    this.drawHead();
    this.draw();
  }

  /** Width of the longest text of the rows in a monospaced font, with a margin, in em.
   * @param {(data: T) => string} text @param {number} least in characters @param {number} margin in em */
  wide(text, least, margin) {
    const longest = this.rows.reduce((most, row) => Math.max(most, text(row.data).length), least);
    return Math.ceil(longest * LETTER + margin);
  }

  /** Makes the last column wide enough for the longest text in a monospaced font; the table scrolls sideways.
   * @param {(data: T) => string} text */
  fit(text) {
    this.longest = this.wide(text, 20, 2);
    this.draw();
  }

  /** Makes a column wide enough for the longest text in a monospaced font.
   * @param {number} at */
  widen(at) {
    const { options: { columns } } = this, column = columns[at];
    columns[at] = { ...column, width: `${this.wide(column.text, column.title.length, 1.5)}em` };
    this.fitted = "";
    this.draw();
  }

  /** Makes the table no higher than its rows, for another one below it. */
  shrink() { this.element.style.maxHeight = `${(this.rows.length + 2) * HEIGHT}px`; }

  /** Leaves out columns until the names have enough space. */
  arrange() {
    const { element } = this, { weight } = document.documentElement.dataset, width = element.clientWidth;
    const columns = this.options.columns.filter((column) => !column.hidden?.()), key = `${width} ${weight} ${this.longest} ${columns.map(({ title }) => title)}`;
    if (!width || key === this.fitted) return;
    this.fitted = key;
    const em = parseFloat(getComputedStyle(element).fontSize) || 13, wide = (/** @type {string} */ text) => text === "var(--cost)" ? (weight === "period" ? 17.5 : 11) : Number(/([\d.]+)em/.exec(text)?.[1] ?? 0);
    const isOpen = (/** @type {Column<T>} */ column) => column.width.endsWith("1fr)");
    const fixed = () => this.columns.reduce((sum, column) => sum + (isOpen(column) && column.kind === "name" ? 0 : wide(column.width)), 0);
    const isTight = () => width - fixed() * em < Math.min(NAMES * width, ENOUGH * em);
    this.columns = columns;
    for (const rank of [...new Set(columns.map(({ drop }) => drop ?? 0))].filter((rank) => rank > 0).sort((a, b) => a - b)) {
      if (isTight()) this.columns = this.columns.filter(({ drop }) => drop !== rank);
    }
    if (isTight()) this.columns = this.columns.map((column) => column.brief ? { ...column, ...column.brief } : column);
    const widths = this.columns.map((column) => column.width), isLess = this.columns !== columns || columns.length < this.options.columns.length;
    if (this.longest) widths.splice(-1, 1, `minmax(${this.longest}em, 1fr)`);
    else if (isLess) this.columns.forEach((column, at) => { if (isOpen(column)) widths[at] = "minmax(0, 1fr)"; });
    element.style.setProperty("--columns", widths.join(" "));
    const least = this.longest || isLess ? fixed() + (this.longest || NAME) : this.options.least ?? LEAST;
    element.style.setProperty("--least", `${least}em`);
    this.drawHead();
  }

  /** @param {T} data @param {number} level @returns {Row<T>} */
  row(data, level) {
    return { data, level, canOpen: this.options.canOpen ? this.options.canOpen(data) : false, isOpen: false };
  }

  /** Rows of data, each followed by the rows inside it if it is expanded.
   * @param {T[]} data @param {number} level @returns {Row<T>[]} */
  withInner(data, level) {
    /** @type {Row<T>[]} */
    const made = [];
    for (const one of data) {
      const row = this.row(one, level);
      made.push(row);
      if (!row.canOpen || !this.options.open || !this.options.expanded?.(one)) continue;
      row.isOpen = true;
      for (const inner of this.withInner(this.options.open(row), level + 1)) made.push(inner);
    }
    return made;
  }

  drawHead() {
    const { columns, options: { sort, sorted } } = this;
    this.head.replaceChildren(...columns.map((column) => {
      const by = column.sort, isSorted = by !== undefined && sorted !== undefined && sorted() === by;
      const cell = make("div", { role: "columnheader", class: `cell ${column.kind}`, "aria-sort": isSorted ? (by === "name" ? "ascending" : "descending") : false });
      if (by !== undefined && sort) cell.append(make("button", { type: "button", click: () => sort(by), text: column.title + (isSorted ? " ▾" : "") }));
      else cell.append(column.title);
      return cell;
    }));
  }

  draw() {
    this.arrange();
    const box = this.element, first = Math.max(0, Math.floor(box.scrollTop / HEIGHT) - 4);
    const last = Math.min(this.rows.length, first + Math.ceil(box.clientHeight / HEIGHT) + 8);
    this.space.style.height = this.rows.length * HEIGHT + "px";
    box.setAttribute("aria-rowcount", String(this.rows.length + 1));
    const made = [];
    this.widths = [...this.head.children].map((cell) => cell.clientWidth - PADDING);
    this.letters = textWidths();
    for (let index = first; index < last; index++) made.push(this.drawRow(index));
    this.space.replaceChildren(...made);
    if (this.rows.length && this.at >= first && this.at < last) box.setAttribute("aria-activedescendant", `${this.id}-${this.at}`);
    else box.removeAttribute("aria-activedescendant");
  }

  /** @param {number} index */
  drawRow(index) {
    const row = this.rows[index], { columns, options: { tree, swatch } } = this;
    const element = make("div", {
      class: "row" + (index === this.at ? " at" : ""), role: "row", id: `${this.id}-${index}`, "aria-rowindex": index + 2,
      "aria-selected": String(index === this.at), "aria-level": tree ? row.level : false,
      "aria-expanded": tree && row.canOpen ? String(row.isOpen) : false, "data-index": index,
    });
    element.style.transform = `translateY(${index * HEIGHT}px)`;
    columns.forEach((column, at) => {
      let width = this.widths[at] ?? 0;
      const text = column.text(row.data), hint = column.hint ? column.hint(row.data) : text;
      const cell = make("div", { role: "gridcell", class: `cell ${column.kind} ${column.mark ? column.mark(row.data) : ""}`, title: hint || false });
      if (column.kind === "name" && tree) {
        const indent = 4 + Math.min(row.level - 1, 200) * (width < TIGHT ? 4 : 12);
        cell.style.paddingLeft = indent + "px";
        width -= indent - 6 + TWIST;
        cell.append(make("span", { class: "twist", "aria-hidden": "true", text: row.canOpen ? (row.isOpen ? "▾" : "▸") : "" }));
      }
      if (column.kind === "name" && swatch) {
        const box = make("i", { class: "swatch", "aria-hidden": "true" });
        box.style.background = swatch(row.data);
        cell.append(box);
        width -= SWATCH;
      }
      const share = column.bar ? column.bar(row.data) : 0;
      if (share > 0) {
        cell.classList.add("heat");
        cell.style.setProperty("--share", `${Math.min(100, 100 * share)}%`);
      }
      const isCode = column.kind === "number" || cell.classList.contains("code");
      const drawn = column.draw?.(row.data);
      if (drawn) cell.append(...drawn);
      else if (isCode || width <= 0) cell.append(text);
      else appendCut(cell, text, width, cell.classList.contains("hit") ? this.letters.bold : this.letters.plain);
      element.append(cell);
    });
    return element;
  }

  /** @param {Event} event */
  rowOf(event) {
    const element = /** @type {Element} */ (event.target).closest("[data-index]");
    if (!element) return null;
    const index = Number(element.getAttribute("data-index"));
    return { index, row: this.rows[index] };
  }

  /** @param {MouseEvent} event */
  clicked(event) {
    const found = this.rowOf(event);
    if (!found) return;
    const isFollowed = !!this.options.follow && !!(/** @type {Element} */ (event.target).closest(".follow"));
    this.pick(found.index);
    if (isFollowed) this.options.follow?.(found.row.data);
    else if (found.row.canOpen) this.toggle(found.index);
    else if (!this.options.tree && this.options.act) this.options.act(found.row.data);
  }

  /** Selects a row, and reports it.
   * @param {number} index */
  pick(index) {
    this.reveal(index);
    const row = this.rows[this.at];
    if (row) this.options.picked?.(row.data);
  }

  /** Selects a row without reporting it.
   * @param {number} index */
  reveal(index) {
    if (!this.rows.length) return;
    this.at = Math.max(0, Math.min(index, this.rows.length - 1));
    const box = this.element, top = this.at * HEIGHT, seen = box.clientHeight - this.head.offsetHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + HEIGHT > box.scrollTop + seen) box.scrollTop = top + HEIGHT - seen;
    this.draw();
  }

  /** Expands or collapses a row.
   * @param {number} index @param {boolean} [wanted] */
  toggle(index, wanted) {
    const row = this.rows[index];
    if (!row?.canOpen || !this.options.open || wanted === row.isOpen) return;
    row.isOpen = !row.isOpen;
    if (row.isOpen) {
      const inside = this.withInner(this.options.open(row), row.level + 1);
      this.rows = [...this.rows.slice(0, index + 1), ...inside, ...this.rows.slice(index + 1)];
    } else {
      let end = index + 1;
      while (end < this.rows.length && this.rows[end].level > row.level) end++;
      this.rows.splice(index + 1, end - index - 1);
    }
    this.options.toggled?.(row);
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.target !== this.element || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / HEIGHT) - 2), row = this.rows[this.at];
    switch (event.key) {
      case "ArrowDown": this.pick(this.at + 1); break;
      case "ArrowUp": this.pick(this.at - 1); break;
      case "PageDown": this.pick(this.at + page); break;
      case "PageUp": this.pick(this.at - page); break;
      case "Home": this.pick(0); break;
      case "End": this.pick(this.rows.length - 1); break;
      case "ArrowRight":
        if (row?.canOpen && !row.isOpen) this.toggle(this.at, true); else this.pick(this.at + 1);
        break;
      case "ArrowLeft":
        if (row?.isOpen) this.toggle(this.at, false); else this.pick(this.outer());
        break;
      case "Enter":
      case " ":
        if (row?.canOpen) this.toggle(this.at); else if (row) (this.options.follow ?? this.options.act)?.(row.data);
        break;
      case "m":
        if (row) this.openMenu();
        break;
      default: return;
    }
    event.preventDefault();
  }

  /** Index of the parent of the current row. */
  outer() {
    let at = this.at;
    while (at > 0 && this.rows[at].level >= this.rows[this.at].level) at--;
    return at;
  }

  openMenu() {
    const row = this.rows[this.at], element = document.getElementById(`${this.id}-${this.at}`);
    const area = (element || this.element).getBoundingClientRect();
    if (row) this.options.menu?.(row.data, area.left + 80, area.bottom);
  }
}
