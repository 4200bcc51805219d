// @ts-check
// What a graph shows of samples in blocks: the frames outside of stacks, and below them the nodes that are wide enough to
// be drawn, of each block anew. A tree of all nodes of all groups would have many times those of the recording.
import { addTo } from "./blocks.js";
import { NONE } from "./columns.js";
import { firstPlace } from "./preorder.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./blocks.js").Blocks} Blocks */
/** @typedef {import("./blocks.js").Block} Block */
/** @typedef {import("./weights.js").Weights} Weights */
/** Weights of the nodes of a side: what ends at each node, and that with all below it.
 * @typedef {{ own: Weights, total: Weights }} Drawn */

/** Nodes of a smaller part of what is zoomed are left out: half a pixel of a graph of 2,048. */
export const LEAST = 1 / 4096;

/** The part of a tree with its blocks that is drawn.
 * @param {Blocks} blocks @param {number} sides one, or both of a comparison
 * @param {number[]} zoom functions from an outermost frame inwards @param {number} [least]
 * @returns {{ tree: Tree, drawn: Drawn[] }} */
export function drawn(blocks, sides, zoom, least = LEAST) {
  const { outer, rest } = outerOf(blocks, zoom), limits = [];
  for (let side = 0; side < sides; side++) limits.push(least * widthOf(blocks, outer, rest, side));
  // The outermost of the frames at hand is told with all that is below it.
  return new Painter(blocks, limits).paint(blocks.below(blocks.wayOut(outer).at(-1) ?? NONE));
}

/** How far a way leads outside of stacks, and the rest of it.
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

/** What the node costs that a way leads to, below a frame outside of stacks.
 * @param {Blocks} blocks @param {number} outer @param {number[]} way @param {number} side */
function widthOf(blocks, outer, way, side) {
  const all = blocks.below(outer);
  if (!way.length) return all.reduce((sum, { first, last }) => sum + blocks.cost(first, last, side), 0);
  const block = all.find((one) => one.outer === outer);
  if (!block) return 0;
  let node = NONE, range = { from: block.framed, to: block.last };
  for (const step of way) {
    let next = NONE, found = range;
    blocks.inside(block, node, range, (child, from, to) => {
      if (blocks.tree.func[child] === step && (next === NONE || to - from > found.to - found.from)) { next = child; found = { from, to }; }
    });
    if (next === NONE) break;
    node = next;
    range = found;
  }
  return blocks.cost(range.from, range.to, side);
}

/** Makes the nodes of block after block. */
class Painter {
  /** @param {Blocks} blocks @param {number[]} limits by side: the smallest cost that is drawn */
  constructor(blocks, limits) {
    this.blocks = blocks;
    this.limits = limits;
    /** By side: what is drawn begins at so much of these sums; without sums, at so many entries. */
    this.sums = limits.map((_, side) => blocks.entries.sides[side].cost || blocks.entries.sides[side].n);
    this.least = limits.map((limit, side) => blocks.entries.sides[side].cost ? limit : limit / blocks.entries.sides[side].factor);
    /** The nodes that are made: frames outside of stacks, or nodes of the tree. */
    this.parent = /** @type {number[]} */ ([]);
    this.node = /** @type {number[]} */ ([]);
    /** Their entries, and where those of their own end. */
    this.from = /** @type {number[]} */ ([]);
    this.end = /** @type {number[]} */ ([]);
    this.to = /** @type {number[]} */ ([]);
    /** By frame outside of stacks: its node, and the blocks below it. */
    this.outer = new Uint32Array(blocks.func.length).fill(NONE);
    this.blocksOf = blocks.func.map(() => /** @type {Block[]} */ ([]));
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
    if (!this.isWide(first, last)) return;
    const root = this.frameOf(outer);
    for (const at of blocks.wayOut(outer)) this.blocksOf[at].push(block);
    let at = this.node.length;
    this.inside(0, blocks.order.node.length, framed, last, root);
    // Nodes that were made have theirs looked at in turn.
    for (; at < this.node.length; at++) {
      const place = blocks.order.at[this.node[at]];
      this.inside(place + 1, place + blocks.order.size[place], this.end[at], this.to[at], at);
    }
  }

  /** Makes those nodes wide enough that are side by side between two places.
   * @param {number} place @param {number} end @param {number} from @param {number} to entries @param {number} above */
  inside(place, end, from, to, above) {
    const { order: { node, size }, entries: { places } } = this.blocks;
    while (place < end && from < to) {
      const next = place + size[place];
      if (places[from] < next) {
        const until = firstPlace(places, from, to, next);
        if (this.isWide(from, until)) this.push(above, node[place], from, firstPlace(places, from, until, place + 1), until);
        from = until;
      }
      place = next;
    }
  }

  /** Whether entries are drawn.
   * @param {number} from @param {number} to */
  isWide(from, to) {
    const { sums, least } = this;
    for (let side = 0; side < least.length; side++) {
      const sum = sums[side], width = sum ? sum[to] - sum[from] : to - from;
      if (width > 0 && width >= least[side]) return true;
    }
    return false;
  }

  /** The node of a frame outside of stacks.
   * @param {number} outer @returns {number} */
  frameOf(outer) {
    if (outer === NONE || this.outer[outer] !== NONE) return outer === NONE ? NONE : this.outer[outer];
    return this.outer[outer] = this.push(this.frameOf(this.blocks.parent[outer]), -1 - outer, 0, 0, 0);
  }

  /** @param {number} parent @param {number} node below 0 for a frame outside of stacks
   * @param {number} from @param {number} end @param {number} to */
  push(parent, node, from, end, to) {
    this.parent.push(parent);
    this.from.push(from);
    this.end.push(end);
    this.to.push(to);
    return this.node.push(node) - 1;
  }

  /** What the nodes cost on a side.
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
      const bare = { n: 0, cost: 0, squares: 0 }, all = { n: 0, cost: 0, squares: 0 };
      for (const { outer: at, first, framed, last } of this.blocksOf[outer]) {
        if (at === outer) addTo(bare, this.blocks.weight(first, framed, side));
        addTo(all, this.blocks.weight(first, last, side));
      }
      put(own, node, bare);
      put(total, node, all);
    });
    return { own, total };
  }
}

/** @param {Weights} columns @param {number} node @param {import("./change.js").Weight} weight */
function put({ n, cost, squares }, node, weight) {
  n[node] = weight.n;
  cost[node] = weight.cost;
  squares[node] = weight.squares;
}
