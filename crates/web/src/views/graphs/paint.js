// @ts-check
// Look of a frame in a graph, and its drawing on a canvas.
import { GUESSED, INLINED, JOINED, NONE } from "../../data/columns.js";
import { fitted } from "../../data/cut.js";
import { widthsOf } from "../elements/fit.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("../../data/tree/around.js").CostPicture} CostPicture */
/** @typedef {import("../../data/tree/layout.js").Box} Box */
/** Look of a frame: its position and width in the row, colour, opacity, label (empty if the frame is too narrow), dashes
 * of its border (null for none), and marks.
 * @typedef {{ x: number, w: number, fill: string, alpha: number, text: string, dash: number[] | null, isInlined: boolean,
 *   isHatched: boolean }} Look */

/** Height of a row in pixels. */
export const ROW = 19;

/** Font of labels. */
export const FONT = "12px system-ui, sans-serif";

/** Opacity of frames outside of the zoomed part, and of those that do not match a search. On a dark ground, more of the
 * colour has to stay for the dark labels. */
export const PALE = { light: { outer: 0.6, other: 0.55 }, dark: { outer: 0.78, other: 0.72 } };

/** @param {Graph} graph @param {Box} box @param {string} mark colour of matches @returns {Look} */
export function lookOf(graph, box, mark) {
  const { app, options } = graph, picture = /** @type {CostPicture} */ (graph.picture), { tree } = picture, { node } = box;
  const w = Math.max(box.w - (box.w > 3 ? 1 : 0), 0.5), f = node === NONE ? -1 : tree.func[node], flags = node === NONE ? 0 : tree.flags[node];
  const { outer, other } = PALE[app.theme], { found } = app, hit = found && f >= 0 && found.hits[f];
  return {
    x: box.x, w, alpha: box.outer ? outer : found && !hit ? other : 1,
    fill: hit ? mark : options.colour ? options.colour(node) : app.colour(tree, node),
    text: w <= 22 ? "" : f < 0 ? picture.title : app.label(f),
    dash: w <= 4 || !(flags & (GUESSED | JOINED)) ? null : flags & JOINED ? [1.5, 2.5] : [4, 3],
    isInlined: (flags & INLINED) !== 0, isHatched: w > 1.5 && !!options.hatched?.(node),
  };
}

/** @param {CanvasRenderingContext2D} pen @param {Look} look @param {number} y @param {string} ink */
export function paint(pen, look, y, ink) {
  const { x, w } = look;
  pen.globalAlpha = look.alpha;
  pen.fillStyle = look.fill;
  pen.fillRect(x, y, w, ROW - 1);
  if (look.isHatched) hatch(pen, x, y, w);
  if (look.isInlined && w > 6) {
    pen.fillStyle = "rgba(255,255,255,.45)";
    pen.fillRect(x, y, w, 2);
  }
  if (look.dash) {
    pen.setLineDash(look.dash);
    pen.strokeStyle = ink;
    pen.lineWidth = 1;
    pen.strokeRect(x + 0.5, y + 0.5, w - 1, ROW - 2);
    pen.setLineDash([]);
  }
  pen.globalAlpha = 1;
  if (!look.text) return;
  pen.fillStyle = ink;
  pen.fillText(labelOf(pen, look), x + 3, y + ROW / 2);
}

/** Label of a frame, cut in the middle if it is too long. Sets the font.
 * @param {CanvasRenderingContext2D} pen @param {Look} look */
export function labelOf(pen, { text, w, isInlined }) {
  pen.font = (isInlined ? "italic " : "") + FONT;
  return fitted(text, w - 5, widthsOf(pen.font));
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
