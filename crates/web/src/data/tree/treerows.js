// @ts-check
// Call trees as expandable rows: top-down from the outermost frames, bottom-up from the leaf functions.
import { NONE } from "../columns.js";

/** @typedef {import("../model.js").Model} Model */
/** @typedef {import("./blocks.js").Blocks} Blocks */
/** @typedef {import("./tree.js").Tree} Tree */
/** Function below its callers: own and inclusive cost, the squares of the latter, and its callees.
 * @typedef {{ func: number, flags: number, own: number, total: number, squares: number, more: boolean, inside: () => Callee[] }} Callee */
/** Function above the functions that it called, and its locations. A location is a node (or an outer frame, numbered
 * after the nodes), the leaf node (NONE if there is none), its cost and the squares. Locations are computed on demand.
 * @typedef {{ func: number, cost: number, squares: number, called: boolean, places: () => [number, number, number, number][] }} Caller */

/** Minimum share of the first row's cost that a row of the hot path has. A share of the parent's cost, such as a half,
 * would end the path at the threads of a program. */
const HOT = 0.1;

/** Longest hot path. Deeper rows of a recursion are of no use at first. */
const LONGEST = 64;

/** Paths of the rows to expand for the hot path from a row.
 * @template {{ path: string, total: number, more: boolean, inside: () => T[] }} T
 * @param {T | undefined} first @returns {string[]} */
export function hotPath(first) {
  const paths = [];
  for (let row = first; row?.more && paths.length < LONGEST;) {
    paths.push(row.path);
    /** @type {T | undefined} */
    const inner = row.inside()[0];
    row = inner && first && inner.total >= HOT * first.total ? inner : undefined;
  }
  return paths;
}

/** Outermost frames, in descending order of cost.
 * @param {Model} model @returns {Callee[]} */
export function topDown(model) {
  const blocks = model.blocks(), costs = blocks.outerCosts();
  /** @type {(outer: number) => Callee[]} */
  const inside = (outer) => {
    const frames = costs.flatMap(({ all, bare }, at) => blocks.parent[at] !== outer ? [] : [{
      func: blocks.func[at], flags: 0, own: bare.cost, total: all.cost, squares: all.squares, more: all.n > bare.n, inside: () => inside(at) }]);
    const block = blocks.list.find((one) => one.outer === outer);
    return inOrder(block ? [...frames, ...callees(blocks, NONE, { from: block.framed, to: block.last })] : frames);
  };
  return inside(NONE);
}

/** Children of a node in a block.
 * @param {Blocks} blocks @param {number} node @param {import("./blocks.js").Range} below the entries below it
 * @returns {Callee[]} */
function callees(blocks, node, below) {
  /** @type {Callee[]} */
  const found = [], { tree } = blocks;
  blocks.inside(node, below, (child, from, to) => {
    const end = blocks.endOfOwn({ from, to }, child), { n, cost: total, squares } = blocks.weight(from, to);
    if (n === 0) return;
    found.push({ func: tree.func[child], flags: tree.flags[child], own: blocks.cost(from, end, 0), total, squares, more: blocks.count(end, to, 0) > 0,
      inside: () => inOrder(callees(blocks, child, { from: end, to })) });
  });
  return found;
}

/** @param {Callee[]} rows */
const inOrder = (rows) => rows.sort((a, b) => b.total - a.total);

/** Functions with their own cost.
 * @param {Model} model @returns {Caller[]} */
export function bottomUp(model) {
  const tree = /** @type {Tree} */ (model.tree), { own, ownN, ownSquares } = /** @type {any} */ (model.costs), blocks = model.blocks();
  const size = model.truncatedFunction() + 1, costs = new Float64Array(size), squares = new Float64Array(size), called = new Uint8Array(size), seen = new Uint8Array(size);
  for (let i = 0; i < tree.n; i++) {
    if (ownN[i] === 0) continue;
    const f = tree.func[i];
    seen[f] = 1;
    costs[f] += own[i];
    squares[f] += ownSquares[i];
    if (!called[f] && (tree.parent[i] !== NONE || !blocks.isPlain && isInside(blocks, i))) called[f] = 1;
  }
  /** @type {Caller[]} */
  const rows = [];
  for (let f = 0; f < size; f++) {
    if (seen[f]) rows.push({ func: f, cost: costs[f], squares: squares[f], called: called[f] === 1, places: () => placesOf(tree, f, ownN, own, ownSquares) });
  }
  const bare = new Callers(tree, blocks);
  for (const { outer, first, framed } of blocks.list) {
    const { n, cost, squares } = blocks.weight(first, framed);
    if (outer !== NONE && n > 0) bare.add(blocks.func[outer], tree.n + outer, NONE, cost, squares);
  }
  return inOrderOfCost([...rows, ...bare.rows.values()]);
}

