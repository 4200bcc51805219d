// @ts-check
// What is around one function: trees of its callers and callees, its lines, its addresses; and callers of what ran.
import { NONE } from "./columns.js";
import { GONE, ROOT, transform } from "./transform.js";
import { TreeBuilder, childrenOf, range, totals } from "./tree.js";

/** @typedef {import("./model.js").Model} Model */
/** @typedef {import("./layout.js").Picture} Picture */
/** A picture that also knows what its nodes cost alone, and in samples.
 * @typedef {Picture & { own: Float64Array, n: Float64Array, ownN: Float64Array, allN: number }} CostPicture */

/** Two trees with the function as their root: of what it calls, and of what calls it.
 * @param {Model} model @param {number} f @returns {{ callees: CostPicture, callers: CostPicture }} */
export function sandwich(model, f) {
  const tree = /** @type {any} */ (model.tree), costs = /** @type {any} */ (model.costs);
  const below = transform(tree, { kind: "focus", at: f }, model.moduleOf(), model.functions);
  const own = new Float64Array(below.tree.n), ownN = new Float64Array(below.tree.n);
  const made = new TreeBuilder(1024);
  /** @type {number[]} */
  const cost = [];
  /** @type {number[]} */
  const count = [];
  for (let i = 0; i < tree.n; i++) {
    if (costs.n[i] === 0 || below.to[i] === GONE) continue;
    own[below.to[i]] += costs.own[i];
    ownN[below.to[i]] += costs.ownN[i];
    const p = tree.parent[i];
    if (tree.func[i] !== f || (p !== NONE && below.to[p] !== GONE)) continue;
    // An outermost call: its callers, one after the other.
    let node = ROOT;
    for (let at = i; at !== NONE; at = tree.parent[at]) {
      node = made.child(node, tree.func[at], tree.flags[at] & 47, tree.src[at]);
      cost[node] = (cost[node] || 0) + costs.total[i];
      count[node] = (count[node] || 0) + costs.n[i];
    }
  }
  const above = made.done(), total = Float64Array.from(cost), n = Float64Array.from(count);
  const belowTotal = totals(below.tree, own), belowN = totals(below.tree, ownN);
  const sum = (/** @type {import("./tree.js").Tree} */ tree, /** @type {Float64Array} */ values) => {
    let sum = 0;
    for (let i = 0; i < tree.n; i++) if (tree.parent[i] === NONE) sum += values[i];
    return sum;
  };
  const none = (/** @type {number} */ length) => new Float64Array(length);
  return {
    callees: { tree: below.tree, children: childrenOf(below.tree), total: belowTotal, own, n: belowN, ownN,
      all: sum(below.tree, belowTotal), allN: sum(below.tree, belowN), title: "" },
    callers: { tree: above, children: childrenOf(above), total, own: none(above.n), n, ownN: none(above.n),
      all: sum(above, total), allN: sum(above, n), title: "" },
  };
}

/** Callers of what ran: a function under those that it called, with the nodes that stand for it here.
 * @typedef {{ func: number, cost: number, n: number, pairs: [number, number, number][] }} Caller */

/** Functions by their own cost; `pairs` are the nodes with what they cost, to go on from.
 * @param {Model} model @returns {Caller[]} */
export function bottomUp(model) {
  const tree = /** @type {any} */ (model.tree), costs = /** @type {any} */ (model.costs);
  /** @type {Map<number, Caller>} */
  const by = new Map();
  for (let i = 0; i < tree.n; i++) if (costs.ownN[i] > 0) add(by, tree.func[i], i, costs.own[i], costs.ownN[i]);
  return sorted(by);
}

/** Who called it there.
 * @param {Model} model @param {Caller} caller @returns {Caller[]} */
