// @ts-check
// The engine: from tables and a view of them (event, weight, groups, filters) to a tree with costs, and what is asked
// of that. What did not change is not made again: trees depend on filters of frames and groups, costs on the rest.
import { JOINED, NONE } from "./columns.js";
import { grouped, samplesByLeaf, withGroups } from "./group.js";
import { Labels } from "./labels.js";
import { costs, selection } from "./select.js";
import { FRAME_FILTERS, GONE, ROOT, composed, inModule, transform } from "./transform.js";
import { TreeBuilder, childrenOf, outermost, totals } from "./tree.js";

/** @typedef {import("./columns.js").Tables} Tables */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./tree.js").Children} Children */
/** @typedef {import("./transform.js").FrameFilter} FrameFilter */
/** @typedef {import("./select.js").SampleFilter} SampleFilter */
/** @typedef {import("./select.js").Weight} Weight */
/** @typedef {FrameFilter | SampleFilter} Filter */
/** @typedef {{ event: number, weight: Weight, truncated: "apart" | "together" | "hidden",
 *   group: import("./group.js").GroupBy, filters: Filter[] }} View */
/** Costs of nodes in units of the weight, which are one array where samples count 1 each; of pairs, in samples.
 * @typedef {import("./around.js").Counted & { ends: Float64Array, pair: Float64Array, samples: number }} Costs */
