// @ts-check
// Engine: computes a tree with costs from tables and a view (event, weight, groups, filters), and answers queries on
// it. Results are cached by their inputs: trees depend on frame filters, costs on the rest. Groups are outside the
// tree, which they all share.
import { nodeAt } from "./tree/around.js";
import { Blocks } from "./tree/blocks.js";
import { JOINED, NONE } from "./columns.js";
import { entriesOfLeaves, entriesOfSamples, leavesInOrder, leftOf } from "./samples/entries.js";
import { columnOf, groupsOf, isGroup, samplesByLeaf, usualGroup, valuesOf } from "./samples/group.js";
import { Labels } from "./tree/labels.js";
import { drawn } from "./tree/picture.js";
import { costs, selection } from "./samples/select.js";
import { FRAME_FILTERS, GONE, ROOT, composed, transform } from "./tree/transform.js";
import { TreeBuilder, childrenOf, outermost, totals } from "./tree/tree.js";
import { eachOf, sumsOf, times, together } from "./samples/weights.js";
import { RUNNING, withoutKernel } from "./waits.js";

/** @typedef {import("./columns.js").Tables} Tables */
/** @typedef {import("./tree/tree.js").Tree} Tree */
/** @typedef {import("./tree/tree.js").Children} Children */
/** @typedef {import("./tree/transform.js").FrameFilter} FrameFilter */
/** @typedef {import("./samples/select.js").SampleFilter} SampleFilter */
/** @typedef {import("./samples/select.js").Weight} Weight */
/** @typedef {import("./samples/weights.js").Weights} Weights */
/** @typedef {FrameFilter | SampleFilter} Filter */
/** @typedef {{ event: number, weight: Weight, truncated: "apart" | "together" | "hidden",
 *   group: import("./samples/group.js").GroupBy, filters: Filter[], kernel?: "folded" | "shown" }} View
 * `kernel` folds or shows the innermost kernel frames of times off the processor. */
/** Costs of nodes, in units of the weight; one shared array if every sample counts 1; and of leaves.
 * @typedef {import("./tree/around.js").Counted & { ends: Float64Array, leaf: Float64Array, samples: number }} Costs */
/** Costs by key: functions, modules or files.
 * @typedef {{ own: Float64Array, total: Float64Array, ownN: Float64Array, n: Float64Array, ownSquares: Float64Array,
 *   squares: Float64Array }} KeyCosts */

export class Model extends Labels {
  /** @param {Tables} tables */
  constructor(tables) {
    super(tables.head);
    this.tables = tables;
    const { head } = tables;
    /** @type {Costs | null} */
    this.costs = null;
    /** By leaf: all samples of the recording. */
    this.leafCounts = new Float64Array(tables.leafNode.length);
    for (let i = 0; i < tables.samples; i++) this.leafCounts[tables.leaf[i]]++;
    const base = this.base(), moved = base.to;
    this.lineTo = moved;
    this.base0 = base.tree;
    this.leafBase = tables.leafNode.map((node) => node === NONE ? ROOT : moved[node]);
    this.weighs = !!tables.period || head.events.some((event) => event.period !== null);
  }

  /** Precomputes data for filters and groups, before the reader needs them. */
  prepare() {
    this.samplesBy("thread");
    if (this.tree) void this.children;
  }

  /** Merges the tree of lines into a tree of functions. */
  base() {
    const { lines, leafNode } = this.tables, made = new TreeBuilder(lines.n), to = new Uint32Array(lines.n);
    const own = new Float64Array(lines.n);
    for (let i = 0; i < leafNode.length; i++) if (leafNode[i] !== NONE) own[leafNode[i]] += this.leafCounts[i];
    for (let i = 0; i < lines.n; i++) {
      const p = lines.parent[i];
      const outside = p === NONE ? ROOT : to[p], flags = lines.flags[i] & ~JOINED;
      to[i] = lines.grows ? made.child(outside, lines.func[i], flags, i) : made.merge(outside, /** @type {any} */ (lines), i, p, flags);
    }
    const tree = made.done();
    // A node is shown with its most sampled line. It counts as taken from other samples if most of its own samples have
    // such a frame.
    for (let i = lines.n - 1; i >= 0; i--) if (lines.parent[i] !== NONE) own[lines.parent[i]] += own[i];
    const most = new Float64Array(tree.n), joined = new Float64Array(tree.n);
    /** Number of lines of a node. */
    this.lineCount = new Uint32Array(tree.n);
    for (let i = 0; i < lines.n; i++) {
      const node = to[i];
      joined[node] += lines.flags[i] & JOINED ? own[i] : -own[i];
      if (lines.line[i] !== 0) this.lineCount[node]++;
      if (lines.line[i] !== 0 && own[i] > most[node]) {
        most[node] = own[i];
        tree.src[node] = i;
      }
    }
    for (let i = 0; i < tree.n; i++) if (joined[i] > 0) tree.flags[i] |= JOINED;
    // Trees derived from this one refer to its nodes by `src`.
    this.baseLine = tree.src.map((i) => lines.line[i]);
    for (let i = 0; i < tree.n; i++) tree.src[i] = i;
    return { tree, to };
  }

