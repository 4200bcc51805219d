// @ts-check
// Where the frames of a graph lie: rows of boxes, from the frame that is zoomed into; what is too narrow is not visited.
import { NONE } from "../columns.js";
import { pathTo, wideChildren } from "./tree.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** What is drawn: a tree with what its nodes weigh. Without `title` there is no frame for all of it.
 * @typedef {{ tree: Tree, total: Float64Array, all: number, title: string }} Picture */
/** A frame: its node (NONE for all), where it begins, how wide it is; `outer` are those that were zoomed past.
 * @typedef {{ node: number, x: number, w: number, outer: boolean }} Box */

/** Frames narrower than this are not drawn. */
const LEAST = 0.5;

/** The boxes by row, the outermost first, each row from left to right.
 * @param {Picture} picture @param {number} zoom a node, or NONE @param {number} width
 * @returns {Box[][]} */
export function layout(picture, zoom, width) {
  const { tree, total, all, title } = picture;
  /** @type {Box[][]} */
  const rows = [];
  if (title) rows.push([{ node: NONE, x: 0, w: width, outer: zoom !== NONE }]);
  if (zoom !== NONE) for (const node of pathTo(tree, zoom)) rows.push([{ node, x: 0, w: width, outer: node !== zoom }]);
  const whole = zoom === NONE ? all : total[zoom];
  if (!(whole > 0)) return rows;
  const scale = width / whole, children = wideChildren(tree, total, LEAST / scale);
  /** @type {Box[]} */
  let row = [{ node: zoom, x: 0, w: width, outer: false }];
  while (row.length) {
    /** @type {Box[]} */
    const next = [];
    for (const box of row) {
      let x = box.x;
      for (const node of children.get(box.node) || []) {
        const w = total[node] * scale;
        if (w >= LEAST) next.push({ node, x, w, outer: false });
        x += w;
      }
    }
    if (next.length) rows.push(next);
    row = next;
  }
  return rows;
}

/** The box of a row at a place.
 * @param {Box[] | undefined} row @param {number} x @returns {Box | null} */
export function boxAt(row, x) {
  if (!row) return null;
  let low = 0, high = row.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (row[middle].x <= x) low = middle + 1; else high = middle;
  }
  const box = row[low - 1];
  return box && x < box.x + Math.max(box.w, 1) ? box : null;
}
