// @ts-check
// Views of one function: trees of its callers and callees; and functions of a file.
import { NONE } from "../columns.js";
import { firstPlace } from "./preorder.js";
import { GONE, ROOT, transform } from "./transform.js";
import { TreeBuilder, childrenOf, range, totals } from "./tree.js";

/** @typedef {import("../model.js").Model} Model */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./layout.js").Picture} Picture */
/** Costs of nodes: own, inclusive, the same in samples, and squares of sample costs, which determine the uncertainty of
 * a share.
 * @typedef {{ own: Float64Array, total: Float64Array, n: Float64Array, ownN: Float64Array, ownSquares: Float64Array,
 *   squares: Float64Array, all: number, allN: number, allSquares: number }} Counted */
/** Picture with its costs.
 * @typedef {Picture & Counted & { children: import("./tree.js").Children }} CostPicture */
/** Tree with its costs, the modules of its functions, and the blocks with its outer frames.
 * @typedef {{ tree: Tree | null, costs: Counted | null, functions: number, moduleOf: () => Int32Array,
 *   blocks?: () => import("./blocks.js").Blocks }} CountedTree */

/** Two trees with the function as their root: of its callees, and of its callers.
 * @param {CountedTree} model @param {number} f @returns {{ callees: CostPicture, callers: CostPicture }} */
export function sandwich(model, f) {
  const tree = /** @type {Tree} */ (model.tree), costs = /** @type {Counted} */ (model.costs), { n } = costs;
  const below = transform(tree, { kind: "focus", at: f }, model.moduleOf(), model.functions);
  const { tree: inside, to } = below, callersOf = new Callers(tree, n, f, to), outside = callersOf.outside(model.blocks?.()), above = callersOf.made.done();
  /** @type {(values: Float64Array, which: "n" | "cost" | "squares") => Float64Array} */
  const sumAbove = (values, which) => {
    const sums = new Float64Array(above.n), { outer, node } = callersOf;
    for (let k = 0; k < node.length; k++) sums[node[k]] += values[outer[k]];
    for (const [at, weight] of outside) sums[at] += weight[which];
    return sums;
  };
  /** @type {(values: Float64Array) => Float64Array} */
  const sumBelow = (values) => {
    const sums = new Float64Array(inside.n);
    for (let i = 0; i < tree.n; i++) if (to[i] !== GONE && n[i] !== 0) sums[to[i]] += values[i];
    return sums;
  };
  const alike = costs.own === costs.ownN, none = new Float64Array(above.n);
  const ownN = sumBelow(costs.ownN), own = alike ? ownN : sumBelow(costs.own), ownSquares = alike ? ownN : sumBelow(costs.ownSquares);
  const belowN = totals(inside, ownN), total = alike ? belowN : totals(inside, own);
  const callees = { own, total, ownN, n: belowN, ownSquares, squares: alike ? belowN : totals(inside, ownSquares) };
  const aboveN = sumAbove(n, "n"), aboveTotal = alike ? aboveN : sumAbove(costs.total, "cost");
  const callers = { own: none, total: aboveTotal, ownN: none, n: aboveN, ownSquares: none, squares: alike ? aboveN : sumAbove(costs.squares, "squares") };
  return { callees: picture(inside, callees), callers: picture(above, callers) };
}

/** Callers of the outermost calls of a function, as a tree with the function as its root. */
class Callers {
  /** @param {Tree} tree @param {Float64Array} n samples by node @param {number} f @param {Uint32Array} inside by node:
   * GONE outside the function */
  constructor(tree, n, f, inside) {
    this.tree = tree;
    this.inside = inside;
    this.made = new TreeBuilder(1024);
    /** Pairs of an outermost call's node, and a node of this tree that receives its costs. */
    this.outer = /** @type {number[]} */ ([]);
    this.node = /** @type {number[]} */ ([]);
    /** By outermost call: the outermost of its callers. @type {Map<number, number>} */
    this.outermost = new Map();
    for (let i = 0; i < tree.n; i++) {
      if (n[i] === 0 || inside[i] === GONE || tree.func[i] !== f) continue;
      const p = tree.parent[i];
      if (p === NONE || inside[p] === GONE) this.add(i);
    }
  }

  /** Adds an outermost call with its chain of callers.
   * @param {number} call */
  add(call) {
    const { tree } = this;
    let at = ROOT;
    for (let k = call; k !== NONE; k = tree.parent[k]) {
      at = this.made.child(at, tree.func[k], tree.flags[k] & 47, tree.src[k]);
      this.outer.push(call);
      this.node.push(at);
    }
    this.outermost.set(call, at);
  }

  /** Adds the outer frames above all callers; returns their nodes, with the costs of these.
   * @param {import("./blocks.js").Blocks} [blocks] @returns {[number, import("../compare/change.js").Weight][]} */
  outside(blocks) {
    if (!blocks || blocks.isPlain) return [];
    const { made } = this, { entries: { places }, order } = blocks, calls = [...this.outermost.keys()].sort((a, b) => order.at[a] - order.at[b]);
    /** @type {[number, import("../compare/change.js").Weight][]} */
    const found = [];
    for (const block of blocks.list) {
      if (block.outer === NONE) continue;
      const way = blocks.pathOutward(block.outer);
      let from = block.framed;
      for (let call = 0; call < calls.length && from < block.last;) {
        const place = order.at[calls[call]], end = order.end[calls[call]];
        if (places[from] >= end) { call++; continue; }
        const start = firstPlace(places, from, block.last, place);
        from = firstPlace(places, start, block.last, end);
        const weight = blocks.weight(start, from);
        if (weight.n > 0) {
          let node = /** @type {number} */ (this.outermost.get(calls[call]));
          for (const outer of way) found.push([node = made.child(node, blocks.func[outer], 0, NONE), weight]);
        }
        call++;
      }
    }
    return found;
  }
}

/** Picture of a tree, with its total as the sum of the roots.
 * @param {Tree} tree @param {Omit<Counted, "all" | "allN" | "allSquares">} counted @returns {CostPicture} */
function picture(tree, counted) {
  const sum = (/** @type {Float64Array} */ values) => {
    let sum = 0;
    for (let i = 0; i < tree.n; i++) if (tree.parent[i] === NONE) sum += values[i];
    return sum;
  };
  return { tree, children: childrenOf(tree), title: "", ...counted, all: sum(counted.total), allN: sum(counted.n), allSquares: sum(counted.squares) };
}

/** Functions of a file with a cost, in descending order of own cost.
 * @param {Model} model @param {number} file the index of its name */
export function functionsOfFile(model, file) {
  const costs = model.functionCosts(), of = model.fileOf(), found = [];
  for (let f = 0; f < model.functions; f++) if (of[f] === file && costs.n[f] > 0) found.push(f);
  return found.sort((a, b) => costs.own[b] - costs.own[a]);
}

/** Deepest existing node on a path of functions.
 * @param {CostPicture} picture @param {number[]} path */
export function nodeAt(picture, path) {
  let node = NONE;
  for (const step of path) {
    const { tree, children, n } = picture, [from, to] = range(children, node);
    let next = NONE;
    // If several nodes differ only in their flags, the costliest one is taken.
    for (let k = from; k < to; k++) {
      const child = children.list[k];
      if (tree.func[child] === step && n[child] > (next === NONE ? 0 : n[next])) next = child;
    }
    if (next === NONE) break;
    node = next;
  }
  return node;
}
