// @ts-check
// Frame filters: each derives a new tree and maps the nodes of the old tree to it.
import { NONE } from "../columns.js";
import { TreeBuilder, childrenOf, nearestSame } from "./tree.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./tree.js").Children} Children */
/** Filter of frames: an action, and a function or module. `recursion` and `merge` without `at` apply to all. `parts`
 * applies to all and replaces parts of functions (`.cold`, `.part.0`) by their functions. `wait` retains the leaves of
 * a kind of wait; it does not change the tree.
 * @typedef {{ kind: "focus" | "keep" | "drop" | "hide" | "charge" | "fold" | "recursion" | "module" | "hideModule" | "merge" | "parts" | "wait",
 *   at?: number }} FrameFilter */
/** Mapping of nodes: a node of the new tree, ROOT if no frame is left, GONE if the samples are removed.
 * @typedef {{ tree: Tree, to: Uint32Array }} Moved */

/** Target of samples that have no frame left. */
export const ROOT = NONE;
/** Target of samples that are not counted. */
export const GONE = NONE - 1;

/** Kinds of frame filters. */
export const FRAME_FILTERS = ["focus", "keep", "drop", "hide", "charge", "fold", "recursion", "module", "hideModule", "merge", "parts", "wait"];

/** Applies a filter. If most nodes are unchanged, the new tree retains the old numbers, and removed nodes stay in it
 * without cost.
 * @param {Tree} tree @param {FrameFilter} filter
 * @param {Int32Array} moduleOf by function; negative for none;
 * @param {number} functions the number of the first module among functions, for merged frames;
 * @param {() => Children} [children] those of the tree
 * @param {() => Int32Array} [wholes] by function: the function that it is a part of, or itself
 * @returns {Moved} */
export function transform(tree, filter, moduleOf, functions, children = () => childrenOf(tree), wholes = () => Int32Array.of()) {
  const at = filter.at ?? -1, { parent, func } = tree;
  switch (filter.kind) {
    case "focus": return focused(tree, at);
    case "keep":
    case "drop": {
      const isKept = filter.kind === "keep", to = new Uint32Array(tree.n);
      for (let i = 0; i < tree.n; i++) {
        const p = parent[i], has = func[i] === at || (p !== NONE && (to[p] === p) === isKept);
        to[i] = has === isKept ? i : GONE;
      }
      return { tree, to };
    }
    case "charge":
    case "fold": {
      const self = filter.kind === "charge", to = new Uint32Array(tree.n);
      for (let i = 0; i < tree.n; i++) {
        const p = parent[i], pruned = (p !== NONE && (to[p] !== p || (!self && func[p] === at))) || (self && func[i] === at);
        to[i] = pruned ? (p === NONE ? ROOT : to[p]) : i;
      }
      return { tree, to };
    }
    case "hide": return removed(tree, children(), (i) => func[i] === at);
    case "hideModule": return removed(tree, children(), (i) => moduleOf[func[i]] === at);
    case "recursion": {
      // Few nodes have a caller of the same function, so these nodes are precomputed.
      const again = at < 0 ? nearestOf(tree, children) : null;
      return removed(tree, children(), (i) => again ? again[i] !== NONE : func[i] === at, true);
    }
    case "module": {
      let inside = 0;
      for (let i = 0; i < tree.n; i++) if (moduleOf[func[i]] === at) inside++;
      if (inside * 2 < tree.n) return only(tree, moduleOf, at);
      // If most frames belong to the module, removing the others is faster.
      const moved = removed(tree, children(), (i) => moduleOf[func[i]] !== at);
      return { tree: moved.tree, to: moved.to.map((node) => node === ROOT ? GONE : node) };
    }
    case "parts": return whole(tree, wholes());
    case "merge": return merged(tree, at, moduleOf, functions);
    // A kind of wait belongs to leaves.
    case "wait": return { tree, to: Uint32Array.from(func, (_, i) => i) };
  }
}

/** By tree: cached result of `nearestSame`. @type {WeakMap<Tree, Uint32Array>} */
const nearest = new WeakMap();

/** Nearest callers of the same function; a tree does not change, so they are cached.
 * @param {Tree} tree @param {() => Children} children */
function nearestOf(tree, children) {
  let known = nearest.get(tree);
  if (!known) nearest.set(tree, known = nearestSame(tree, children()));
  return known;
}

/** Subtrees of a function.
 * @param {Tree} tree @param {number} at @returns {Moved} */
function focused(tree, at) {
  const { n, parent, func } = tree, to = new Uint32Array(n), made = new TreeBuilder(n);
  for (let i = 0; i < n; i++) {
    const p = parent[i], isInside = p !== NONE && to[p] !== GONE;
    to[i] = isInside || func[i] === at ? made.copy(isInside ? to[p] : ROOT, tree, i, p) : GONE;
  }
  return { tree: made.done(), to };
}

/** Frames of one module only.
 * @param {Tree} tree @param {Int32Array} moduleOf @param {number} at @returns {Moved} */
function only(tree, moduleOf, at) {
  const { n, parent, func } = tree, to = new Uint32Array(n), leaf = new Uint32Array(n), made = new TreeBuilder(n);
  for (let i = 0; i < n; i++) {
    const p = parent[i], outside = p === NONE ? ROOT : to[p];
    to[i] = moduleOf[func[i]] === at ? made.copy(outside, tree, i, p) : outside;
    leaf[i] = to[i] === ROOT ? GONE : to[i];
  }
  return { tree: made.done(), to: leaf };
}

