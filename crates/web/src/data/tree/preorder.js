// @ts-check
// Preorder of a tree's nodes: each subtree is a contiguous range.
import { NONE } from "../columns.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** By node: its position in preorder. By position: the node, and the size of its subtree.
 * @typedef {{ at: Uint32Array, node: Uint32Array, size: Uint32Array }} Preorder */

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
  const below = new Uint32Array(n).fill(1), at = new Uint32Array(n), node = new Uint32Array(n), size = new Uint32Array(n);
  for (let i = n - 1; i >= 0; i--) if (parent[i] !== NONE) below[parent[i]] += below[i];
  // By node: position of its next child.
  const next = new Uint32Array(n);
  let root = 0;
  for (let i = 0; i < n; i++) {
    const p = parent[i], place = p === NONE ? root : next[p];
    if (p === NONE) root += below[i]; else next[p] += below[i];
    at[i] = place;
    next[i] = place + 1;
    node[place] = i;
    size[place] = below[i];
  }
  return { at, node, size };
}

/** First index of a sorted list with a value of `place` or more.
 * @param {Uint32Array} places @param {number} from @param {number} to @param {number} place */
export function firstPlace(places, from, to, place) {
  // Starts near `from`, the most frequent case.
  let step = 1, low = from;
  while (low + step < to && places[low + step - 1] < place) { low += step; step *= 2; }
  let high = Math.min(to, low + step);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < place) low = middle + 1; else high = middle;
  }
  return low;
}
