// @ts-check
// Mouse, touch and keys on a graph: a click selects a frame, a double click or Enter zooms, keys act on the frame under
// the mouse or else on the selected one.
import { NONE } from "../../data/columns.js";
import { functionKey, functionMenu } from "../actions.js";
import { isUnderPointer, pointer } from "../elements/pointer.js";
import { hideTip, showTip } from "../elements/tip.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("../../data/tree/around.js").CostPicture} CostPicture */
/** @typedef {import("../../data/tree/layout.js").Box} Box */

/** Largest movement of a press that is still a click, in pixels. */
const SLACK = 4;

export class Gestures {
  /** @param {Graph} graph */
  constructor(graph) {
    this.graph = graph;
    /** Start of the last press; `isDrag` is true after a larger movement. Clicks are where the press was, since their own
     * positions are rounded. */
    this.press = { x: 0, y: 0, isTouch: false, isDrag: false };
    /** @type {number | null} Frame of the last tap. */
    this.tapped = null;
    /** Number of mouse movements at the last arrow key: the mouse has no frame until it moves again. */
    this.moves = -1;
    this.listen();
  }

  listen() {
    const { canvas } = this.graph;
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerleave", (event) => { if (event.pointerType !== "touch") hideTip(); });
    canvas.addEventListener("pointerdown", (event) => {
      this.press = { x: event.clientX, y: event.clientY, isTouch: event.pointerType === "touch", isDrag: false };
    });
    canvas.addEventListener("click", (event) => this.click(event));
    canvas.addEventListener("dblclick", (event) => {
      const box = this.pressed();
      if (!box || this.press.isTouch || this.isDrag(event)) return;
      hideTip();
      this.graph.go(box.node);
    });
    canvas.addEventListener("contextmenu", (event) => {
      const box = this.graph.under(event);
      if (!box || box.node === NONE) return;
      event.preventDefault();
      this.graph.pick(box.node);
      this.menu(box.node, event.clientX, event.clientY);
    });
    canvas.addEventListener("keydown", (event) => {
      if (!this.key(event)) return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (event.buttons) this.isDrag(event);
    if (event.pointerType === "touch") return;
    const box = this.graph.under(event);
    this.graph.canvas.style.cursor = box ? "pointer" : "";
    if (box) showTip(this.graph.describe(box.node), event.clientX, event.clientY); else hideTip();
  }

  /** Frame of the last press. */
  pressed() { return this.graph.under({ clientX: this.press.x, clientY: this.press.y }); }

  /** Returns true if the mouse moved during the press.
   * @param {MouseEvent} event */
  isDrag({ clientX, clientY }) {
    const { press } = this;
    return press.isDrag ||= Math.hypot(clientX - press.x, clientY - press.y) > SLACK;
  }

  /** @param {MouseEvent} event */
  click(event) {
    if (this.isDrag(event)) return;
    const { graph, press, tapped } = this, box = this.pressed();
    this.tapped = null;
    hideTip();
    if (!box) return;
    // On touch screens, a second tap on the selected frame zooms.
    if (press.isTouch && tapped === box.node && graph.at === box.node) { graph.go(box.node); return; }
    graph.pick(box.node);
    if (!press.isTouch) return;
    this.tapped = box.node;
    showTip(graph.describe(box.node), event.clientX, event.clientY);
  }

  /** Frame under the mouse, unless an arrow key selected another one since.
   * @returns {Box | null} */
  hovered() {
    const { graph } = this;
    if (!graph.picture || pointer.moves === this.moves || !isUnderPointer(graph.canvas)) return null;
    return graph.under({ clientX: pointer.x, clientY: pointer.y });
  }

  /** @param {number} node @param {number} x @param {number} y */
  menu(node, x, y) {
    const { graph } = this, { tree } = /** @type {CostPicture} */ (graph.picture);
    functionMenu(graph.app, tree.func[node], x, y, () => graph.go(node));
  }

  /** Runs the action of a key; returns false if it has none.
   * @param {KeyboardEvent} event @returns {boolean} */
  key(event) {
    const { graph } = this, { picture } = graph;
    if (!picture || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (this.arrow(event.key)) return true;
    const { tree } = picture, hovered = this.hovered(), at = hovered ? hovered.node : graph.at;
    if (event.key === "Enter") graph.go(at);
    else if (event.key === "Escape") {
      if (graph.zoom === NONE) return false;
      graph.go(tree.parent[graph.zoom]);
    } else if (event.key === "m") {
      const row = graph.rows.findIndex((boxes) => boxes.some((box) => box.node === at)), box = graph.rows[row]?.find((one) => one.node === at);
      if (!box || at === NONE) return false;
      const area = graph.canvas.getBoundingClientRect();
      graph.pick(at);
      this.menu(at, area.left + box.x + 10, area.top + graph.top(row) - graph.element.scrollTop + graph.rowHeight);
    } else return functionKey(graph.app, at === NONE ? -1 : tree.func[at], event.key);
    return true;
  }

  /** Selects a neighbour of the selected frame.
   * @param {string} key @returns {boolean} */
  arrow(key) {
    const { graph } = this, { at, down } = graph, { tree, total, title } = /** @type {CostPicture} */ (graph.picture);
    const outer = at === NONE ? NONE : tree.parent[at];
    /** @type {number | undefined} */
    let next;
    if (key === (down ? "ArrowDown" : "ArrowUp")) [next] = graph.inside(at).sort((a, b) => total[b] - total[a]);
    else if (key === (down ? "ArrowUp" : "ArrowDown")) next = outer !== NONE || title ? outer : undefined;
    else if (key === "ArrowLeft" || key === "ArrowRight") {
      const row = graph.inside(outer);
      next = row[row.indexOf(at) + (key === "ArrowLeft" ? -1 : 1)];
    } else if (key === "Home") next = NONE;
    else return false;
    this.moves = pointer.moves;
    hideTip();
    if (next !== undefined) graph.pick(next);
    return true;
  }
}