/** Removes nodes: their children move to their callers and merge with equal siblings.
 * @param {Tree} tree @param {Children} children @param {(node: number) => boolean} isOut
 * @param {boolean} [again] true to remove a node only if a caller has the same function, and to merge it into that
 * caller
 * @returns {Moved} */
function removed(tree, children, isOut, again) {
  const { n, func, flags, src } = tree, old = tree.parent, parent = old.slice(), to = new Uint32Array(n);
  const siblings = new Siblings(parent, func, flags), mixed = new Uint8Array(n + 1);
  for (let i = 0; i < n; i++) {
    const p = old[i], outside = p === NONE ? ROOT : to[p];
    if (isOut(i)) {
      const same = again ? above(parent, func, outside, func[i]) : outside;
      if (!again || same !== ROOT) { to[i] = same; continue; }
    }
    const slot = outside === ROOT ? 0 : outside + 1;
    to[i] = i;
    if (outside === p && !mixed[slot]) continue;
    if (!mixed[slot]) {
      // A node with children of its own receives others, so equal ones must be found.
      mixed[slot] = 1;
      for (let k = children.start[slot]; k < children.start[slot + 1]; k++) {
        const child = children.list[k];
        if (child < i && to[child] === child && parent[child] === outside) siblings.add(child);
      }
    }
    parent[i] = outside;
    to[i] = siblings.add(i);
  }
  return { tree: { n, parent, func, flags, src }, to };
}

/** Hash set of nodes by caller, function and flags. */
class Siblings {
  /** @param {Uint32Array} parent @param {Uint32Array} func @param {Uint8Array} flags */
  constructor(parent, func, flags) {
    this.parent = parent;
    this.func = func;
    this.flags = flags;
    this.count = 0;
    this.slots = new Uint32Array(1 << 10);
  }

  /** Returns an equal node of the set, or adds this one and returns it.
   * @param {number} node @returns {number} */
  add(node) {
    const at = this.place(node);
    if (this.slots[at] !== 0) return this.slots[at] - 1;
    this.slots[at] = node + 1;
    if (++this.count * 2 > this.slots.length) {
      const old = this.slots;
      this.slots = new Uint32Array(old.length * 4);
      for (const one of old) if (one !== 0) this.slots[this.place(one - 1)] = one;
    }
    return node;
  }

  /** @param {number} node */
  place(node) {
    const { parent, func, flags, slots } = this, mask = slots.length - 1, p = parent[node], f = func[node], marks = flags[node];
    let at = Math.imul(p + 1, 0x9e3779b1) ^ Math.imul(f * 64 + marks, 0x85ebca6b);
    at = Math.imul(at ^ (at >>> 15), 0x2c1b3c6d);
    at = (at ^ (at >>> 13)) & mask;
    for (let id = slots[at]; id !== 0; id = slots[at]) {
      id--;
      if (parent[id] === p && func[id] === f && flags[id] === marks) return at;
      at = (at + 1) & mask;
    }
    return at;
  }
}

/** Nearest node of a function, starting from this one outwards.
 * @param {Uint32Array} parent @param {Uint32Array} func @param {number} node @param {number} wanted */
function above(parent, func, node, wanted) {
  while (node !== ROOT && func[node] !== wanted) node = parent[node];
  return node;
}

/** Merges consecutive frames of one module into one frame of that module.
 * @param {Tree} tree @param {number} module negative for all modules
 * @param {Int32Array} moduleOf @param {number} functions @returns {Moved} */
function merged(tree, module, moduleOf, functions) {
  const made = new TreeBuilder(tree.n), to = new Uint32Array(tree.n), { parent, func } = tree;
  for (let i = 0; i < tree.n; i++) {
    const p = parent[i], outside = p === NONE ? ROOT : to[p], here = moduleOf[func[i]];
    if (here < 0 || (module >= 0 && here !== module)) to[i] = made.child(outside, func[i], tree.flags[i], tree.src[i]);
    else if (p !== NONE && moduleOf[func[p]] === here) to[i] = outside;
    else to[i] = made.child(outside, functions + here, tree.flags[i] & 12, tree.src[i]);
  }
  return { tree: made.done(), to };
}

/** Replaces parts of functions by their functions.
 * @param {Tree} tree @param {Int32Array} wholes @returns {Moved} */
function whole(tree, wholes) {
  const made = new TreeBuilder(tree.n), to = new Uint32Array(tree.n), { parent, func } = tree;
  for (let i = 0; i < tree.n; i++) {
    const p = parent[i];
    to[i] = made.child(p === NONE ? ROOT : to[p], wholes[func[i]] ?? func[i], tree.flags[i], tree.src[i]);
  }
  return { tree: made.done(), to };
}

/** Composition of two mappings.
 * @param {Uint32Array} first @param {Uint32Array} then */
export function composed(first, then) {
  const to = new Uint32Array(first.length);
  for (let i = 0; i < first.length; i++) to[i] = first[i] >= GONE ? first[i] : then[first[i]];
  return to;
}
