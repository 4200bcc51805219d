// @ts-check
// Picture of samples in blocks: the outer frames, and below them the visible nodes of each block. Complete trees of all
// groups would have many times the nodes of the recording.
import { NONE } from "../columns.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./blocks.js").Blocks} Blocks */
/** @typedef {import("./blocks.js").Block} Block */
/** @typedef {import("../samples/weights.js").Weights} Weights */
/** Weights of the nodes on a side: own and inclusive.
 * @typedef {{ own: Weights, total: Weights }} Drawn */

/** Minimum share of the zoomed part that a drawn node has: half a pixel of a graph 2,048 pixels wide. */
export const LEAST = 1 / 4096;

/** Drawn part of a tree with its blocks.
 * @param {Blocks} blocks @param {number} sides 1, or 2 for a comparison
 * @param {number[]} zoom functions from an outermost frame inwards @param {number} [least]
 * @returns {{ tree: Tree, drawn: Drawn[] }} */
export function drawn(blocks, sides, zoom, least = LEAST) {
  const { outer, rest } = outerOf(blocks, zoom), limits = [];
  for (let side = 0; side < sides; side++) limits.push(least * widthOf(blocks, outer, rest, side));
  // The outermost frame of the zoom path is drawn completely.
  return new Painter(blocks, limits).paint(blocks.below(blocks.pathOutward(outer).at(-1) ?? NONE));
}

/** Longest prefix of a path that consists of outer frames, and the rest of the path.
 * @param {Blocks} blocks @param {number[]} zoom */
function outerOf({ func, parent }, zoom) {
  let outer = NONE, depth = 0;
  for (; depth < zoom.length; depth++) {
    const next = func.findIndex((f, at) => f === zoom[depth] && parent[at] === outer);
    if (next < 0) break;
    outer = next;
  }
  return { outer, rest: zoom.slice(depth) };
}

/** Cost of the node at the end of a path below an outer frame.
 * @param {Blocks} blocks @param {number} outer @param {number[]} way @param {number} side */
function widthOf(blocks, outer, way, side) {
  const all = blocks.below(outer);
  if (!way.length) return all.reduce((sum, { first, last }) => sum + blocks.cost(first, last, side), 0);
  const block = all.find((one) => one.outer === outer);
  if (!block) return 0;
  let node = NONE, range = { from: block.framed, to: block.last };
  for (const step of way) {
    let next = NONE, found = range;
    const below = node === NONE ? range : { from: blocks.endOfOwn(range, node), to: range.to };
    blocks.inside(node, below, (child, from, to) => {
      if (blocks.tree.func[child] === step && (next === NONE || to - from > found.to - found.from)) { next = child; found = { from, to }; }
    });
    if (next === NONE) break;
    node = next;
    range = found;
  }
  return blocks.cost(range.from, range.to, side);
}

/** Creates the visible nodes, block by block. */
class Painter {
  /** @param {Blocks} blocks @param {number[]} limits by side: the minimum drawn cost */
  constructor(blocks, limits) {
    this.blocks = blocks;
    this.limits = limits;
    /** By side: the prefix sums that determine widths (null: each entry counts 1), and the minimum in their unit. */
    this.sums = limits.map((_, side) => blocks.entries.sides[side].cost || blocks.entries.sides[side].n);
    this.least = limits.map((limit, side) => blocks.entries.sides[side].cost ? limit : limit / blocks.entries.sides[side].factor);
    /** Created nodes: outer frames, or nodes of the tree. */
    this.parent = /** @type {number[]} */ ([]);
    this.node = /** @type {number[]} */ ([]);
    /** Entries of each node, and the end of its own entries. */
    this.from = /** @type {number[]} */ ([]);
    this.end = /** @type {number[]} */ ([]);
    this.to = /** @type {number[]} */ ([]);
    /** By outer frame: its node; and by side and outer frame, its costs. */
    this.outer = new Uint32Array(blocks.func.length).fill(NONE);
    this.outerCosts = limits.map((_, side) => blocks.outerCosts(side));
  }

