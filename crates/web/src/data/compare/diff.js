// @ts-check
// Comparison of recordings: the union of their stacks, with the weights of each recording, seen through frame filters.
import { GAP } from "../columns.js";
import { Comparison } from "./compare.js";
import { Labels } from "../tree/labels.js";
import { FRAME_FILTERS, GONE, ROOT, composed, transform } from "../tree/transform.js";
import { childrenOf } from "../tree/tree.js";

/** Supported layout version. */
const VERSION = 1;

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("./compare.js").Row} Row */
/** @typedef {import("../samples/weights.js").Weights} Weights */
/** @typedef {import("../tree/transform.js").FrameFilter} FrameFilter */
/** Format of normalized costs: divisor, number of decimals, suffix.
 * @typedef {[number, number, string]} Scale */
/** @typedef {{ name: string, seconds: number | null, factor: number, samples: number, cost: number, squares: number,
 *   complete: number, truncated: number, lost: number, threads: number }} RunHead */
/** @typedef {{ kind: "diff", version: number, title: string, event: string, unit: string, normalization: string,
 *   normalized: string, scale: Scale, method: import("./change.js").Method, exactNames: number, inlines: number, notes: string[],
 *   before: RunHead[], after: RunHead[], modules: { path: string, before: number, after: number, paired: number, sameFile: number | null }[],
 *   functions: [number, number, number][], names: string[], notCompared: number[], gap: number, threads: string[] }} DiffHead */
/** @typedef {{ head: DiffHead, tree: Tree, runs: Weights[] }} DiffTables */

/** Tests for functions that stand for unknown frames: gaps, and calls that ended in tail calls.
 * @param {DiffHead} head @returns {(f: number) => boolean} */
function gapsOf({ functions, names, gap }) {
  const tails = functions.findIndex(([name, , module]) => module < 0 && names[name] === "[tail calls]");
  return (f) => f >= 0 && (f === gap || f === tails);
}

/** Tables of a comparison.
 * @param {{ head: any, found: Record<string, any> }} parts @returns {DiffTables} */
export function readDiff({ head, found }) {
  if (head.version !== VERSION) throw new Error(`its tables have the layout ${head.version}, not ${VERSION}`);
  const { parent, func } = found, n = parent.length;
  const isGap = gapsOf(head), flags = Uint8Array.from(func, (f) => isGap(f) ? GAP : 0), src = Uint32Array.from({ length: n }, (_, i) => i);
  const runs = [...head.before, ...head.after].map((_, at) => {
    const count = Float64Array.from(found[`samples${at}`]), cost = found[`cost${at}`] || count;
    return { n: count, cost, squares: found[`squares${at}`] || count };
  });
  return { head, tree: { n, parent, func, flags, src }, runs };
}

export class DiffModel extends Labels {
  /** @param {DiffTables} tables */
  constructor(tables) {
    super(tables.head);
    this.tables = tables;
    this.groupLabels = tables.head.threads;
    /** @type {import("../tree/around.js").Counted | null} */
    this.costs = null;
  }

  get isComparison() { return true; }

  /** Applies frame filters to the stacks, and sizes frames by one side or both.
   * @param {{ filters: import("../model.js").Filter[], side: import("./compare.js").Side }} view */
  look({ filters, side }) {
    const frames = /** @type {FrameFilter[]} */ (filters.filter((filter) => FRAME_FILTERS.includes(filter.kind)));
    this.treeKey = JSON.stringify(frames);
    const { compared, functions, sure } = this.once("compared", this.treeKey, () => this.compare(frames));
    this.compared = compared;
    this.functionRows = functions.rows;
    this.tested = functions.tested;
    this.rowOf = new Map(functions.rows.map((row) => [row.key, row]));
    this.sure = sure;
    this.tree = compared.tree;
    this.makeChildren = () => compared.children;
    this.costs = this.once("costs", `${this.treeKey} ${side}`, () => sideCosts(compared, side));
  }

