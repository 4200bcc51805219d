// @ts-check
// Graph of frames on a canvas of the size of its window: only visible rows are drawn, and only frames of half a pixel
// or more are laid out.
import { GUESSED, INLINED, JOINED, NONE } from "../../data/columns.js";
import { INK } from "../../data/colour.js";
import { fitted } from "../../data/cut.js";
import { boxAt, layout } from "../../data/tree/layout.js";
import { pathTo, range } from "../../data/tree/tree.js";
import { functionKey, functionMenu } from "../actions.js";
import { make, sized, styled } from "../elements/element.js";
import { widthsOf } from "../elements/fit.js";
import { hideTip, showTip } from "../elements/tip.js";

/** @typedef {import("../shell.js").Shell} Shell */
/** @typedef {import("../../data/tree/around.js").CostPicture} CostPicture */
/** @typedef {import("../../data/tree/layout.js").Box} Box */

const ROW = 19;
const FONT = "12px system-ui, sans-serif";

export class Graph {
  /** @param {Shell} app
   * @param {{ label: string, down: boolean, zoomed?: (node: number) => void, tell: (text: string) => void,
   *   describe?: (node: number) => string[], colour?: (node: number) => string,
   *   hatched?: (node: number) => boolean, act?: (node: number) => void }} options */
  constructor(app, options) {
    this.app = app;
    this.options = options;
    this.down = options.down;
    /** @type {CostPicture | null} */
    this.picture = null;
    this.zoom = NONE;
    this.at = NONE;
    /** @type {Box[][]} */
    this.rows = [];
    /** Size used for the layout, in CSS pixels. */
    this.width = 0;
    this.seen = 0;
    /** @type {number | null} Frame of the last touch. */
    this.touched = null;
    this.canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { tabindex: 0, role: "application",
      "aria-label": `${options.label}. Arrow keys move between frames, Enter zooms, Escape zooms out, m opens a menu.` }));
    this.space = make("div", { class: "space" }, this.canvas);
    this.element = make("div", { class: "graph" }, this.space);
    this.element.addEventListener("scroll", () => { hideTip(); this.draw(); });
    new ResizeObserver(() => this.resize()).observe(this.element);
    this.listen();
  }

  /** Shows a picture; retains the scroll position if the zoom is the same.
   * @param {CostPicture} picture @param {number} zoom @param {boolean} [fresh] */
  show(picture, zoom, fresh) {
    const at = this.again(picture, this.at), moved = fresh || !this.picture || zoom !== this.again(picture, this.zoom);
    this.picture = picture;
    this.zoom = zoom;
    this.at = moved ? zoom : at;
    this.place();
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

  resize() {
    if (this.element.clientWidth !== this.width || this.element.clientHeight !== this.seen) this.place();
    this.draw();
  }

  /** Lays out the frames in the available space. */
  place() {
    if (!this.picture || !this.element.clientWidth) return;
    const atEnd = !this.down && this.element.scrollTop + this.element.clientHeight >= this.element.scrollHeight - 2;
    this.width = this.element.clientWidth;
    this.seen = this.element.clientHeight;
    this.rows = layout(this.picture, this.zoom, this.width);
    this.height = Math.max(this.rows.length * ROW, this.element.clientHeight);
    this.space.style.height = this.height + "px";
    if (atEnd) this.element.scrollTop = this.element.scrollHeight;
  }

  /** Top of a row, relative to the scrolled space.
   * @param {number} row */
  top(row) { return this.down ? row * ROW : /** @type {number} */ (this.height) - (row + 1) * ROW; }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!this.picture || !width || !height) return;
    const pen = sized(this.canvas, width, height), from = this.element.scrollTop;
    pen.font = FONT;
    pen.textBaseline = "middle";
    const edge = styled("--edge"), mark = styled("--hit"), dark = this.app.theme;
    for (let row = 0; row < this.rows.length; row++) {
      const y = this.top(row) - from;
      if (y + ROW <= 0 || y >= height) continue;
      for (const box of this.rows[row]) this.paint(pen, box, y, mark, INK[dark], edge);
    }
  }

  /** @param {CanvasRenderingContext2D} pen @param {Box} box @param {number} y @param {string} mark
   * @param {string} ink @param {string} edge */
  paint(pen, box, y, mark, ink, edge) {
    const { app, picture } = this, { tree } = /** @type {CostPicture} */ (picture), { node } = box;
    const w = Math.max(box.w - (box.w > 3 ? 1 : 0), 0.5), f = node === NONE ? -1 : tree.func[node];
    const found = app.found, hit = found && f >= 0 && found.hits[f];
    pen.globalAlpha = box.outer ? 0.6 : found && !hit ? 0.55 : 1;
    pen.fillStyle = hit ? mark : this.options.colour ? this.options.colour(node) : app.colour(tree, node);
    pen.fillRect(box.x, y, w, ROW - 1);
    if (this.options.hatched?.(node) && w > 1.5) hatch(pen, box.x, y, w);
    const flags = node === NONE ? 0 : tree.flags[node];
    if (flags & INLINED && w > 6) {
      pen.fillStyle = "rgba(255,255,255,.45)";
      pen.fillRect(box.x, y, w, 2);
    }
    if (flags & (GUESSED | JOINED) && w > 4) {
      pen.setLineDash(flags & JOINED ? [1.5, 2.5] : [4, 3]);
      pen.strokeStyle = ink;
      pen.lineWidth = 1;
      pen.strokeRect(box.x + 0.5, y + 0.5, w - 1, ROW - 2);
      pen.setLineDash([]);
    }
    pen.globalAlpha = 1;
    if (w > 22) this.write(pen, f < 0 ? /** @type {CostPicture} */ (picture).title : app.label(f), box.x + 3, y, w - 5, flags, ink);
    if (node === this.at && document.activeElement === this.canvas) {
      pen.strokeStyle = edge;
      pen.lineWidth = 2.5;
      pen.strokeRect(box.x + 1, y + 1, Math.max(w - 2, 1), ROW - 3);
    }
  }

  /** Draws a label, cut in the middle if it is too long.
   * @param {CanvasRenderingContext2D} pen @param {string} text @param {number} x @param {number} y
   * @param {number} width @param {number} flags @param {string} ink */
  write(pen, text, x, y, width, flags, ink) {
    const font = pen.font = flags & INLINED ? `italic ${FONT}` : FONT;
    pen.fillStyle = ink;
    pen.fillText(fitted(text, width, widthsOf(font)), x, y + ROW / 2);
  }

  /** Frame under the mouse.
   * @param {MouseEvent} event @returns {Box | null} */
  under(event) {
    const area = this.canvas.getBoundingClientRect();
    const x = event.clientX - area.left, y = event.clientY - area.top + this.element.scrollTop;
    const row = this.down ? Math.floor(y / ROW) : Math.floor((/** @type {number} */ (this.height) - y) / ROW);
    return boxAt(this.rows[row], x);
  }

  /** @param {number} node */
  describe(node) {
    if (this.options.describe) return this.options.describe(node);
    return this.app.describe(/** @type {CostPicture} */ (this.picture), node, this.zoom);
  }

  /** @param {number} node */
  go(node) {
    this.at = node;
    this.options.tell(this.describe(node).join(" · "));
    if (this.options.zoomed) this.options.zoomed(node);
    else if (this.picture) this.show(this.picture, node);
  }

  listen() {
    const canvas = this.canvas;
    canvas.addEventListener("pointermove", (event) => {
      const box = event.pointerType === "touch" ? null : this.under(event);
      canvas.style.cursor = box ? "pointer" : "";
      if (box) showTip(this.describe(box.node), event.clientX, event.clientY); else if (event.pointerType !== "touch") hideTip();
    });
    canvas.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hideTip(); });
    canvas.addEventListener("pointerdown", (event) => { this.touch = event.pointerType === "touch"; });
    canvas.addEventListener("click", (event) => {
      const box = this.under(event);
      if (!box) { this.touched = null; hideTip(); return; }
      // On touch screens, the first touch shows the description and the second one zooms.
      if (this.touch && this.touched !== box.node) {
        this.touched = box.node;
        showTip(this.describe(box.node), event.clientX, event.clientY);
        return;
      }
      this.touched = null;
      hideTip();
      this.go(box.node);
    });
    canvas.addEventListener("dblclick", (event) => { const box = this.under(event); if (box) this.options.act?.(box.node); });
    canvas.addEventListener("contextmenu", (event) => {
      const box = this.under(event);
      if (!box || box.node === NONE || !this.picture) return;
      event.preventDefault();
      functionMenu(this.app, this.picture.tree.func[box.node], event.clientX, event.clientY, () => this.go(box.node));
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("focus", () => this.draw());
    canvas.addEventListener("blur", () => this.draw());
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

  /** @param {KeyboardEvent} event */
  key(event) {
    const picture = this.picture;
    if (!picture || event.ctrlKey || event.metaKey || event.altKey) return;
    const { tree, total } = picture, at = this.at, inwards = this.down ? "ArrowDown" : "ArrowUp";
    const outer = at === NONE ? NONE : tree.parent[at];
    if (event.key === inwards) {
      const [next] = this.inside(at).sort((a, b) => total[b] - total[a]);
      if (next !== undefined) this.pick(next);
    } else if (event.key === (this.down ? "ArrowUp" : "ArrowDown")) {
      if (outer !== NONE || picture.title) this.pick(outer);
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const row = this.inside(outer), next = row[row.indexOf(at) + (event.key === "ArrowLeft" ? -1 : 1)];
      if (next !== undefined) this.pick(next);
    } else if (event.key === "Home") this.pick(NONE);
    else if (event.key === "Enter") this.go(at);
    else if (event.key === "Escape" && this.zoom !== NONE) this.go(tree.parent[this.zoom]);
    else if (at === NONE) return;
    else if (event.key === "m") {
      const row = this.rows.findIndex((boxes) => boxes.some((box) => box.node === at));
      const box = this.rows[row]?.find((one) => one.node === at), area = this.canvas.getBoundingClientRect();
      if (box) functionMenu(this.app, tree.func[at], area.left + box.x + 10, area.top + this.top(row) - this.element.scrollTop + ROW, () => this.go(at));
    } else if (!functionKey(this.app, tree.func[at], event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}

/** Draws diagonal lines over a frame, since colours alone are not visible to all readers.
 * @param {CanvasRenderingContext2D} pen @param {number} x @param {number} y @param {number} w */
function hatch(pen, x, y, w) {
  const height = ROW - 1;
  pen.save();
  pen.beginPath();
  pen.rect(x, y, w, height);
  pen.clip();
  pen.beginPath();
  for (let at = x - height; at < x + w; at += 7) {
    pen.moveTo(at, y + height);
    pen.lineTo(at + height, y);
  }
  pen.strokeStyle = "rgba(255,255,255,.5)";
  pen.lineWidth = 2;
  pen.stroke();
  pen.restore();
}
