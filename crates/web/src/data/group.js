// @ts-check
// What stands outside of all functions: nothing, or the process, the thread, the name of the thread or the event of a
// sample; and, where stacks that do not reach their root are to be apart, a frame for these.
import { NONE } from "./columns.js";
import { folded } from "./names.js";
import { GONE, ROOT } from "./transform.js";
import { TreeBuilder } from "./tree.js";

/** @typedef {import("./columns.js").Tables} Tables */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {"none" | "process" | "thread" | "comm" | "event"} GroupBy */
/** Samples by group: a label each; pairs of a group and a leaf, and the pair of each sample.
 * @typedef {{ labels: string[], pairGroup: Uint32Array | null, pairLeaf: Uint32Array | null, pairOf: Uint32Array,
 *   pairs: number }} Grouped */

export const GROUPS = ["none", "process", "thread", "comm", "event"];

/** Puts samples into groups.
 * @param {Tables} tables @param {GroupBy} by @returns {Grouped} */
export function grouped(tables, by) {
  if (by === "none") {
    return { labels: [], pairGroup: null, pairLeaf: null, pairOf: tables.leaf, pairs: tables.leafNode.length };
  }
  const { labels, of } = groupsOf(tables, by), key = by === "event" ? tables.event : tables.thread;
  const n = tables.samples, leaves = tables.leafNode.length;
  const pairOf = new Uint32Array(n);
  let mask = (1 << 16) - 1, slots = new Uint32Array(mask + 1);
  let pairGroup = new Uint32Array(1 << 15), pairLeaf = new Uint32Array(1 << 15), pairs = 0;
  const place = (/** @type {number} */ group, /** @type {number} */ leaf) => {
    let at = Math.imul(group * 0x9e37 + 1, 0x85ebca6b) ^ Math.imul(leaf, 0x9e3779b1);
    at = (at ^ (at >>> 15)) & mask;
    for (let id = slots[at]; id !== 0; id = slots[at]) {
      if (pairLeaf[id - 1] === leaf && pairGroup[id - 1] === group) return at;
      at = (at + 1) & mask;
    }
    return at;
  };
  for (let i = 0; i < n; i++) {
    const group = of[key[i]], leaf = tables.leaf[i], at = place(group, leaf);
    if (slots[at] === 0) {
      pairGroup[pairs] = group;
      pairLeaf[pairs] = leaf;
      slots[at] = ++pairs;
      pairOf[i] = pairs - 1;
      if (pairs === pairLeaf.length) {
        pairGroup = larger(pairGroup);
        pairLeaf = larger(pairLeaf);
        mask = mask * 2 + 1;
        slots = new Uint32Array(mask + 1);
        for (let id = 0; id < pairs; id++) slots[place(pairGroup[id], pairLeaf[id])] = id + 1;
      }
    } else pairOf[i] = slots[at] - 1;
  }
  if (leaves === 0) pairs = 0;
  return { labels, pairGroup: pairGroup.subarray(0, pairs), pairLeaf: pairLeaf.subarray(0, pairs), pairOf, pairs };
}

/** @param {Uint32Array} column */
function larger(column) {
  const made = new Uint32Array(column.length * 2);
  made.set(column);
  return made;
}

/** The groups, and that of each thread or event.
 * @param {Tables} tables @param {GroupBy} by */
function groupsOf(tables, by) {
  const { threads, events } = tables.head;
  /** @type {Map<string, number>} */
  const known = new Map();
  /** @type {string[]} */
  const labels = [];
  const group = (/** @type {string} */ key, /** @type {string} */ label) => {
    let id = known.get(key);
    if (id === undefined) {
      id = labels.length;
      known.set(key, id);
      labels.push(label);
    }
    return id;
  };
  if (by === "event") return { labels: events.map((event) => event.name), of: Uint32Array.from(events, (_, at) => at) };
  const leaders = leaderNames(tables);
  const of = Uint32Array.from(threads, ([pid, tid, comm]) => {
    if (by === "process") return group(String(pid), `${leaders.get(pid)} (process ${pid})`);
    if (by === "thread") return group(`${tid} ${comm}`, `${comm || "?"} (thread ${tid})`);
    return group(folded(comm), folded(comm) || "?");
  });
  return { labels, of };
}