/** Locations of a function as a leaf.
 * @param {Tree} tree @param {number} f @param {Float64Array} ownN @param {Float64Array} own @param {Float64Array} squares */
function placesOf(tree, f, ownN, own, squares) {
  /** @type {[number, number, number, number][]} */
  const places = [];
  for (let i = 0; i < tree.n; i++) if (tree.func[i] === f && ownN[i] > 0) places.push([i, i, own[i], squares[i]]);
  return places;
}

/** Callers of a row.
 * @param {Model} model @param {Caller} caller @returns {Caller[]} */
export function callersOf(model, caller) {
  const tree = /** @type {Tree} */ (model.tree), blocks = model.blocks(), by = new Callers(tree, blocks);
  for (const [place, ran, cost, squares] of caller.places()) {
    if (place < tree.n) {
      const outside = tree.parent[place];
      if (outside !== NONE) by.add(tree.func[outside], outside, ran, cost, squares);
      else if (!blocks.isPlain) outermost(blocks, tree.n, ran, by);
      continue;
    }
    const outer = blocks.parent[place - tree.n];
    if (outer !== NONE) by.add(blocks.func[outer], tree.n + outer, ran, cost, squares);
  }
  return inOrderOfCost([...by.rows.values()]);
}

/** Returns true if a leaf node has an outer frame.
 * @param {Blocks} blocks @param {number} ran */
function isInside(blocks, ran) {
  const { start, list, blockOf } = blocks.byPlace(), place = blocks.order.at[ran];
  for (let k = start[place]; k < start[place + 1]; k++) {
    if (blocks.list[blockOf[list[k]]].outer !== NONE && blocks.count(list[k], list[k] + 1, 0) > 0) return true;
  }
  return false;
}

/** Adds the outer frames of a leaf node, block by block.
 * @param {Blocks} blocks @param {number} nodes @param {number} ran @param {Callers} by */
function outermost(blocks, nodes, ran, by) {
  const { start, list, blockOf } = blocks.byPlace(), place = blocks.order.at[ran];
  for (let k = start[place]; k < start[place + 1]; k++) {
    const { outer } = blocks.list[blockOf[list[k]]], { n, cost, squares } = blocks.weight(list[k], list[k] + 1);
    if (outer !== NONE && n > 0) by.add(blocks.func[outer], nodes + outer, ran, cost, squares);
  }
}

/** Rows of callers, by function. */
class Callers {
  /** @param {Tree} tree @param {Blocks} blocks */
  constructor(tree, blocks) {
    this.tree = tree;
    this.blocks = blocks;
    /** @type {Map<number, Caller & { list: [number, number, number, number][] }>} */
    this.rows = new Map();
  }

  /** @param {number} func @param {number} place @param {number} ran @param {number} cost @param {number} squares */
  add(func, place, ran, cost, squares) {
    let row = this.rows.get(func);
    if (!row) {
      /** @type {[number, number, number, number][]} */
      const list = [];
      this.rows.set(func, row = { func, cost: 0, squares: 0, called: false, list, places: () => list });
    }
    row.cost += cost;
    row.squares += squares;
    row.called ||= this.isCalled(place, ran);
    row.list.push([place, ran, cost, squares]);
  }

  /** Returns true if a location has a caller.
   * @param {number} place @param {number} ran */
  isCalled(place, ran) {
    const { tree, blocks } = this;
    if (place >= tree.n) return blocks.parent[place - tree.n] !== NONE;
    return tree.parent[place] !== NONE || (!blocks.isPlain && isInside(blocks, ran));
  }
}

/** @param {Caller[]} rows */
const inOrderOfCost = (rows) => rows.sort((a, b) => b.cost - a.cost || a.func - b.func);
