// @ts-check
// Graph of frames on a canvas of the size of its window: only visible rows are drawn, and only frames of half a pixel
// or more are laid out.
import { NONE } from "../../data/columns.js";
import { INK } from "../../data/colour.js";
import { boxAt, layout } from "../../data/tree/layout.js";
import { pathTo, range } from "../../data/tree/tree.js";
import { make, sized, styled } from "../elements/element.js";
import { hideTip } from "../elements/tip.js";
import { Gestures } from "./gestures.js";
import { FONT, ROW, lookOf, paint } from "./paint.js";

/** @typedef {import("../shell.js").Shell} Shell */
/** @typedef {import("../../data/tree/around.js").CostPicture} CostPicture */
/** @typedef {import("../../data/tree/layout.js").Box} Box */

/** Minimum height of a graph that fits its frames, in pixels. */
const LEAST = 64;

export class Graph {
  /** @param {Shell} app
   * @param {{ label: string, down: boolean, zoomed?: (node: number) => void, tell: (text: string) => void,
   *   describe?: (node: number) => string[], colour?: (node: number) => string,
   *   hatched?: (node: number) => boolean, fits?: boolean }} options with `fits`, no higher than its frames */
  constructor(app, options) {
    this.app = app;
    this.options = options;
    this.down = options.down;
    /** @type {CostPicture | null} */
    this.picture = null;
    this.zoom = NONE;
    /** Selected frame. */
    this.at = NONE;
    /** @type {Box[][]} */
    this.rows = [];
    /** Size used for the layout, in CSS pixels. */
    this.width = 0;
    this.seen = 0;
    this.height = 0;
    this.rowHeight = ROW;
    this.canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { tabindex: 0, role: "application",
      "aria-label": `${options.label}. Arrow keys or a click select a frame, Enter or a double click zooms, Escape zooms out, m opens a menu.` }));
    this.space = make("div", { class: "space" }, this.canvas);
    this.element = make("div", { class: "graph" }, this.space);
    this.element.addEventListener("scroll", () => { hideTip(); this.draw(); });
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.gestures = new Gestures(this);
    for (const kind of ["focus", "blur"]) this.canvas.addEventListener(kind, () => this.draw());
  }

  /** Shows a picture; retains the scroll position if the zoom is the same, and the selected frame.
   * @param {CostPicture} picture @param {number} zoom @param {boolean} [fresh] */
  show(picture, zoom, fresh) {
    const moved = fresh || !this.picture || zoom !== this.again(picture, this.zoom), { at, picture: before } = this;
    this.picture = picture;
    this.zoom = zoom;
    this.place();
    const isKnown = before !== null && at !== NONE && at < before.tree.n, found = isKnown ? this.nearest(before.tree, at) : NONE;
    this.at = found === NONE && (moved || isKnown) ? zoom : found;
    if (moved) this.element.scrollTop = this.down ? 0 : this.element.scrollHeight;
    this.draw();
  }

  /** Node of another picture with the same path of functions, since the trees of a live recording are rebuilt.
   * @param {CostPicture} picture @param {number} node */
  again(picture, node) {
    if (!this.picture || node === NONE || picture.tree === this.picture.tree) return node < picture.tree.n ? node : NONE;
    const { tree, children } = picture, old = this.picture.tree;
    if (node >= old.n) return NONE;
    let found = NONE;
    for (const step of pathTo(old, node)) {
      const [from, to] = range(children, found), inside = children.list.subarray(from, to);
      const next = inside.find((one) => tree.func[one] === old.func[step] && tree.flags[one] === old.flags[step]);
      if (next === undefined) return NONE;
      found = next;
    }
    return found;
  }

  /** Drawn frame with the path of functions of a node in an earlier tree, without the functions that a filter or a zoom
   * has removed.
   * @param {import("../../data/tree/tree.js").Tree} old @param {number} node */
  nearest(old, node) {
    const { tree, title } = /** @type {CostPicture} */ (this.picture);
    let found = NONE, row = title ? 1 : 0;
    for (const step of pathTo(old, node)) {
      const inside = (this.rows[row] || []).filter((box) => box.node !== NONE && tree.parent[box.node] === found && tree.func[box.node] === old.func[step]);
      const next = inside.find((box) => tree.flags[box.node] === old.flags[step]) || inside[0];
      if (!next) continue;
      found = next.node;
      row++;
    }
    return found;
  }

  resize() {
    if (this.element.clientWidth !== this.width || this.element.clientHeight !== this.seen) this.place();
    this.draw();
  }

  /** Lays out the frames in the available space. */
  place() {
    if (!this.picture || !this.element.clientWidth) return;
    // The height before: a graph whose root is in sight keeps it there when other parts of the page grow.
    const atEnd = !this.down && this.element.scrollTop + Math.max(this.seen, this.element.clientHeight) >= this.height - 2;
    this.width = this.element.clientWidth;
    this.rows = layout(this.picture, this.zoom, this.width);
    if (this.options.fits) this.element.style.maxHeight = `${Math.max(LEAST, this.rows.length * ROW + 2)}px`;
    this.seen = this.element.clientHeight;
    this.height = Math.max(this.rows.length * ROW, this.element.clientHeight);
    this.space.style.height = this.height + "px";
    if (atEnd) this.element.scrollTop = this.element.scrollHeight;
  }

  /** Top of a row, relative to the scrolled space.
   * @param {number} row */
  top(row) { return this.down ? row * ROW : this.height - (row + 1) * ROW; }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!this.picture || !width || !height) return;
    const pen = sized(this.canvas, width, height), from = this.element.scrollTop;
    pen.font = FONT;
    pen.textBaseline = "middle";
    const edge = styled("--edge"), mark = styled("--hit"), ink = INK[this.app.theme], hasFocus = document.activeElement === this.canvas;
    for (let row = 0; row < this.rows.length; row++) {
      const y = this.top(row) - from;
      if (y + ROW <= 0 || y >= height) continue;
      for (const box of this.rows[row]) {
        paint(pen, lookOf(this, box, mark), y, ink);
        if (box.node !== this.at || !(hasFocus || this.at !== this.zoom)) continue;
        pen.strokeStyle = edge;
        pen.lineWidth = 2.5;
        pen.strokeRect(box.x + 1, y + 1, Math.max(box.w - 3, 1), ROW - 3);
      }
    }
  }

  /** Frame at a position in the window.
   * @param {{ clientX: number, clientY: number }} event @returns {Box | null} */
  under(event) {
    const area = this.canvas.getBoundingClientRect();
    const x = event.clientX - area.left, y = event.clientY - area.top + this.element.scrollTop;
    const row = this.down ? Math.floor(y / ROW) : Math.floor((this.height - y) / ROW);
    return boxAt(this.rows[row], x);
  }

  /** @param {number} node */
  describe(node) {
    if (this.options.describe) return this.options.describe(node);
    return this.app.describe(/** @type {CostPicture} */ (this.picture), node, this.zoom);
  }

  /** Zooms to a frame.
   * @param {number} node */
  go(node) {
    this.at = node;
    this.options.tell(this.describe(node).join(" · "));
    if (this.options.zoomed) this.options.zoomed(node);
    else if (this.picture) this.show(this.picture, node);
  }

  /** Selects a frame and scrolls to it.
   * @param {number} node */
  pick(node) {
    this.at = node;
    const row = this.rows.findIndex((boxes) => boxes.some((box) => box.node === node));
    if (row >= 0) {
      const top = this.top(row), box = this.element;
      if (top < box.scrollTop || top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
    }
    this.draw();
    this.options.tell(this.describe(node).join(" · "));
  }

  /** @param {number} node @returns {number[]} Its drawn children, from left to right. */
  inside(node) {
    const { children } = /** @type {CostPicture} */ (this.picture), drawn = new Set();
    for (const row of this.rows) for (const box of row) drawn.add(box.node);
    const [from, to] = range(children, node), found = [];
    for (let k = from; k < to; k++) if (drawn.has(children.list[k])) found.push(children.list[k]);
    return found;
  }

  /** Runs the action of a key; returns false if it has none.
   * @param {KeyboardEvent} event */
  key(event) { return this.gestures.key(event); }

  /** Returns true if the mouse is over a frame. */
  isHovered() { return this.gestures.hovered() !== null; }
}

/** Keys of a view with several graphs: those of the graph under the mouse, else those of the rest of the view.
 * @param {Graph[]} graphs @param {(event: KeyboardEvent) => boolean} [rest] */
export function keysOf(graphs, rest) {
  const hovered = () => graphs.find((graph) => graph.isHovered());
  return { isHovered: () => hovered() !== undefined, key: (/** @type {KeyboardEvent} */ event) => hovered()?.key(event) || rest?.(event) || false };
}