/** What processes are called: as their first thread is, where it was sampled.
 * @param {Tables} tables */
export function leaderNames(tables) {
  /** @type {Map<number, string>} */
  const names = new Map();
  for (const [pid, tid, comm] of tables.head.threads) {
    if (pid === tid || !names.has(pid)) names.set(pid, comm || "?");
  }
  return names;
}

/** The tree with its groups, and the nodes of the pairs.
 * @param {Tables} tables @param {Tree} tree the tree after its filters
 * @param {Uint32Array} leafTo by leaf: its node in that tree, ROOT or GONE
 * @param {Grouped} groups @param {"apart" | "together" | "hidden"} truncated
 * @param {number} firstGroup the function that stands for the first group
 * @param {number} truncatedFunction the one that stands for stacks which do not reach their root */
export function withGroups(tables, tree, leafTo, groups, truncated, firstGroup, truncatedFunction) {
  const { pairGroup, pairLeaf, pairs } = groups, rooted = tables.head.rooted, ends = tables.leafEnd;
  const leafOf = (/** @type {number} */ pair) => pairLeaf ? pairLeaf[pair] : pair;
  const isCut = (/** @type {number} */ pair) => !rooted[ends[leafOf(pair)]];
  const to = new Uint32Array(pairs);
  if (!pairGroup && truncated !== "apart") {
    for (let pair = 0; pair < pairs; pair++) to[pair] = truncated === "hidden" && isCut(pair) ? GONE : leafTo[pair];
    return { tree, to };
  }
  const made = new TreeBuilder(tree.n * 2, true);
  const order = byRoot(pairs, pairGroup, isCut);
  const memo = new Uint32Array(tree.n).fill(GONE), used = [];
  /** @type {number[]} */
  const path = [];
  let current = -1, root = ROOT, lastGroup = -1, groupNode = ROOT;
  for (const pair of order) {
    const from = leafTo[leafOf(pair)], cut = isCut(pair);
    if (from === GONE || (cut && truncated === "hidden")) { to[pair] = GONE; continue; }
    const apart = cut && truncated === "apart";
    const key = (pairGroup ? pairGroup[pair] : 0) * 2 + (apart ? 1 : 0);
    if (key !== current) {
      for (const node of used) memo[node] = GONE;
      used.length = 0;
      current = key;
      // Pairs come in the order of their groups: the group of the one before may be this one's.
      const group = pairGroup ? pairGroup[pair] : -1;
      if (group >= 0 && group !== lastGroup) groupNode = made.push(ROOT, firstGroup + group, 0, NONE);
      lastGroup = group;
      root = group >= 0 ? groupNode : ROOT;
      if (apart) root = made.push(root, truncatedFunction, 0, NONE);
    }
    let at = from;
    while (at !== ROOT && memo[at] === GONE) { path.push(at); at = tree.parent[at]; }
    let node = at === ROOT ? root : memo[at];
    while (path.length) {
      const old = /** @type {number} */ (path.pop());
      node = made.push(node, tree.func[old], tree.flags[old], tree.src[old]);
      memo[old] = node;
      used.push(old);
    }
    to[pair] = node;
  }
  return { tree: made.done(), to };
}

/** The pairs in the order of their roots, so that one root is made after the other.
 * @param {number} pairs @param {Uint32Array | null} pairGroup @param {(pair: number) => boolean} isCut */
function byRoot(pairs, pairGroup, isCut) {
  let most = 0;
  if (pairGroup) for (let pair = 0; pair < pairs; pair++) most = Math.max(most, pairGroup[pair]);
  const keys = new Uint32Array(pairs), fill = new Uint32Array(most * 2 + 3);
  for (let pair = 0; pair < pairs; pair++) {
    keys[pair] = (pairGroup ? pairGroup[pair] : 0) * 2 + (isCut(pair) ? 1 : 0);
    fill[keys[pair] + 1]++;
  }
  for (let key = 1; key < fill.length; key++) fill[key] += fill[key - 1];
  const order = new Uint32Array(pairs);
  for (let pair = 0; pair < pairs; pair++) order[fill[keys[pair]]++] = pair;
  return order;
}
