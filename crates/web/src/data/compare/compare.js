// @ts-check
// Comparison in one tree of two sides: recordings before and after, or two time ranges of one recording. It contains
// the costs of nodes, functions and modules on both sides, and the significant differences.
import { FEW, LEAST, changeOf, mark } from "./change.js";
import { outermost, totals } from "../tree/tree.js";
import { eachOf } from "../samples/weights.js";

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("../tree/tree.js").Children} Children */
/** @typedef {import("./change.js").Weight} Weight */
/** @typedef {import("./change.js").Change} Change */
/** @typedef {import("./change.js").Method} Method */
/** @typedef {import("../samples/weights.js").Weights} Weights */
/** One recording or time range: weights that end at each node, the sum of the compared samples, the sum of all its
 * samples, and the factor that normalizes costs.
 * @typedef {{ own: Weights, all: Weight, whole: Weight, factor: number }} Run */
/** Function or module with its own and its inclusive change.
 * @typedef {{ key: number, own: Change, total: Change }} Row */
/** @typedef {"both" | "before" | "after"} Side */

export class Comparison {
  /** @param {Tree} tree @param {Children} children @param {[Run[], Run[]]} sides @param {Method} method
   * @param {boolean} shares whether costs are shares of the total */
  constructor(tree, children, sides, method, shares) {
    this.tree = tree;
    this.children = children;
    this.sides = sides;
    this.method = method;
    this.shares = shares;
    this.totals = sides.map((side) => side.map((run) => eachOf(run.own, (own) => totals(tree, own))));
    /** By node: inclusive cost on each side. */
    this.before = this.values(0, this.totals[0]);
    this.after = this.values(1, this.totals[1]);
    /** Change of the total cost; never marked. */
    this.all = changeOf(method, shares, ...this.parts((run) => run.all));
  }

  /** Parts of both sides, with the weights that `weight` returns.
   * @param {(run: Run, side: number, at: number) => Weight} weight @returns {[import("./change.js").Part[], import("./change.js").Part[]]} */
  parts(weight) {
    const of = (/** @type {number} */ side) => this.sides[side].map((run, at) => ({ weight: weight(run, side, at), all: run.whole, factor: run.factor }));
    return [of(0), of(1)];
  }

  /** Normalized costs of a side: the mean of its runs.
   * @param {number} side @param {Weights[]} weights */
  values(side, weights) {
    const runs = this.sides[side], sums = new Float64Array(this.tree.n);
    runs.forEach((run, at) => {
      const { cost } = weights[at], { factor } = run;
      for (let i = 0; i < sums.length; i++) sums[i] += cost[i] * factor;
    });
    if (runs.length > 1) for (let i = 0; i < sums.length; i++) sums[i] /= runs.length;
    return sums;
  }

  /** Changes by a key of functions, such as their module. A stack that contains a key several times is counted once.
   * @param {Int32Array} keyOf by function; below 0 for none @param {number} keys
   * @param {(key: number) => boolean} [isTested] @returns {{ rows: Row[], tested: [number, number] }} */
  byKey(keyOf, keys, isTested) {
    const { tree } = this, outer = outermost(tree, this.children, keyOf, keys);
    const sum = (/** @type {boolean} */ inclusive) => this.sides.map((side, s) => side.map((run, at) => eachOf(inclusive ? this.totals[s][at] : run.own, (values) => {
      const sums = new Float64Array(keys);
      for (let i = 0; i < tree.n; i++) {
        const key = keyOf[tree.func[i]];
        if (key >= 0 && values[i] !== 0 && (!inclusive || outer[i])) sums[key] += values[i];
      }
      return sums;
    })));
    const own = sum(false), total = sum(true);
    const at = (/** @type {Weights} */ weights, /** @type {number} */ key) => ({ n: weights.n[key], cost: weights.cost[key], squares: weights.squares[key] });
    const change = (/** @type {Weights[][]} */ sums, /** @type {number} */ key) => changeOf(this.method, this.shares, ...this.parts((_, side, run) => at(sums[side][run], key)));
    /** @type {Row[]} */
    const rows = [];
    for (let key = 0; key < keys; key++) {
      if (total.some((side) => side.some((weights) => weights.n[key] > 0))) rows.push({ key, own: change(own, key), total: change(total, key) });
    }
    const tested = isTested ? rows.filter((row) => isTested(row.key)) : rows, { before, after } = this.all;
    return { rows, tested: [mark(tested.map((row) => row.own), before, after), mark(tested.map((row) => row.total), before, after)] };
  }

  /** Nodes with a significant difference: their own, or that of their function in the same direction.
   * @param {Map<number, Row>} rows by function @param {(f: number) => boolean} [isTested] @returns {Uint8Array} */
  sureNodes(rows, isTested = () => true) {
    const { tree, before, after } = this, sure = new Uint8Array(tree.n);
    const smallest = LEAST * (this.all.before + this.all.after) / 2, changes = [];
    /** @type {number[]} */
    const nodes = [];
    for (let i = 0; i < tree.n; i++) {
      if (!isTested(tree.func[i])) continue;
      const delta = after[i] - before[i], row = rows.get(tree.func[i]);
      if (row && [row.own, row.total].some((change) => change.marked && change.delta * delta > 0)) sure[i] = 1;
      if (before[i] + after[i] < smallest) continue;
      const change = changeOf(this.method, this.shares, ...this.parts((_, side, run) => {
        const { n, cost, squares } = this.totals[side][run];
        return { n: n[i], cost: cost[i], squares: squares[i] };
      }));
      if (change.n[0] + change.n[1] < FEW) continue;
      nodes.push(i);
      changes.push(change);
    }
    mark(changes, this.all.before, this.all.after);
    changes.forEach((change, at) => { if (change.marked) sure[nodes[at]] = 1; });
    return sure;
  }

  /** Weights of the union: the sum of both sides, so that removed functions stay visible, or one side.
   * @param {Side} side */
  union(side) {
    const a = side === "after" ? 0 : 1, b = side === "before" ? 0 : 1, total = new Float64Array(this.tree.n);
    for (let i = 0; i < total.length; i++) total[i] = this.before[i] * a + this.after[i] * b;
    return { total, all: this.all.before * a + this.all.after * b };
  }
}

/** Sorts marked changes first, then those whose other cost is marked, then by the size of the difference.
 * @param {Row[]} rows @param {"own" | "total"} which */
export function ranked(rows, which) {
  const other = which === "own" ? "total" : "own", rank = (/** @type {Row} */ row) => row[which].marked ? 2 : row[other].marked ? 1 : 0;
  return rows.filter((row) => row[which].delta !== 0 || row[other].marked).sort((x, y) => rank(y) - rank(x)
    || Math.abs(y[which].delta) - Math.abs(x[which].delta) || x.key - y.key);
}

/** Relative difference, from -1 (only before) to 1 (only after).
 * @param {number} before @param {number} after */
export const lean = (before, after) => before + after > 0 ? (after - before) / (before + after) : 0;