  /** Applies a view to the tables.
   * @param {View} view */
  look(view) {
    this.view = view;
    const frames = /** @type {FrameFilter[]} */ (view.filters.filter((filter) => FRAME_FILTERS.includes(filter.kind)));
    const samples = /** @type {SampleFilter[]} */ (view.filters.filter((filter) => !FRAME_FILTERS.includes(filter.kind)));
    const folds = !!this.tables.leafWait && view.kernel === "folded", framesKey = this.framesKey = JSON.stringify(frames) + (folds ? " folded" : ""), samplesKey = `${view.event} ${view.weight} ${JSON.stringify(samples)}`;
    this.leavesKey = `${framesKey} ${view.truncated === "hidden"}`;
    this.groups = this.groupsBy(view.group);
    this.groupLabels = this.groups ? this.groups.labels : [];
    this.treeKey = `${framesKey} ${view.group} ${view.truncated}`;
    this.costsKey = `${this.treeKey} ${samplesKey}`;
    /** By leaf: its node in the tables, without folded frames. */
    this.leafLine = folds ? this.once("leafLine", "", () => this.folded(this.tables.lines, this.tables.leafNode)) : this.tables.leafNode;
    const filtered = this.once("filtered", framesKey, () => this.filtered(frames, folds));
    this.tree = filtered.tree;
    this.makeChildren = filtered.children;
    this.to = this.once("to", this.leavesKey, () => view.truncated === "hidden" ? this.rooted(filtered.leafTo) : filtered.leafTo);
    this.chosen = selection(this.tables, samples);
    // Frame filters and groups do not change the costs of leaves.
    const byLeaf = this.byLeaf = this.once("byLeafCosts", samplesKey, () => this.weigh(/** @type {any} */ (this.chosen)));
    this.costs = this.once("costs", `${this.leavesKey} ${samplesKey}`, () => this.sum(byLeaf));
  }

  get threads() { return this.tables.head.threads; }

  /** @param {string} word */
  hasGroup(word) { return isGroup(this.tables.head, word); }

  get kinds() { return { waits: this.tables.head.waits ?? [], events: this.tables.head.events.map(({ name }) => name) }; }

  get usualGroup() { return this.once("usualGroup", "", () => usualGroup(this.tables)); }

  /** @param {View["group"]} group */
  groupsBy(group) { return this.once("groups", group, () => group === "none" || !isGroup(this.tables.head, group) ? null : groupsOf(this.tables, group)); }

  /** @param {View["group"]} group @returns {string[]} */
  labelsOf(group) { return this.groupsBy(group)?.labels ?? []; }

  /** Nodes of leaves without the kernel's frames of times off the processor.
   * @param {{ n: number, parent: Uint32Array, flags: Uint8Array }} tree @param {Uint32Array} nodes */
  folded(tree, nodes) { return withoutKernel(tree, nodes, /** @type {Uint8Array} */ (this.tables.leafWait)); }

