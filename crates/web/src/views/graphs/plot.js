// @ts-check
// Time axis that the timeline and the views over time share: its place in the window, its ticks, and a ruler at the time
// under the mouse.
import { timeTicks } from "../../data/numbers.js";
import { make, styled } from "../elements/element.js";

/** @typedef {import("../app.js").App} App */

/** Minimum distance of ticks, in pixels. */
const APART = 80;

/** Place of the axis, set by the timeline. */
export class Plot {
  constructor() {
    /** Left edge in the window, and width, in pixels. */
    this.left = 0;
    this.width = 1;
    /** @type {((time: number | null) => void)[]} */
    this.rulers = [];
  }

  /** Moves the rulers to a time, or hides them.
   * @param {number | null} time in units */
  point(time) { for (const move of this.rulers) move(time); }
}

/** Adds a ruler to an element.
 * @param {App} app @param {HTMLElement} inside @param {(time: number) => number} at position of a time in the element */
export function addRuler(app, inside, at) {
  const ruler = make("i", { class: "ruler", hidden: "" });
  inside.append(ruler);
  app.plot.rulers.push((time) => {
    const x = time === null ? -1 : at(time);
    ruler.hidden = x < 0;
    ruler.style.left = x + "px";
  });
}

/** Draws ticks and their texts, the last on the left of its tick if there is no space on the right; the first text has the
 * unit.
 * @param {CanvasRenderingContext2D} pen @param {App} app @param {number} from @param {number} to in units of time
 * @param {{ left: number, width: number, top: number }} area the ticks are 16 pixels high */
export function drawAxis(pen, app, from, to, { left, width, top }) {
  const { unit } = app.tables.head, scale = width / Math.max(1, to - from);
  pen.fillStyle = styled("--fore");
  pen.font = "11px system-ui, sans-serif";
  pen.textBaseline = "top";
  pen.textAlign = "left";
  let end = -Infinity;
  for (const { at, text } of timeTicks(from * unit, to * unit, width / APART)) {
    const x = left + (at / unit - from) * scale, wide = pen.measureText(text).width;
    pen.fillRect(Math.min(x, left + width - 1), top + 11, 1, 5);
    const start = x + 3 + wide < left + width ? x + 3 : x - 3 - wide;
    if (start > end + 3) pen.fillText(text, start, top + 1);
    end = start + wide;
  }
}
