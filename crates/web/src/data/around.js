// @ts-check
// What is around one function: trees of its callers and callees, its lines, its addresses; and callers of what ran.
import { NONE } from "./columns.js";
import { GONE, ROOT, transform } from "./transform.js";
import { TreeBuilder, childrenOf, range, totals } from "./tree.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./layout.js").Picture} Picture */
/** What nodes cost: alone, and with all below; in samples; and the squares of what samples cost, which say how sure a
 * share is.
 * @typedef {{ own: Float64Array, total: Float64Array, n: Float64Array, ownN: Float64Array, ownSquares: Float64Array,
 *   squares: Float64Array, all: number, allN: number, allSquares: number }} Counted */
/** A picture with that.
 * @typedef {Picture & Counted & { children: import("./tree.js").Children }} CostPicture */
/** A tree with its costs, and the modules of its functions.
 * @typedef {{ tree: Tree | null, costs: Counted | null, functions: number, moduleOf: () => Int32Array }} CountedTree */

/** Two trees with the function as their root: of what it calls, and of what calls it.
 * @param {CountedTree} model @param {number} f @returns {{ callees: CostPicture, callers: CostPicture }} */
export function sandwich(model, f) {
  const tree = /** @type {Tree} */ (model.tree), costs = /** @type {Counted} */ (model.costs), { n } = costs;
  const below = transform(tree, { kind: "focus", at: f }, model.moduleOf(), model.functions);
  const made = new TreeBuilder(1024);
  /** @type {number[]} */
  const outer = [];
  /** @type {number[]} */
  const node = [];
  for (let i = 0; i < tree.n; i++) {
    if (n[i] === 0 || below.to[i] === GONE || tree.func[i] !== f) continue;
    const p = tree.parent[i];
    if (p !== NONE && below.to[p] !== GONE) continue;
    // An outermost call: its callers, one after the other.
    let at = ROOT;
    for (let k = i; k !== NONE; k = tree.parent[k]) {
      at = made.child(at, tree.func[k], tree.flags[k] & 47, tree.src[k]);
      outer.push(i);
      node.push(at);
    }
  }
  const above = made.done(), { tree: inside, to } = below;
  /** @type {(values: Float64Array) => Float64Array} */
  const sumAbove = (values) => {
    const sums = new Float64Array(above.n);
    for (let k = 0; k < node.length; k++) sums[node[k]] += values[outer[k]];
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
  const aboveN = sumAbove(n), aboveTotal = alike ? aboveN : sumAbove(costs.total);
  const callers = { own: none, total: aboveTotal, ownN: none, n: aboveN, ownSquares: none, squares: alike ? aboveN : sumAbove(costs.squares) };
  return { callees: picture(inside, callees), callers: picture(above, callers) };
}

/** A picture of a tree whose roots are all of it.
 * @param {Tree} tree @param {Omit<Counted, "all" | "allN" | "allSquares">} counted @returns {CostPicture} */
function picture(tree, counted) {
  const sum = (/** @type {Float64Array} */ values) => {
    let sum = 0;
    for (let i = 0; i < tree.n; i++) if (tree.parent[i] === NONE) sum += values[i];
    return sum;
  };
  return { tree, children: childrenOf(tree), title: "", ...counted, all: sum(counted.total), allN: sum(counted.n), allSquares: sum(counted.squares) };
}

/** Callers of what ran: a function under those that it called, with the nodes that stand for it here.
 * @typedef {{ func: number, cost: number, squares: number,
 *   pairs: [number, number, number][] }} Caller */

/** Functions by their own cost; `pairs` are the nodes with what they cost and the squares of that, to go on from.
 * @param {Model} model @returns {Caller[]} */
export function bottomUp(model) {
  const tree = /** @type {any} */ (model.tree), costs = /** @type {any} */ (model.costs);
  /** @type {Map<number, Caller>} */
  const by = new Map();
  for (let i = 0; i < tree.n; i++) if (costs.ownN[i] > 0) add(by, tree.func[i], i, costs.own[i], costs.ownSquares[i]);
  return sorted(by);
}

/** Who called it there.
 * @param {Model} model @param {Caller} caller @returns {Caller[]} */
export function callersOf(model, caller) {
  const tree = /** @type {any} */ (model.tree);
  /** @type {Map<number, Caller>} */
  const by = new Map();
  for (const [node, cost, squares] of caller.pairs) {
    const p = tree.parent[node];
    if (p !== NONE) add(by, tree.func[p], p, cost, squares);
  }
  return sorted(by);
}

/** @param {Map<number, Caller>} by @param {number} func @param {number} node @param {number} cost @param {number} squares */
function add(by, func, node, cost, squares) {
  let row = by.get(func);
  if (!row) by.set(func, row = { func, cost: 0, squares: 0, pairs: [] });
  row.cost += cost;
  row.squares += squares;
  row.pairs.push([node, cost, squares]);
}

/** @param {Map<number, Caller>} by */
const sorted = (by) => [...by.values()].sort((a, b) => b.cost - a.cost || a.func - b.func);

/** Costs of a function by line, in samples: own, and with all that they call.
 * @typedef {Map<number, { own: number, total: number }>} Lines */

/** @param {Model} model @param {number} f @returns {Lines} */
export function linesOf(model, f) {
  const { lines, leafNode } = model.tables, costs = /** @type {any} */ (model.costs);
  const groups = /** @type {any} */ (model.groups), to = /** @type {Uint32Array} */ (model.to);
  const own = new Float64Array(lines.n);
  /** @type {Lines} */
  const found = new Map();
  for (let pair = 0; pair < groups.pairs; pair++) {
    const count = costs.pair[pair], leaf = groups.pairLeaf ? groups.pairLeaf[pair] : pair, node = leafNode[leaf];
    if (count === 0 || to[pair] === GONE || node === NONE) continue;
    own[node] += count;
  }
  const inside = new Uint8Array(lines.n), total = totals(/** @type {any} */ (lines), own);
  for (let i = 0; i < lines.n; i++) {
    const p = lines.parent[i], within = p !== NONE && inside[p];
    inside[i] = within || lines.func[i] === f ? 1 : 0;
    if (lines.func[i] !== f || total[i] === 0) continue;
    let row = found.get(lines.line[i]);
    if (!row) found.set(lines.line[i], row = { own: 0, total: 0 });
    row.own += own[i];
    // Of a recursion, only the outermost call counts, so that a stack counts once.
    if (!within) row.total += total[i];
  }
  return found;
}

/** The functions of a file that cost something, those that cost most first.
 * @param {Model} model @param {number} file the number of its name */
export function functionsOfFile(model, file) {
  const costs = model.functionCosts(), of = model.fileOf(), found = [];
  for (let f = 0; f < model.functions; f++) if (of[f] === file && costs.n[f] > 0) found.push(f);
  return found.sort((a, b) => costs.own[b] - costs.own[a]);
}

/** The node that a path of functions leads to, as far as there are such nodes.
 * @param {import("./labels.js").Labels} model @param {number[]} path */
export function nodeAt(model, path) {
  const tree = /** @type {any} */ (model.tree);
  let node = NONE;
  for (const step of path) {
    const { children } = model, [from, to] = range(children, node);
    let next = NONE;
    // Where several nodes differ only by how they were found, the one that costs most.
    for (let k = from; k < to; k++) {
      const child = children.list[k], n = /** @type {any} */ (model.costs).n;
      if (tree.func[child] === step && n[child] > (next === NONE ? 0 : n[next])) next = child;
    }
    if (next === NONE) break;
    node = next;
  }
  return node;
}
