// @ts-check
// Layout of a graph: rows of boxes, starting from the zoomed frame. Subtrees that are too narrow are skipped.
import { NONE } from "../columns.js";
import { pathTo, wideChildren } from "./tree.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** Input of a graph: a tree with the weights of its nodes. Without `title`, there is no frame for the total.
 * @typedef {{ tree: Tree, total: Float64Array, all: number, title: string }} Picture */
/** Box of a frame: its node (NONE for the total), position and width. `outer` is true for callers of the zoomed frame.
 * @typedef {{ node: number, x: number, w: number, outer: boolean }} Box */

/** Minimum width of a drawn frame. */
const LEAST = 0.5;

/** Boxes by row, outermost row first, each row from left to right.
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

/** Box of a row at a position.
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