/** Costs by key: of functions, modules, files.
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
    this.leafBase = Uint32Array.from(tables.leafNode, (node) => node === NONE ? ROOT : moved[node]);
    this.weighs = !!tables.period || head.events.some((event) => event.period !== null);
  }

  /** Makes what filters and groups need at first, while the reader looks at something else. */
  prepare() {
    this.once("byLeaf", "", () => samplesByLeaf(this.tables));
    if (this.tree) void this.children;
  }

  /** The tree of functions out of that of their lines. */
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
    // The line of most samples is what is told of a node; it has its frame from other samples where most of them do.
    for (let i = lines.n - 1; i >= 0; i--) if (lines.parent[i] !== NONE) own[lines.parent[i]] += own[i];
    const most = new Float64Array(tree.n), joined = new Float64Array(tree.n);
    /** How many lines a node has. */
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
    // What is made of these nodes names them.
    this.baseLine = tree.src.map((i) => lines.line[i]);
    for (let i = 0; i < tree.n; i++) tree.src[i] = i;
    return { tree, to };
  }

  /** Looks at the tables in a way.
   * @param {View} view */
  look(view) {
    this.view = view;
    const frames = /** @type {FrameFilter[]} */ (view.filters.filter((filter) => FRAME_FILTERS.includes(filter.kind)));
    const samples = /** @type {SampleFilter[]} */ (view.filters.filter((filter) => !FRAME_FILTERS.includes(filter.kind)));
    const framesKey = JSON.stringify(frames);
    this.groups = this.once("groups", view.group, () => grouped(this.tables, view.group, view.group === "none" ? { start: new Uint32Array(1), list: new Uint32Array(0) } : this.once("byLeaf", "", () => samplesByLeaf(this.tables))));
    this.groupLabels = this.groups.labels;
    this.treeKey = `${framesKey} ${view.group} ${view.truncated}`;
    const place = (/** @type {Tree} */ tree, /** @type {Uint32Array} */ leafTo) => {
      const made = withGroups(this.tables, tree, leafTo, /** @type {any} */ (this.groups), view.truncated, this.firstGroup, this.truncatedFunction());
      return { ...made, children: later(made.tree) };
    };
    const placed = this.once("placed", this.treeKey, () => {
      const plain = () => this.once("plain", `${view.group} ${view.truncated}`, () => place(this.base0, this.leafBase));
      if (frames.length > 0 && frames.every((filter) => this.takesFew(filter))) return this.without(plain(), frames);
      const filtered = this.filtered(frames);
      if (filtered.tree !== this.base0) return place(filtered.tree, filtered.leafTo);
      // The nodes are as without filters: only where samples are is another.
      return filtered.leafTo === this.leafBase ? plain() : { ...plain(), to: this.movedOut(plain(), filtered.leafTo) };
    });
    this.tree = placed.tree;
    this.to = placed.to;
    this.makeChildren = placed.children;
    this.costsKey = `${this.treeKey} ${view.event} ${view.weight} ${JSON.stringify(samples)}`;
    const counted = this.once("costs", this.costsKey, () => {
      // Filters of frames do not change what pairs of a group and a leaf cost.
      const paired = this.once("paired", `${view.group} ${view.event} ${view.weight} ${JSON.stringify(samples)}`, () => {
        const chosen = selection(this.tables, samples);
        return { chosen, pairs: this.pairs(chosen) };
      });
      return { chosen: paired.chosen, costs: this.count(paired.chosen, paired.pairs) };
    });
    this.chosen = counted.chosen;
    this.costs = counted.costs;
  }

  /** Whether a filter takes single nodes out of the way and leaves most: then it is applied to what is placed in groups
   * already, which spares placing it anew.
   * @param {FrameFilter} filter */
  takesFew(filter) {
    if (filter.kind !== "module") return ["hide", "hideModule", "recursion"].includes(filter.kind);
    const { n, func } = this.base0, of = this.moduleOf();
    let inside = 0;
    for (let i = 0; i < n; i++) if (of[func[i]] === filter.at) inside++;
    return inside * 2 > n;
  }

  /** What is placed without the nodes that such filters take out.
   * @param {{ tree: Tree, to: Uint32Array, children: () => Children }} plain @param {FrameFilter[]} filters */
  without(plain, filters) {
    let { tree, to, children } = plain;
    for (const filter of filters) {
      const moved = filter.kind === "module" ? inModule(tree, filter.at ?? -1, this.moduleOf(), this.firstGroup, children())
        : transform(tree, filter, this.moduleOf(), this.functions, children);
      to = composed(to, moved.to);
      children = later(moved.tree);
      tree = moved.tree;
    }
    return { tree, to, children };
  }

  /** Where pairs are when their leaves moved to callers of what they were at, or are gone.
   * @param {{ tree: Tree, to: Uint32Array }} plain @param {Uint32Array} leafTo */
  movedOut(plain, leafTo) {
    const { pairLeaf, pairs } = /** @type {import("./group.js").Grouped} */ (this.groups), outside = this.base0.parent, parent = plain.tree.parent;
    const to = new Uint32Array(pairs);
    for (let pair = 0; pair < pairs; pair++) {
      const leaf = pairLeaf ? pairLeaf[pair] : pair, wanted = leafTo[leaf];
      let node = plain.to[pair];
      if (wanted === GONE) node = GONE;
      else if (node !== GONE) for (let at = this.leafBase[leaf]; at !== wanted; at = outside[at]) node = parent[node];
      to[pair] = node;
    }
    return to;
  }

  /** @param {FrameFilter[]} filters */
  filtered(filters) {
    let tree = this.base0, leafTo = this.leafBase, children = () => this.once("children0", "", () => childrenOf(this.base0));
    for (const filter of filters) {
      const moved = transform(tree, filter, this.moduleOf(), this.functions, children), older = children;
      leafTo = composed(leafTo, moved.to);
      // A sample without frames has none of any function or module.
      if (["focus", "keep", "module"].includes(filter.kind)) leafTo = leafTo.map((node) => node === ROOT ? GONE : node);
      children = moved.tree === tree ? older : later(moved.tree);
      tree = moved.tree;
    }
    return { tree, leafTo, children };
  }

  /** What pairs of a group and a leaf cost in a selection of samples.
   * @param {import("./select.js").Selection} chosen */
  pairs(chosen) {
    const { event, weight } = /** @type {View} */ (this.view), groups = /** @type {import("./group.js").Grouped} */ (this.groups);
    return costs(this.tables, chosen, event, groups.pairOf, groups.pairs, weight);
  }

  /** What nodes cost in a selection of samples.
   * @param {import("./select.js").Selection} chosen @returns {Costs} */
  count(chosen, pairs = this.pairs(chosen)) {
    const tree = /** @type {Tree} */ (this.tree), to = /** @type {Uint32Array} */ (this.to);
    const groups = /** @type {import("./group.js").Grouped} */ (this.groups);
    const weighted = pairs.cost !== pairs.count, factor = pairs.factor, alike = !weighted && factor === 1;
    const ownN = new Float64Array(tree.n), own = alike ? ownN : new Float64Array(tree.n);
    const ownSquares = alike ? ownN : new Float64Array(tree.n);
    const ends = new Float64Array(this.tables.head.ends.length);
    let all = 0, allN = 0, allSquares = 0;
    for (let pair = 0; pair < groups.pairs; pair++) {
      const count = pairs.count[pair];
      if (count === 0) continue;
      ends[this.tables.leafEnd[groups.pairLeaf ? groups.pairLeaf[pair] : pair]] += count;
      const node = to[pair];
      if (node === GONE) continue;
      const cost = weighted ? pairs.cost[pair] : count * factor;
      const square = weighted ? pairs.squares[pair] : cost * factor;
      all += cost;
      allN += count;
      allSquares += square;
      if (node === ROOT) continue;
      ownN[node] += count;
      if (alike) continue;
      own[node] += cost;
      ownSquares[node] += square;
    }
    const n = totals(tree, ownN), total = alike ? n : totals(tree, own), squares = alike ? n : totals(tree, ownSquares);
    return { own, total, n, ownN, ownSquares, squares, all, allN, allSquares, ends, pair: pairs.count, samples: pairs.samples };
  }

  /** Costs of functions.
   * @returns {KeyCosts} */
  functionCosts() {
    return this.once("functionCosts", this.costsKey || "", () => this.byKey(this.identity(), this.truncatedFunction() + 1));
  }

  /** Costs of modules.
   * @returns {KeyCosts} */
  moduleCosts() {
    return this.once("moduleCosts", this.costsKey || "", () => this.byKey(this.moduleOf(), this.tables.head.modules.length));
  }

  /** What modules cost alone: without the ways through the tree that inclusive costs need.
   * @returns {Float64Array} */
  moduleOwn() { return this.once("moduleOwn", this.costsKey || "", () => this.ownOfModules()); }

  ownOfModules() {
    const tree = /** @type {Tree} */ (this.tree), { own } = /** @type {Costs} */ (this.costs), of = this.moduleOf();
    const sums = new Float64Array(this.tables.head.modules.length);
    for (let i = 0; i < tree.n; i++) if (own[i] !== 0 && of[tree.func[i]] >= 0) sums[of[tree.func[i]]] += own[i];
    return sums;
  }

  /** Costs of source files, by the number of their names.
   * @returns {KeyCosts} */
  fileCosts() {
    return this.once("fileCosts", this.costsKey || "", () => this.byKey(this.fileOf(), this.tables.head.names.length));
  }

  /** Costs by a key of functions; a stack in which a key is several times counts once.
   * @param {Int32Array} keyOf @param {number} keys @returns {KeyCosts} */
  byKey(keyOf, keys) {
    const tree = /** @type {Tree} */ (this.tree), { children } = this;
    const counted = /** @type {Costs} */ (this.costs);
    const outer = this.once(`outer${keys}`, this.treeKey || "", () => outermost(tree, children, keyOf, keys));
    const one = counted.own === counted.ownN, make = () => new Float64Array(keys);
    const own = make(), total = make(), ownN = one ? own : make(), n = one ? total : make();
    const ownSquares = one ? own : make(), squares = one ? total : make();
    for (let i = 0; i < tree.n; i++) {
      const key = keyOf[tree.func[i]];
      if (key < 0 || counted.n[i] === 0) continue;
      own[key] += counted.own[i];
      if (!one) {
        ownN[key] += counted.ownN[i];
        ownSquares[key] += counted.ownSquares[i];
      }
      if (!outer[i]) continue;
      total[key] += counted.total[i];
      if (!one) {
        n[key] += counted.n[i];
        squares[key] += counted.squares[i];
      }
    }
    return { own, total, ownN, n, ownSquares, squares };
  }
}

/** The children of a tree, made when they are asked for.
 * @param {Tree} tree */
function later(tree) {
  /** @type {Children | null} */
  let made = null;
  return () => made ||= childrenOf(tree);
}
