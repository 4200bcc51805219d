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
  const { at } = preorderOf(tree), { n } = tree, slot = new Uint32Array(to.length), fill = new Uint32Array(2 * n + 4);
  let kept = 0;
  // Leaves without a node come first.
  for (let leaf = 0; leaf < to.length; leaf++) {
    const node = to[leaf];
    if (node === GONE) continue;
    slot[leaf] = (node === ROOT ? 0 : at[node] + 1) + isCut[leaf] * (n + 1);
    fill[slot[leaf] + 1]++;
    kept++;
  }
  for (let i = 1; i < fill.length; i++) fill[i] += fill[i - 1];
  const bounds = [0, 1].map((key) => [fill[key * (n + 1)], fill[key * (n + 1) + 1], fill[(key + 1) * (n + 1)]]);
  const leaves = new Uint32Array(kept), places = new Uint32Array(kept);
  for (let leaf = 0; leaf < to.length; leaf++) {
    const node = to[leaf];
    if (node === GONE) continue;
    const k = fill[slot[leaf]]++;
    leaves[k] = leaf;
    places[k] = node === ROOT ? 0 : at[node];
  }
  const keys = [0, 1].filter((key) => bounds[key][2] > bounds[key][0]);
  return { keys, start: [...keys.map((key) => bounds[key][0]), kept], framed: keys.map((key) => bounds[key][1]), leaves, places };
}

/** Sorted leaves without those that filters removed.
 * @param {Leaves} order @param {Uint32Array} to by leaf @returns {Leaves} */
export function leftOf({ keys, start, framed, leaves, places }, to) {
  const left = new Uint32Array(leaves.length), at = new Uint32Array(leaves.length), blocks = [];
  let n = 0;
  for (let part = 0; part < keys.length; part++) {
    const block = { key: keys[part], start: n, framed: n };
    for (let k = start[part]; k < start[part + 1]; k++) {
      if (to[leaves[k]] === GONE) continue;
      left[n] = leaves[k];
      at[n++] = places[k];
      if (k < framed[part]) block.framed = n;
    }
    if (n > block.start) blocks.push(block);
  }
  return { keys: blocks.map(({ key }) => key), start: [...blocks.map(({ start }) => start), n], framed: blocks.map(({ framed }) => framed), leaves: left.subarray(0, n), places: at.subarray(0, n) };
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
  const kept = order.leaves.length < tables.leafNode.length ? new Uint8Array(tables.leafNode.length) : null, fill = new Uint32Array(labels.length + 1);
  if (kept) for (let at = 0; at < order.leaves.length; at++) kept[order.leaves[at]] = 1;
  for (let i = 0; i < tables.samples; i++) {
    if ((!kept || kept[leafOf[i]]) && (all || isChosen(tables, chosen, event, i))) fill[of[by[i]] + 1]++;
  }
  for (let group = 1; group < fill.length; group++) fill[group] += fill[group - 1];
  const total = fill[labels.length], places = new Uint32Array(total), blocks = [];
  const isPlain = sides.length === 1 && !period, samples = isPlain ? null : new Uint32Array(total);
  // Truncated stacks follow the complete ones of their group.
  for (let part = 0; part < order.keys.length; part++) {
    const first = fill.slice(), framed = fill.slice();
    for (let at = order.start[part]; at < order.start[part + 1]; at++) {
      const leaf = order.leaves[at], place = order.places[at], isBare = at < order.framed[part], end = byLeaf.start[leaf + 1];
      for (let k = byLeaf.start[leaf]; k < end; k++) {
        if (!all && !isChosen(tables, chosen, event, byLeaf.list[k])) continue;
        const group = of[byLeaf.by[k]], slot = fill[group]++;
        places[slot] = place;
        if (samples) samples[slot] = byLeaf.list[k];
        if (isBare) framed[group]++;
      }
    }
    for (let group = 0; group < labels.length; group++) {
      if (fill[group] > first[group]) blocks.push({ key: group * 2 + order.keys[part], start: first[group], framed: framed[group] });
    }
  }
  blocks.sort((a, b) => a.key - b.key);
  return { keys: blocks.map(({ key }) => key), start: [...blocks.map(({ start }) => start), total], framed: blocks.map(({ framed }) => framed), places,
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
