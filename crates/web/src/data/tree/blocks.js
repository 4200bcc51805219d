// @ts-check
// Outer frames of stacks: the group of a sample, and a frame for truncated stacks if these are shown apart. Samples
// with equal outer frames form a block; all blocks share one tree of functions.
import { NONE } from "../columns.js";
import { firstPlace, preorderOf } from "./preorder.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("../samples/entries.js").Entries} Entries */
/** @typedef {import("../compare/change.js").Weight} Weight */
/** Entries from `first` to before `last`; those from `framed` on have a node. `outer` is the innermost outer frame,
 * NONE if there is none.
 * @typedef {{ outer: number, first: number, framed: number, last: number }} Block */
/** Entries of a block at a node or below it.
 * @typedef {{ from: number, to: number }} Range */

export class Blocks {
  /** @param {Tree} tree @param {Entries} entries @param {boolean} grouped true if keys are twice the group, plus 1 for
   * truncated stacks; else keys are 0 or 1
   * @param {number} firstGroup the number of the first group among functions
   * @param {number} truncatedFunction the number of truncated stacks among functions */
  constructor(tree, entries, grouped, firstGroup, truncatedFunction) {
    this.tree = tree;
    this.order = preorderOf(tree);
    this.entries = entries;
    /** Outer frames: groups, and truncated stacks inside them; `parent` is NONE for the outermost. */
    this.parent = /** @type {number[]} */ ([]);
    this.func = /** @type {number[]} */ ([]);
    let lastGroup = -1, group = NONE;
    /** @type {Block[]} */
    this.list = [];
    entries.keys.forEach((key, at) => {
      const [first, last] = [entries.start[at], entries.start[at + 1]];
      if (!entries.sides.some((_, side) => this.count(first, last, side) > 0)) return;
      if (grouped && key >> 1 !== lastGroup) {
        lastGroup = key >> 1;
        group = this.push(NONE, firstGroup + lastGroup);
      }
      this.list.push({ outer: key & 1 ? this.push(group, truncatedFunction) : group, first, framed: entries.framed[at], last });
    });
  }

  /** @param {number} parent @param {number} func */
  push(parent, func) {
    this.parent.push(parent);
    return this.func.push(func) - 1;
  }

  /** True if there are no outer frames. */
  get isPlain() { return this.func.length === 0; }

  /** Weight of entries on a side.
   * @param {number} from @param {number} to @param {number} [side] @returns {Weight} */
  weight(from, to, side = 0) {
    const { cost, squares, factor } = this.entries.sides[side], n = this.count(from, to, side);
    return { n, cost: cost ? cost[to] - cost[from] : n * factor, squares: squares ? squares[to] - squares[from] : n * factor * factor };
  }

  /** Number of samples of entries on a side.
   * @param {number} from @param {number} to @param {number} side */
  count(from, to, side) {
    const { n } = this.entries.sides[side];
    return n ? n[to] - n[from] : to - from;
  }

  /** Cost of entries on a side.
   * @param {number} from @param {number} to @param {number} side */
  cost(from, to, side) {
    const { n, cost, factor } = this.entries.sides[side];
    return cost ? cost[to] - cost[from] : (n ? n[to] - n[from] : to - from) * factor;
  }

  /** Entries of a block at a node or below it.
   * @param {Block} block @param {number} node @returns {Range} */
  range({ framed, last }, node) {
    const { places } = this.entries, { at, end } = this.order, from = firstPlace(places, framed, last, at[node]);
    return { from, to: firstPlace(places, from, last, end[node]) };
  }

  /** End of the entries at the node itself, within its range.
   * @param {Range} range @param {number} node */
  endOfOwn({ from, to }, node) { return firstPlace(this.entries.places, from, to, this.order.at[node] + 1); }

  /** Calls `each` for each child of a node (or each root, for NONE) that has entries.
   * @param {number} node @param {Range} below the entries below it
   * @param {(child: number, from: number, to: number) => void} each */
  inside(node, { from, to }, each) {
    const { order: { at, end, node: nodes }, entries: { places } } = this, last = node === NONE ? nodes.length : end[node];
    for (let place = node === NONE ? 0 : at[node] + 1; place < last && from < to; place = end[nodes[place]]) {
      const next = end[nodes[place]];
      if (places[from] >= next) continue;
      const until = firstPlace(places, from, to, next);
      each(nodes[place], from, until);
      from = until;
    }
  }

  /** Path of outer frames, from this one outwards.
   * @param {number} outer */
  pathOutward(outer) {
    const way = [];
    for (let at = outer; at !== NONE; at = this.parent[at]) way.push(at);
    return way;
  }

  /** Blocks below an outer frame, or all blocks.
   * @param {number} outer */
  below(outer) { return outer === NONE ? this.list : this.list.filter((block) => this.pathOutward(block.outer).includes(outer)); }

  /** By outer frame: its inclusive cost, and the cost of its samples without frames.
   * @param {number} [side] @returns {{ all: Weight, bare: Weight }[]} */
  outerCosts(side = 0) {
    const none = () => ({ n: 0, cost: 0, squares: 0 }), costs = this.func.map(() => ({ all: none(), bare: none() }));
    for (const { outer, first, framed, last } of this.list) {
      if (outer !== NONE) addTo(costs[outer].bare, this.weight(first, framed, side));
      for (const at of this.pathOutward(outer)) addTo(costs[at].all, this.weight(first, last, side));
    }
    return costs;
  }

  /** Entries sorted by preorder position, with the start of each position in that list; and by entry, its block. */
  byPlace() {
    if (this.indexed) return this.indexed;
    const { places } = this.entries, blockOf = new Uint32Array(places.length), start = new Uint32Array(this.tree.n + 1);
    this.list.forEach(({ framed, last }, at) => { for (let k = framed; k < last; k++) { blockOf[k] = at; start[places[k] + 1]++; } });
    for (let i = 1; i < start.length; i++) start[i] += start[i - 1];
    const fill = start.slice(), list = new Uint32Array(start[this.tree.n]);
    for (const { framed, last } of this.list) for (let k = framed; k < last; k++) list[fill[places[k]]++] = k;
    return this.indexed = { start, list, blockOf };
  }
}

/** @param {Weight} sum @param {Weight} more */
function addTo(sum, more) {
  sum.n += more.n;
  sum.cost += more.cost;
  sum.squares += more.squares;
}