  /** @param {FrameFilter[]} filters @param {boolean} folds */
  filtered(filters, folds) {
    let tree = this.base0, leafTo = folds ? this.once("leafFolded", "", () => this.folded(this.base0, this.leafBase)) : this.leafBase, children = () => this.once("children0", "", () => childrenOf(this.base0));
    for (const filter of filters) {
      if (filter.kind === "wait") {
        const waits = this.tables.leafWait, wanted = filter.at;
        leafTo = leafTo.map((node, leaf) => (waits ? waits[leaf] : RUNNING) === wanted ? node : GONE);
        continue;
      }
      const moved = transform(tree, filter, this.moduleOf(), this.functions, children, () => this.wholeOf()), older = children;
      leafTo = composed(leafTo, moved.to);
      // A sample without frames contains no function or module.
      if (["focus", "keep", "module"].includes(filter.kind)) leafTo = leafTo.map((node) => node === ROOT ? GONE : node);
      children = moved.tree === tree ? older : later(() => childrenOf(moved.tree));
      tree = moved.tree;
    }
    return { tree, leafTo, children };
  }

  /** Node of each leaf, without the leaves of truncated stacks.
   * @param {Uint32Array} to */
  rooted(to) {
    const { leafEnd, head } = this.tables;
    return to.map((node, leaf) => head.rooted[leafEnd[leaf]] ? node : GONE);
  }

  /** Returns true for groups and the truncated stacks, which are outside the tree.
   * @param {number} f */
  isOutside(f) { return f >= this.firstGroup; }

  /** Costs of leaves in a selection of samples, and its samples by the end of their stack.
   * @param {import("./samples/select.js").Selection} chosen */
  weigh(chosen) {
    const { event, weight } = /** @type {View} */ (this.view), { leafEnd, head } = this.tables;
    const weighed = costs(this.tables, chosen, event, weight), { n } = weighed.weights, ends = new Float64Array(head.ends.length);
    for (let leaf = 0; leaf < n.length; leaf++) ends[leafEnd[leaf]] += n[leaf];
    return { ...weighed, ends };
  }

  /** Samples of each leaf, with their threads, events or values.
   * @param {View["group"]} group */
  samplesBy(group) {
    const column = columnOf(this.tables, group);
    const { start, list } = this.once("byLeaf", "", () => samplesByLeaf(this.tables));
    return { start, list, by: this.once("byLeafColumn", column === this.tables.thread ? "thread" : group, () => valuesOf(column, list)) };
  }

  /** Outer frames, with the samples of the current view.
   * @returns {Blocks} */
  blocks() { return this.once("blocks", this.costsKey || "", () => this.blocksOf([[/** @type {any} */ (this.chosen)]])); }

  /** @param {import("./samples/select.js").Selection[][]} sides the samples of each side */
  blocksOf(sides) {
    const { truncated, event, weight, group } = /** @type {View} */ (this.view), { tables, groups } = this, { leafEnd, head } = tables, tree = /** @type {Tree} */ (this.tree);
    const isCut = this.once("cut", truncated, () => leafEnd.map((end) => truncated === "apart" && !head.rooted[end] ? 1 : 0));
    const order = this.once("leaves", `${this.framesKey} ${truncated}`, () => this.leavesInOrder(isCut));
    const make = () => {
      if (!groups) {
        const weighed = sides.map((side) => side.map((chosen) => chosen === this.chosen && this.byLeaf ? this.byLeaf : this.weigh(chosen)));
        return entriesOfLeaves(order, weighed.map((side) => side.map(({ weights }) => weights).reduce(together)), weighed[0][0].factor);
      }
      const byLeaf = this.samplesBy(group), period = weight === "period" ? tables.period : null;
      const factor = weight === "period" && !period ? head.events[event]?.period ?? 1 : 1;
      return entriesOfSamples(tables, order, byLeaf, groups, sides, event, period, factor);
    };
    return new Blocks(tree, make(), !!groups, this.firstGroup, this.truncatedFunction());
  }

  /** Sorted leaves. Filters that only omit leaves do not change their order.
   * @param {Uint8Array} isCut by leaf */
  leavesInOrder(isCut) {
    const { truncated, filters } = /** @type {View} */ (this.view), to = /** @type {Uint32Array} */ (this.to);
    const isMoved = this.tree !== this.base0 || this.leafLine !== this.tables.leafNode || filters.some(({ kind }) => kind === "charge" || kind === "fold");
    if (isMoved) return leavesInOrder(/** @type {Tree} */ (this.tree), to, isCut);
    return leftOf(this.once("all leaves", truncated, () => leavesInOrder(this.base0, this.leafBase, isCut)), to);
  }

