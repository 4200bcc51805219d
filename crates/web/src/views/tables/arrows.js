// @ts-check
// Arrows of jumps beside instructions: each row has the parts of the arrows that cross it.
import { LANES, targetOf } from "../../data/listing/jumps.js";

/** @typedef {import("../../data/listing/jumps.js").Jump} Jump */
/** Size of a row's drawing, and the distance of lanes, in pixels. */
const HEIGHT = 22, LANE = 6, WIDTH = (LANES + 1) * LANE + 6;
/** Rows of a block, which has a list of the jumps that cross it. */
const BLOCK = 32;
const SVG = "http://www.w3.org/2000/svg";

export class Arrows {
  constructor() {
    /** @type {Jump[]} */
    this.jumps = [];
    /** Jumps that cross a block, made when one of its rows is drawn: a list for each row would take the square of the
     * rows. @type {Map<number, Jump[]>} */
    this.blocks = new Map();
    /** Jumps that begin or end at a row. @type {Map<number, Jump[]>} */
    this.ends = new Map();
    /** Selected row and the row under the mouse, -1 for none. */
    this.at = this.over = -1;
  }

  /** @param {Jump[]} jumps */
  show(jumps) {
    this.jumps = jumps;
    this.blocks.clear();
    this.ends.clear();
    this.at = this.over = -1;
    for (const jump of jumps) {
      for (const row of new Set([jump.from, jump.to])) {
        const known = this.ends.get(row);
        if (known) known.push(jump); else this.ends.set(row, [jump]);
      }
    }
  }

  /** Jumps that cross a row, or begin or end there.
   * @param {number} row */
  crossing(row) {
    const block = Math.floor(row / BLOCK), first = block * BLOCK;
    const isIn = (/** @type {Jump} */ { from, to }, /** @type {number} */ low, /** @type {number} */ high) => Math.min(from, to) <= high && Math.max(from, to) >= low;
    let near = this.blocks.get(block);
    if (!near) this.blocks.set(block, near = this.jumps.filter((jump) => isIn(jump, first, first + BLOCK - 1)));
    return near.filter((jump) => isIn(jump, row, row));
  }

  /** True if a jump begins or ends at a row.
   * @param {number} row */
  hasEnd(row) { return this.ends.has(row); }

  /** Returns true for a jump that begins or ends at the selected row or the row under the mouse.
   * @param {Jump} jump */
  isLit(jump) { return [this.at, this.over].some((row) => row >= 0 && (jump.from === row || jump.to === row)); }

  /** Returns true for the other end of a lit jump.
   * @param {number} row */
  isEnd(row) { return (this.ends.get(row) || []).some((jump) => this.isLit(jump)); }

  /** Drawing of a row. A jump without a lane is drawn in the last one if it is lit.
   * @param {number} row */
  draw(row) {
    const made = document.createElementNS(SVG, "svg"), middle = HEIGHT / 2;
    for (const [name, value] of Object.entries({ width: WIDTH, height: HEIGHT, "aria-hidden": "true", class: "arrows" })) made.setAttribute(name, String(value));
    const drawn = this.crossing(row).map((jump) => ({ jump, isLit: this.isLit(jump) })).filter(({ jump, isLit }) => jump.lane >= 0 || isLit);
    for (const { jump, isLit } of drawn.sort((a, b) => Number(a.isLit) - Number(b.isLit))) {
      const x = WIDTH - 8.5 - LANE * (jump.lane < 0 ? LANES : jump.lane), first = Math.min(jump.from, jump.to), last = Math.max(jump.from, jump.to);
      let way = first === last ? `M${x},${middle - 4}v8` : `M${x},${row === first ? middle : 0}V${row === last ? middle : HEIGHT}`;
      if (row === jump.from) way += `M${x},${middle}H${WIDTH - 1}`;
      if (row === jump.to) way += `M${x},${middle}H${WIDTH - 1}m-4,-3l4,3l-4,3`;
      const path = document.createElementNS(SVG, "path");
      path.setAttribute("d", way);
      path.setAttribute("class", isLit ? "lit" : "");
      made.append(path);
    }
    return made;
  }
}

/** Text of an instruction, with a mark at the target that a click goes to.
 * @param {string} text @param {string} name name of the target, if it is known @returns {(Node | string)[]} */
export function withTarget(text, name) {
  const target = targetOf(text);
  if (!target) return [text];
  const cut = text.lastIndexOf("0x"), link = document.createElement("span");
  link.className = "follow";
  link.textContent = text.slice(cut);
  return [text.slice(0, cut), link, name ? ` <${name}>` : ""];
}
