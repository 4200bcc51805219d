// @ts-check
// Filters of frames: each makes a new tree of an older one, and says where the nodes of that went.
import { NONE } from "./columns.js";
import { TreeBuilder } from "./tree.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** A filter of frames: what is done, and to which function or module. `recursion` and `merge` without one are for all.
 * @typedef {{ kind: "focus" | "keep" | "drop" | "hide" | "charge" | "fold" | "recursion" | "module" | "hideModule" | "merge",
 *   at?: number }} FrameFilter */
/** Where nodes went: a node of the new tree, ROOT where no frame is left, GONE where the samples are left out.
 * @typedef {{ tree: Tree, to: Uint32Array }} Moved */

/** Samples whose innermost frame went here have no frame any more. */
export const ROOT = NONE;
/** Samples whose innermost frame went here are not counted. */
export const GONE = NONE - 1;

/** The kinds of filters of frames. */
export const FRAME_FILTERS = ["focus", "keep", "drop", "hide", "charge", "fold", "recursion", "module", "hideModule", "merge"];

/** Applies a filter.
 * @param {Tree} tree @param {FrameFilter} filter
 * @param {Int32Array} moduleOf by function; below 0 for none
 * @param {number} functions the number of the function that stands for the first module, when frames are merged
 * @returns {Moved} */
export function transform(tree, filter, moduleOf, functions) {
  const made = new TreeBuilder(tree.n), at = filter.at ?? -1;
  const to = new Uint32Array(tree.n);
  const copy = (/** @type {number} */ i) => made.copy(outside(i), tree, i, tree.parent[i]);
  const outside = (/** @type {number} */ i) => {
    const p = tree.parent[i];
    return p === NONE || to[p] === GONE ? ROOT : to[p];
  };
  const parent = tree.parent, func = tree.func;
  switch (filter.kind) {
    case "focus":
      for (let i = 0; i < tree.n; i++) {
        const inside = func[i] === at || (parent[i] !== NONE && to[parent[i]] !== GONE);
        to[i] = inside ? copy(i) : GONE;
      }
      return { tree: made.done(), to };
    case "keep":
    case "drop": {
      const wanted = filter.kind === "keep" ? 1 : 0, has = new Uint8Array(tree.n), leaf = new Uint32Array(tree.n);
      for (let i = 0; i < tree.n; i++) {
        has[i] = func[i] === at || (parent[i] !== NONE && has[parent[i]]) ? 1 : 0;
        to[i] = copy(i);
        leaf[i] = has[i] === wanted ? to[i] : GONE;
      }
      return { tree: made.done(), to: leaf };
    }
    case "hide":
      for (let i = 0; i < tree.n; i++) to[i] = func[i] === at ? outside(i) : copy(i);
      return { tree: made.done(), to };
    case "charge":
    case "fold": {
      const pruned = new Uint8Array(tree.n), self = filter.kind === "charge";
      for (let i = 0; i < tree.n; i++) {
        const p = parent[i];
        pruned[i] = (p !== NONE && (pruned[p] || (!self && func[p] === at))) || (self && func[i] === at) ? 1 : 0;
        to[i] = pruned[i] ? outside(i) : copy(i);
      }
      return { tree: made.done(), to };
    }
    case "recursion":
      for (let i = 0; i < tree.n; i++) {
        const again = at < 0 || func[i] === at ? above(made, outside(i), func[i]) : ROOT;
        to[i] = again === ROOT ? copy(i) : again;
      }
      return { tree: made.done(), to };
    case "module": {
      const leaf = new Uint32Array(tree.n);
      for (let i = 0; i < tree.n; i++) {
        to[i] = moduleOf[func[i]] === at ? copy(i) : outside(i);
        leaf[i] = to[i] === ROOT ? GONE : to[i];
      }
      return { tree: made.done(), to: leaf };
    }
    case "hideModule":
      for (let i = 0; i < tree.n; i++) to[i] = moduleOf[func[i]] === at ? outside(i) : copy(i);
      return { tree: made.done(), to };
    default:
      return merged(tree, at, moduleOf, functions);
  }
}

/** The nearest node of a function at this one or outside of it.
 * @param {TreeBuilder} made @param {number} node @param {number} func */
function above(made, node, func) {
  while (node !== ROOT && made.func[node] !== func) node = made.parent[node];
  return node;
}

/** Frames of one module that follow each other become one, which stands for the module.
 * @param {Tree} tree @param {number} module below 0: of all modules
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

/** One move after another.
 * @param {Uint32Array} first @param {Uint32Array} then */
export function composed(first, then) {
  const to = new Uint32Array(first.length);
  for (let i = 0; i < first.length; i++) to[i] = first[i] >= GONE ? first[i] : then[first[i]];
  return to;
}