  /** Reason for not comparing a function or module row. 0: compared. 1: its module has no partner on the other side. 2:
   * it has no name on one side.
   * @param {number} f */
  notCompared(f) {
    const { notCompared, modules } = this.tables.head, module = modules[f - this.functions];
    return f < this.functions ? notCompared[f] : module && !module.paired ? 1 : 0;
  }

  /** @param {FrameFilter[]} filters */
  compare(filters) {
    const { head, runs } = this.tables, isGap = gapsOf(head);
    /** @type {Tree} */
    let tree = this.tables.tree;
    let to = tree.src;
    for (const filter of filters) {
      const moved = transform(tree, filter, this.moduleOf(), this.functions, undefined, () => this.wholeOf());
      to = composed(to, moved.to);
      tree = moved.tree;
    }
    const all = [...head.before, ...head.after].map((run, at) => {
      // Shares refer to the complete recording, regardless of filters.
      return { ...placed(runs[at], to, tree.n), whole: { n: run.samples, cost: run.cost, squares: run.squares }, factor: run.factor };
    });
    const sides = /** @type {[any, any]} */ ([all.slice(0, head.before.length), all.slice(head.before.length)]);
    const compared = new Comparison(tree, childrenOf(tree), sides, head.method, head.normalization === "share");
    const functions = compared.byKey(this.identity(), this.truncatedFunction() + 1, (f) => f < this.firstGroup && !isGap(f) && !this.notCompared(f));
    return { compared, functions, sure: compared.sureNodes(new Map(functions.rows.map((row) => [row.key, row])), (f) => !this.notCompared(f)) };
  }

  /** Modules with their costs on both sides.
   * @returns {Row[]} */
  moduleRows() {
    const { compared } = this, modules = this.named.modules.length;
    return this.once("modules", this.treeKey, () => /** @type {Comparison} */ (compared).byKey(this.moduleOf(), modules, (key) => this.tables.head.modules[key].paired === 1).rows);
  }
}

/** Weights that end at each node after filters, and their sum.
 * @param {Weights} own @param {Uint32Array} to @param {number} n */
function placed(own, to, n) {
  const all = { n: 0, cost: 0, squares: 0 };
  const move = (/** @type {Float64Array} */ values, /** @type {"n" | "cost" | "squares"} */ name) => {
    const moved = new Float64Array(n);
    for (let i = 0; i < to.length; i++) {
      if (values[i] === 0 || to[i] === GONE) continue;
      all[name] += values[i];
      if (to[i] !== ROOT) moved[to[i]] += values[i];
    }
    return moved;
  };
  const count = move(own.n, "n");
  if (own.cost === own.n) return { own: { n: count, cost: count, squares: count }, all: { n: all.n, cost: all.n, squares: all.n } };
  return { own: { n: count, cost: move(own.cost, "cost"), squares: move(own.squares, "squares") }, all };
}

/** Weights of nodes in graphs: normalized costs, and the samples of both sides.
 * @param {Comparison} compared @param {import("./compare.js").Side} side
 * @returns {import("../tree/around.js").Counted} */
export function sideCosts(compared, side) {
  const { total, all } = compared.union(side), { n: size, parent } = compared.tree;
  const own = total.slice(), n = new Float64Array(size), ownN = new Float64Array(size);
  for (let i = 0; i < size; i++) if (parent[i] < size) own[parent[i]] -= total[i];
  let allN = 0;
  compared.sides.forEach((runs, at) => runs.forEach((run, r) => {
    if (side === (at === 0 ? "after" : "before")) return;
    allN += run.all.n;
    for (let i = 0; i < size; i++) {
      n[i] += compared.totals[at][r].n[i];
      ownN[i] += run.own.n[i];
    }
  }));
  for (let i = 0; i < size; i++) if (ownN[i] === 0) own[i] = 0;
  return { own, total, n, ownN, ownSquares: ownN, squares: n, all, allN, allSquares: allN };
}
