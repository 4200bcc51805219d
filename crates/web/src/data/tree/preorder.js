// @ts-check
// Preorder of a tree's nodes: each subtree is a contiguous range.
import { NONE } from "../columns.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** By node: its position in preorder, and the end of its subtree. By position: the node.
 * @typedef {{ at: Uint32Array, end: Uint32Array, node: Uint32Array }} Preorder */

/** @type {WeakMap<Tree, Preorder>} */
const known = new WeakMap();

/** Preorder of a tree, cached per tree.
 * @param {Tree} tree @returns {Preorder} */
export function preorderOf(tree) {
  let made = known.get(tree);
  if (!made) known.set(tree, made = preorder(tree));
  return made;
}

/** @param {Tree} tree @returns {Preorder} */
function preorder({ n, parent }) {
  // A node has the size of its subtree until it has a position; an end grows with each child.
  const at = new Uint32Array(n).fill(1), end = new Uint32Array(n), node = new Uint32Array(n);
  for (let i = n - 1; i >= 0; i--) if (parent[i] !== NONE) at[parent[i]] += at[i];
  let root = 0;
  for (let i = 0; i < n; i++) {
    const p = parent[i], place = p === NONE ? root : end[p];
    if (p === NONE) root += at[i]; else end[p] += at[i];
    at[i] = place;
    end[i] = place + 1;
    node[place] = i;
  }
  return { at, end, node };
}

/** First index of a sorted list with a value of `place` or more.
 * @param {Uint32Array} places @param {number} from @param {number} to @param {number} place */
export function firstPlace(places, from, to, place) {
  // Most ranges end at the last entry, or soon after the first.
  if (from < to && places[to - 1] < place) return to;
  let step = 1, low = from;
  while (low + step < to && places[low + step - 1] < place) { low += step; step *= 2; }
  let high = Math.min(to, low + step);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < place) low = middle + 1; else high = middle;
  }
  return low;
}