export function callersOf(model, caller) {
  const tree = /** @type {any} */ (model.tree);
  /** @type {Map<number, Caller>} */
  const by = new Map();
  for (const [node, cost, n] of caller.pairs) {
    const p = tree.parent[node];
    if (p !== NONE) add(by, tree.func[p], p, cost, n);
  }
  return sorted(by);
}

/** @param {Map<number, Caller>} by @param {number} func @param {number} node @param {number} cost @param {number} n */
function add(by, func, node, cost, n) {
  let row = by.get(func);
  if (!row) by.set(func, row = { func, cost: 0, n: 0, pairs: [] });
  row.cost += cost;
  row.n += n;
  row.pairs.push([node, cost, n]);
}

/** @param {Map<number, Caller>} by */
const sorted = (by) => [...by.values()].sort((a, b) => b.cost - a.cost || a.func - b.func);

/** Costs of a function by line and by address, in samples: own, and of lines with all that they call.
 * @typedef {{ lines: Map<number, { own: number, total: number }>, places: Map<number, number> }} Lines */

/** @param {Model} model @param {number} f @returns {Lines} */
export function linesOf(model, f) {
  const { lines, leafNode, leafPlace } = model.tables, costs = /** @type {any} */ (model.costs);
  const groups = /** @type {any} */ (model.groups), to = /** @type {Uint32Array} */ (model.to);
  const own = new Float64Array(lines.n);
  /** @type {Lines} */
  const found = { lines: new Map(), places: new Map() };
  for (let pair = 0; pair < groups.pairs; pair++) {
    const count = costs.pair[pair], leaf = groups.pairLeaf ? groups.pairLeaf[pair] : pair, node = leafNode[leaf];
    if (count === 0 || to[pair] === GONE || node === NONE) continue;
    own[node] += count;
    if (lines.func[node] === f && leafPlace[leaf] !== NONE) {
      found.places.set(leafPlace[leaf], (found.places.get(leafPlace[leaf]) || 0) + count);
    }
  }
  const inside = new Uint8Array(lines.n), total = totals(/** @type {any} */ (lines), own);
  for (let i = 0; i < lines.n; i++) {
    const p = lines.parent[i], within = p !== NONE && inside[p];
    inside[i] = within || lines.func[i] === f ? 1 : 0;
    if (lines.func[i] !== f || total[i] === 0) continue;
    let row = found.lines.get(lines.line[i]);
    if (!row) found.lines.set(lines.line[i], row = { own: 0, total: 0 });
    row.own += own[i];
    // Of a recursion, only the outermost call counts, so that a stack counts once.
    if (!within) row.total += total[i];
  }
  return found;
}

/** The address of a place, in hexadecimal digits.
 * @param {import("./columns.js").Tables} tables @param {number} place */
export function addressOf(tables, place) {
  const high = tables.placeHigh[place], low = tables.placeLow[place].toString(16);
  return high ? high.toString(16) + low.padStart(8, "0") : low;
}

/** The functions of a file that cost something, those that cost most first.
 * @param {Model} model @param {number} file the number of its name */
export function functionsOfFile(model, file) {
  const costs = model.functionCosts(), of = model.fileOf(), found = [];
  for (let f = 0; f < model.functions; f++) if (of[f] === file && costs.n[f] > 0) found.push(f);
  return found.sort((a, b) => costs.own[b] - costs.own[a]);
}

/** The node that a path of functions leads to, as far as there are such nodes.
 * @param {Model} model @param {number[]} path */
export function nodeAt(model, path) {
  const tree = /** @type {any} */ (model.tree), children = /** @type {any} */ (model.children);
  let node = NONE;
  for (const step of path) {
    const [from, to] = range(children, node);
    let next = NONE;
    // Where several nodes differ only by how they were found, the one that costs most.
    for (let k = from; k < to; k++) {
      const child = children.list[k], n = /** @type {any} */ (model.costs).n;
      if (tree.func[child] === step && (next === NONE || n[child] > n[next])) next = child;
    }
    if (next === NONE) break;
    node = next;
  }
  return node;
}
