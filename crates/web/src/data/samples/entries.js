// @ts-check
// Samples sorted by block, then by the preorder position of their node. The cost of a subtree is then a difference of
// two prefix sums.
import { preorderOf } from "../tree/preorder.js";
import { isAll, isChosen } from "./select.js";
import { GONE, ROOT } from "../tree/transform.js";

/** @typedef {import("../columns.js").Tables} Tables */
/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("./weights.js").Weights} Weights */
/** @typedef {import("./select.js").Selection} Selection */
/** Prefix sums over entries: samples (null if each entry is one sample) and costs; `factor` is the cost of a sample if
 * all cost the same.
 * @typedef {{ n: Float64Array | null, cost: Float64Array | null, squares: Float64Array | null, factor: number }} Sums */
/** Entries of the blocks: the key and start of each block, the start of its entries with a node, the preorder position
 * of each entry, and the prefix sums of each side.
 * @typedef {{ keys: number[], start: number[], framed: number[], places: Uint32Array, sides: Sums[] }} Entries */
/** Leaves sorted by key, then by the preorder position of their nodes. For each existing key: the start of its leaves,
 * and the start of those with a node; then the leaves and their positions.
 * @typedef {{ keys: number[], start: number[], framed: number[], leaves: Uint32Array, places: Uint32Array }} Leaves */

/** Sorts the leaves; omits those that filters removed.
 * @param {Tree} tree @param {Uint32Array} to by leaf @param {Uint8Array} isCut by leaf: its key, 0 or 1 @returns {Leaves} */
export function leavesInOrder(tree, to, isCut) {
  const { node: nodes } = preorderOf(tree), { n } = tree, count = [0, 0], bare = [0, 0];
  // By node, then those without one: its leaves (plus 1) as a linked list.
  const first = new Uint32Array(n + 1), next = new Uint32Array(to.length);
  for (let leaf = to.length - 1; leaf >= 0; leaf--) {
    const node = to[leaf];
    if (node === GONE) continue;
    const list = node === ROOT ? n : node, key = isCut[leaf];
    next[leaf] = first[list];
    first[list] = leaf + 1;
    count[key]++;
    if (node === ROOT) bare[key]++;
  }
  const kept = count[0] + count[1], begin = [0, count[0]], fill = begin.slice();
  const leaves = new Uint32Array(kept), places = new Uint32Array(kept);
  // Leaves without a node come first.
  for (let at = 0; at <= n; at++) {
    for (let id = first[at === 0 ? n : nodes[at - 1]]; id !== 0; id = next[id - 1]) {
      const k = fill[isCut[id - 1]]++;
      leaves[k] = id - 1;
      places[k] = Math.max(0, at - 1);
    }
  }
  const keys = [0, 1].filter((key) => count[key] > 0);
  return { keys, start: [...keys.map((key) => begin[key]), kept], framed: keys.map((key) => begin[key] + bare[key]), leaves, places };
}

/** Entries from leaves: one block of complete stacks, and one of truncated stacks if these are shown apart.
 * @param {Leaves} order @param {Weights[]} sides by leaf @param {number} factor multiplier of the weights
 * @returns {Entries} */
export function entriesOfLeaves({ leaves, ...order }, sides, factor) {
  return { ...order, sides: sides.map(({ n, cost, squares }) => {
    const alike = cost === n;
    return { n: before(leaves, n), cost: alike ? null : before(leaves, cost), squares: alike ? null : before(leaves, squares), factor };
  }) };
}

/** Prefix sums of a list, including the total.
 * @param {Uint32Array} list @param {Float64Array} values */
function before(list, values) {
  const sums = new Float64Array(list.length + 1);
  for (let k = 0; k < list.length; k++) sums[k + 1] = sums[k] + values[list[k]];
  return sums;
}

/** Entries from samples: one block per group and key.
 * @param {Tables} tables @param {Leaves} order
 * @param {ReturnType<import("../model.js").Model["samplesBy"]>} byLeaf the samples of each leaf;
 * @param {{ labels: string[], of: Uint32Array, by: { [sample: number]: number } }} groups as `groupsOf` returns them
 * @param {Selection[][]} sides @param {number} event @param {Float64Array | null} period @param {number} factor
 * @returns {Entries} */
export function entriesOfSamples(tables, order, byLeaf, groups, sides, event, period, factor) {
  const chosen = sides.flat(), all = isAll(tables, chosen), { leaf: leafOf } = tables, { labels, of, by } = groups;
  // By leaf: its key, or 2 if filters removed it.
  const keyOf = new Uint8Array(tables.leafNode.length).fill(2), fill = new Uint32Array(labels.length * 2 + 1);
  for (let part = 0; part < order.keys.length; part++) {
    for (let at = order.start[part]; at < order.start[part + 1]; at++) keyOf[order.leaves[at]] = order.keys[part];
  }
  for (let i = 0; i < tables.samples; i++) {
    const key = keyOf[leafOf[i]];
    if (key < 2 && (all || isChosen(tables, chosen, event, i))) fill[of[by[i]] * 2 + key + 1]++;
  }
  for (let key = 1; key < fill.length; key++) fill[key] += fill[key - 1];
  const total = fill[fill.length - 1], first = fill.slice(), framed = fill.slice(), places = new Uint32Array(total);
  const isPlain = sides.length === 1 && !period, samples = isPlain ? null : new Uint32Array(total);
  for (let part = 0; part < order.keys.length; part++) {
    for (let at = order.start[part]; at < order.start[part + 1]; at++) {
      const leaf = order.leaves[at], place = order.places[at], isBare = at < order.framed[part], end = byLeaf.start[leaf + 1];
      for (let k = byLeaf.start[leaf]; k < end; k++) {
        if (!all && !isChosen(tables, chosen, event, byLeaf.list[k])) continue;
        const key = of[byLeaf.by[k]] * 2 + order.keys[part], slot = fill[key]++;
        places[slot] = place;
        if (samples) samples[slot] = byLeaf.list[k];
        if (isBare) framed[key]++;
      }
    }
  }
  const keys = [...labels.keys()].flatMap((group) => [group * 2, group * 2 + 1]).filter((key) => first[key + 1] > first[key]);
  return { keys, start: [...keys.map((key) => first[key]), total], framed: keys.map((key) => framed[key]), places,
    sides: samples ? sides.map((side) => sumsOf(tables, samples, side, event, period, factor)) : [{ n: null, cost: null, squares: null, factor }] };
}

/** Prefix sums of a side.
 * @param {Tables} tables @param {Uint32Array} list samples @param {Selection[]} side
 * @param {number} event @param {Float64Array | null} period @param {number} factor @returns {Sums} */
function sumsOf(tables, list, side, event, period, factor) {
  const count = list.length, n = new Float64Array(count + 1), cost = period ? new Float64Array(count + 1) : null, squares = period ? new Float64Array(count + 1) : null;
  for (let k = 0; k < count; k++) {
    const i = list[k], is = isChosen(tables, side, event, i) ? 1 : 0;
    n[k + 1] = n[k] + is;
    if (!period || !cost || !squares) continue;
    const value = is * period[i];
    cost[k + 1] = cost[k] + value;
    squares[k + 1] = squares[k] + value * value;
  }
  return { n, cost, squares, factor: period ? 1 : factor };
}