  /** Picture for a graph: of everything, or of the zoomed part.
   * @param {number[]} zoom @param {number} [least] the smallest share of the zoomed part that is shown
   * @returns {import("./tree/around.js").CostPicture} */
  picture(zoom, least) {
    const blocks = this.blocks();
    if (blocks.isPlain) return super.picture(zoom);
    // A zoomed graph also needs the picture of everything, for the matches of a search.
    return this.once(zoom.length ? "picture" : "whole picture", `${this.costsKey} ${zoom} ${least}`, () => {
      const { tree, drawn: [{ own, total }] } = drawn(blocks, 1, zoom, least), { all, allN, allSquares } = /** @type {Costs} */ (this.costs), children = later(() => childrenOf(tree));
      return { tree, get children() { return children(); }, ...columns(own, total), all, allN, allSquares, title: "all" };
    });
  }

  /** Tree of a comparison's graph with the weights of each side: other times, and the current selection. Omitted nodes
   * count for their parent.
   * @param {import("./samples/select.js").Selection[]} before
   * @returns {{ tree: Tree, children: Children, own: Weights[] } | null} null for the current tree */
  bothSides(before) {
    const blocks = this.blocksOf([before, [/** @type {any} */ (this.chosen)]]);
    if (blocks.isPlain) return null;
    const { tree, drawn: sides } = drawn(blocks, 2, []);
    return { tree, children: childrenOf(tree), own: sides.map(({ total }) => eachOf(total, (values) => {
      const own = values.slice();
      for (let i = 0; i < tree.n; i++) if (tree.parent[i] !== NONE) own[tree.parent[i]] -= values[i];
      return own;
    })) };
  }

  /** Costs of nodes in a selection of samples.
   * @param {import("./samples/select.js").Selection} chosen @returns {Costs} */
  count(chosen) { return this.sum(this.weigh(chosen)); }

  /** Costs of nodes, which are computed on first use, since a graph with outer frames does not need them.
   * @param {ReturnType<Model["weigh"]>} byLeaf @returns {Costs} */
  sum({ weights, factor, samples, ends }) {
    const tree = /** @type {Tree} */ (this.tree), to = /** @type {Uint32Array} */ (this.to);
    const plain = later(() => eachOf(weights, (values) => {
      const sums = new Float64Array(tree.n);
      for (let leaf = 0; leaf < to.length; leaf++) if (to[leaf] < GONE) sums[to[leaf]] += values[leaf];
      return sums;
    }));
    const own = later(() => times(plain(), factor)), total = later(() => times(eachOf(plain(), (values) => totals(tree, values)), factor));
    const all = sumsOf(weights, (values) => {
      let sum = 0;
      for (let leaf = 0; leaf < to.length; leaf++) if (to[leaf] !== GONE) sum += values[leaf];
      return sum;
    });
    return {
      get own() { return own().cost; }, get ownN() { return own().n; }, get ownSquares() { return own().squares; },
      get total() { return total().cost; }, get n() { return total().n; }, get squares() { return total().squares; },
      all: all.cost * factor, allN: all.n, allSquares: all.squares * factor * factor, ends, leaf: times(weights, factor).cost, samples,
    };
  }

  /** Costs of functions.
   * @returns {KeyCosts} */
  functionCosts() {
    return this.once("functionCosts", this.costsKey || "", () => this.withOuter(this.byKey("function", this.identity(), this.truncatedFunction() + 1)));
  }

  /** Functions and outer frames that match a search, and the total cost of the stacks that contain one.
   * @param {((name: string) => boolean) | null} test @param {boolean} [short] */
  find(test, short) {
    const found = super.find(test, short);
    if (!found || !found.hits.subarray(this.firstGroup).includes(1)) return found;
    const blocks = this.blocks(), { places } = blocks.entries, { node } = blocks.order;
    let sum = 0;
    for (const { outer, first, framed, last } of blocks.list) {
      if (blocks.pathOutward(outer).some((one) => found.hits[blocks.func[one]])) sum += blocks.cost(first, last, 0);
      else for (let k = framed; k < last; k++) if (found.under[node[places[k]]]) sum += blocks.cost(k, k + 1, 0);
    }
    return { ...found, found: sum };
  }