  /** @param {Block[]} list @returns {{ tree: Tree, drawn: Drawn[] }} */
  paint(list) {
    for (const block of list) this.block(block);
    const n = this.node.length, { tree, func } = this.blocks;
    const made = { n, parent: Uint32Array.from(this.parent), func: new Uint32Array(n), flags: new Uint8Array(n), src: new Uint32Array(n).fill(NONE) };
    for (let i = 0; i < n; i++) {
      const node = this.node[i];
      made.func[i] = node < 0 ? func[-1 - node] : tree.func[node];
      if (node < 0) continue;
      made.flags[i] = tree.flags[node];
      made.src[i] = tree.src[node];
    }
    return { tree: made, drawn: this.limits.map((_, side) => this.weights(side)) };
  }

  /** @param {Block} block */
  block(block) {
    const { blocks } = this, { first, framed, last, outer } = block;
    // An outer frame may be wide even if none of its blocks is.
    for (const one of blocks.pathOutward(outer)) if (this.outerCosts.some((costs, side) => costs[one].all.cost >= this.limits[side])) this.frameOf(one);
    if (!this.isWide(first, last)) return;
    const root = this.frameOf(outer);
    let at = this.node.length;
    this.inside(NONE, { from: framed, to: last }, root);
    // The nodes created so far are expanded in turn.
    for (; at < this.node.length; at++) this.inside(this.node[at], { from: this.end[at], to: this.to[at] }, at);
  }

  /** Creates the wide children of a node.
   * @param {number} node @param {import("./blocks.js").Range} below its entries below it @param {number} above */
  inside(node, below, above) {
    const { blocks } = this;
    blocks.inside(node, below, (child, from, to) => {
      if (this.isWide(from, to)) this.push(above, child, from, blocks.endOfOwn({ from, to }, child), to);
    });
  }

  /** Returns true if entries are wide enough to be drawn.
   * @param {number} from @param {number} to */
  isWide(from, to) {
    const { sums, least } = this;
    for (let side = 0; side < least.length; side++) {
      const sum = sums[side], width = sum ? sum[to] - sum[from] : to - from;
      if (width > 0 && width >= least[side]) return true;
    }
    return false;
  }

  /** Node of an outer frame, created if necessary.
   * @param {number} outer @returns {number} */
  frameOf(outer) {
    if (outer === NONE || this.outer[outer] !== NONE) return outer === NONE ? NONE : this.outer[outer];
    return this.outer[outer] = this.push(this.frameOf(this.blocks.parent[outer]), -1 - outer, 0, 0, 0);
  }

  /** @param {number} parent @param {number} node negative for an outer frame
   * @param {number} from @param {number} end @param {number} to */
  push(parent, node, from, end, to) {
    this.parent.push(parent);
    this.from.push(from);
    this.end.push(end);
    this.to.push(to);
    return this.node.push(node) - 1;
  }

  /** Weights of the nodes on a side.
   * @param {number} side @returns {Drawn} */
  weights(side) {
    const { n, cost, squares, factor } = this.blocks.entries.sides[side], { from, end, to } = this;
    const column = (/** @type {number[]} */ to, /** @type {Float64Array | null} */ sums) => {
      const made = new Float64Array(from.length);
      for (let i = 0; i < made.length; i++) made[i] = sums ? sums[to[i]] - sums[from[i]] : to[i] - from[i];
      return made;
    };
    const times = (/** @type {Float64Array} */ counts, /** @type {number} */ by) => by === 1 ? counts : counts.map((count) => count * by);
    const columns = (/** @type {number[]} */ to) => {
      const counts = column(to, n);
      return { n: counts, cost: cost ? column(to, cost) : times(counts, factor), squares: squares ? column(to, squares) : times(counts, factor * factor) };
    };
    const own = columns(end), total = columns(to);
    this.outer.forEach((node, outer) => {
      if (node === NONE) return;
      const { bare, all } = this.outerCosts[side][outer];
      put(own, node, bare);
      put(total, node, all);
    });
    return { own, total };
  }
}

/** @param {Weights} columns @param {number} node @param {import("../compare/change.js").Weight} weight */
function put({ n, cost, squares }, node, weight) {
  n[node] = weight.n;
  cost[node] = weight.cost;
  squares[node] = weight.squares;
}
