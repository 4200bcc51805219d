// @ts-check
// Nodes of a tree in the order of a walk that takes each node before all that is below it: what is below a node is a range.
import { NONE } from "../columns.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** By node, its place in the walk; by place, the node, and how many nodes it is with all below it.
 * @typedef {{ at: Uint32Array, node: Uint32Array, size: Uint32Array }} Preorder */

/** @type {WeakMap<Tree, Preorder>} */
const known = new WeakMap();

/** The order of a tree, which is made once for it.
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
  // By node: where the next one right below it goes.
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

/** The first of some sorted places that is not before a place.
 * @param {Uint32Array} places @param {number} from @param {number} to @param {number} place */
export function firstPlace(places, from, to, place) {
  // Most often it is near.
  let step = 1, low = from;
  while (low + step < to && places[low + step - 1] < place) { low += step; step *= 2; }
  let high = Math.min(to, low + step);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle] < place) low = middle + 1; else high = middle;
  }
  return low;
}