  /** Path to the costliest node with a matching function.
   * @param {Uint8Array} hits by function */
  widest(hits) {
    const way = super.widest(hits), blocks = this.blocks();
    if (!way.length || blocks.isPlain) return way;
    // Among the outer frames, the one with the largest part of it.
    const end = nodeAt(super.picture([]), way);
    let most = 0, outer = NONE;
    for (const block of blocks.list) {
      const { from, to } = blocks.range(block, end), cost = blocks.cost(from, to, 0);
      if (cost > most) { most = cost; outer = block.outer; }
    }
    return [...blocks.pathOutward(outer).reverse().map((at) => blocks.func[at]), ...way];
  }

  /** Adds the costs of the outer frames to those of functions.
   * @param {KeyCosts} costs */
  withOuter(costs) {
    const blocks = this.blocks(), { own, total, ownN, n, ownSquares, squares } = costs;
    blocks.outerCosts().forEach(({ all, bare }, outer) => {
      const f = blocks.func[outer];
      for (const [column, cost] of new Map([[ownN, bare.n], [own, bare.cost], [ownSquares, bare.squares], [n, all.n], [total, all.cost], [squares, all.squares]])) column[f] += cost;
    });
    return costs;
  }

  /** Costs of modules.
   * @returns {KeyCosts} */
  moduleCosts() {
    return this.once("moduleCosts", this.costsKey || "", () => this.byKey("module", this.moduleOf(), this.tables.head.modules.length));
  }

  /** Own costs of modules. They need no costs of nodes, unlike inclusive costs.
   * @returns {Float64Array} */
  moduleOwn() { return this.once("moduleOwn", this.costsKey || "", () => this.ownOfModules()); }

  ownOfModules() {
    const { func } = /** @type {Tree} */ (this.tree), { weights: { cost }, factor } = /** @type {ReturnType<Model["weigh"]>} */ (this.byLeaf), to = /** @type {Uint32Array} */ (this.to), of = this.moduleOf();
    const sums = new Float64Array(this.tables.head.modules.length);
    for (let leaf = 0; leaf < to.length; leaf++) {
      const module = to[leaf] < GONE ? of[func[to[leaf]]] : -1;
      if (module >= 0) sums[module] += cost[leaf];
    }
    return sums.map((sum) => sum * factor);
  }

  /** Costs of source files, by the index of their names.
   * @returns {KeyCosts} */
  fileCosts() {
    return this.once("fileCosts", this.costsKey || "", () => this.byKey("file", this.fileOf(), this.tables.head.names.length));
  }

  /** Costs by a key of functions. A stack that contains a key several times is counted once.
   * @param {string} kind @param {Int32Array} keyOf @param {number} keys @returns {KeyCosts} */
  byKey(kind, keyOf, keys) {
    const tree = /** @type {Tree} */ (this.tree);
    const { own: ownOf, total: totalOf, ownN: ownNOf, n: nOf, ownSquares: ownSquaresOf, squares: squaresOf } = /** @type {Costs} */ (this.costs);
    const outer = this.once(`outermost by ${kind}`, this.framesKey || "", () => outermost(tree, this.children, keyOf, keys));
    const one = ownOf === ownNOf, make = () => new Float64Array(keys);
    const own = make(), total = make(), ownN = one ? own : make(), n = one ? total : make();
    const ownSquares = one ? own : make(), squares = one ? total : make();
    for (let i = 0; i < tree.n; i++) {
      const key = keyOf[tree.func[i]];
      if (key < 0 || nOf[i] === 0) continue;
      own[key] += ownOf[i];
      if (!one) {
        ownN[key] += ownNOf[i];
        ownSquares[key] += ownSquaresOf[i];
      }
      if (!outer[i]) continue;
      total[key] += totalOf[i];
      if (!one) {
        n[key] += nOf[i];
        squares[key] += squaresOf[i];
      }
    }
    return { own, total, ownN, n, ownSquares, squares };
  }
}

/** Returns a function that makes a value on first use.
 * @template {object} T @param {() => T} make */
function later(make) {
  /** @type {T | null} */
  let made = null;
  return () => made ||= make();
}

/** Costs by node, under their names in pictures.
 * @param {Weights} own @param {Weights} total */
const columns = (own, total) => ({ own: own.cost, total: total.cost, ownN: own.n, n: total.n, ownSquares: own.squares, squares: total.squares });
