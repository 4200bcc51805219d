// @ts-check
// What stands outside of all functions: nothing, or the process, the thread, the name of the thread or the event of a
// sample; and, where stacks that do not reach their root are to be apart, a frame for these.
import { NONE } from "./columns.js";
import { folded } from "./names.js";
import { GONE, ROOT } from "./transform.js";
import { TreeBuilder } from "./tree.js";

/** @typedef {import("./columns.js").Tables} Tables */
/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {"none" | "process" | "thread" | "comm" | "cgroup" | "event"} GroupBy */
/** Samples by group: a label each; pairs of a group and a leaf, and the pair of each sample.
 * @typedef {{ labels: string[], pairGroup: Uint32Array | null, pairLeaf: Uint32Array | null, pairOf: Uint32Array,
 *   pairs: number }} Grouped */

export const GROUPS = ["none", "process", "thread", "comm", "cgroup", "event"];

/** Puts samples into groups.
 * @param {Tables} tables @param {GroupBy} by @param {ReturnType<typeof samplesByLeaf>} byLeaf @returns {Grouped} */
export function grouped(tables, by, byLeaf) {
  if (by === "none") {
    return { labels: [], pairGroup: null, pairLeaf: null, pairOf: tables.leaf, pairs: tables.leafNode.length };
  }
  const { labels, of } = groupsOf(tables, by), key = by === "event" ? tables.event : tables.thread;
  if (labels.length === 1) {
    const pairs = tables.leafNode.length;
    return { labels, pairGroup: new Uint32Array(pairs), pairLeaf: null, pairOf: tables.leaf, pairs };
  }
  const { start, list } = byLeaf, leaves = tables.leafNode.length, pairOf = new Uint32Array(tables.samples);
  // By group: the last leaf that it had, and the pair of both.
  const last = new Uint32Array(labels.length).fill(NONE), pair = new Uint32Array(labels.length);
  let pairGroup = new Uint32Array(leaves + 16), pairLeaf = new Uint32Array(leaves + 16), pairs = 0;
  for (let leaf = 0; leaf < leaves; leaf++) {
    for (let k = start[leaf]; k < start[leaf + 1]; k++) {
      const i = list[k], group = of[key[i]];
      if (last[group] !== leaf) {
        if (pairs === pairLeaf.length) {
          pairGroup = larger(pairGroup);
          pairLeaf = larger(pairLeaf);
        }
        last[group] = leaf;
        pair[group] = pairs;
        pairGroup[pairs] = group;
        pairLeaf[pairs++] = leaf;
      }
      pairOf[i] = pair[group];
    }
  }
  return { labels, pairGroup: pairGroup.subarray(0, pairs), pairLeaf: pairLeaf.subarray(0, pairs), pairOf, pairs };
}

/** Samples in the order of their leaves: where those of each begin, and the list.
 * @param {Tables} tables */
export function samplesByLeaf(tables) {
  const { leaf, samples } = tables, start = new Uint32Array(tables.leafNode.length + 1);
  for (let i = 0; i < samples; i++) start[leaf[i] + 1]++;
  for (let i = 1; i < start.length; i++) start[i] += start[i - 1];
  const fill = start.slice(), list = new Uint32Array(samples);
  for (let i = 0; i < samples; i++) list[fill[leaf[i]]++] = i;
  return { start, list };
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
  const { threads, events, cgroups } = tables.head;
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
  const of = Uint32Array.from(threads, ([pid, tid, comm], row) => {
    if (by === "cgroup") {
      const path = cgroups?.[row] || "";
      return group(path, path || "control group unknown");
    }
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
  const { pairGroup, pairLeaf, pairs } = groups, isRooted = Uint8Array.from(tables.head.rooted), ends = tables.leafEnd;
  // By pair: whether its stacks do not reach their root.
  const cut = new Uint8Array(pairs), to = new Uint32Array(pairs);
  for (let pair = 0; pair < pairs; pair++) cut[pair] = 1 - isRooted[ends[pairLeaf ? pairLeaf[pair] : pair]];
  if (!pairGroup && truncated !== "apart") {
    for (let pair = 0; pair < pairs; pair++) to[pair] = truncated === "hidden" && cut[pair] ? GONE : leafTo[pair];
    return { tree, to };
  }
  return new Blocks(tree, to).fill(leafTo, pairGroup, pairLeaf, byRoot(pairs, pairGroup, cut), cut, truncated, firstGroup, truncatedFunction);
}

/** A tree of parts of another: each has a root of its own, and what its pairs reach. */
class Blocks {
  /** @param {Tree} tree @param {Uint32Array} to by pair */
  constructor(tree, to) {
    this.tree = tree;
    this.to = to;
    this.made = new TreeBuilder(tree.n * 2, true);
    // By node: its copy in the block that is made, of which the stamp tells.
    this.copy = new Uint32Array(tree.n);
    this.stamp = new Uint32Array(tree.n);
    this.block = 0;
    this.path = new Uint32Array(tree.n + 1);
  }

  /** @param {Uint32Array} leafTo @param {Uint32Array | null} pairGroup @param {Uint32Array | null} pairLeaf @param {Uint32Array} order
   * @param {Uint8Array} cutOf @param {"apart" | "together" | "hidden"} truncated @param {number} firstGroup
   * @param {number} truncatedFunction */
  fill(leafTo, pairGroup, pairLeaf, order, cutOf, truncated, firstGroup, truncatedFunction) {
    const { made, to, tree } = this, keyOf = (/** @type {number} */ pair) => (pairGroup ? pairGroup[pair] : 0) * 2 + cutOf[pair];
    let lastGroup = -1, groupNode = ROOT;
    for (let at = 0; at < order.length;) {
      const key = keyOf(order[at]), cut = (key & 1) === 1, first = at;
      while (at < order.length && keyOf(order[at]) === key) at++;
      const part = order.subarray(first, at);
      if (cut && truncated === "hidden") {
        for (const pair of part) to[pair] = GONE;
        continue;
      }
      // What is left of them: of a block without samples there is no root.
      let some = false;
      for (let k = 0; k < part.length; k++) {
        const pair = part[k];
        to[pair] = leafTo[pairLeaf ? pairLeaf[pair] : pair];
        some ||= to[pair] !== GONE;
      }
      if (!some) continue;
      const group = pairGroup ? key >> 1 : -1, apart = cut && truncated === "apart";
      if (group >= 0 && group !== lastGroup) groupNode = made.push(ROOT, firstGroup + group, 0, NONE);
      // Where cut stacks are not apart, they are a block of the same root: both are one.
      if (group !== lastGroup || apart || first === 0) this.block++;
      lastGroup = group;
      let root = group >= 0 ? groupNode : ROOT;
      if (apart) root = made.push(root, truncatedFunction, 0, NONE);
      if (part.length * 8 > tree.n) this.whole(part, root); else this.walked(part, root);
    }
    return { tree: made.done(), to };
  }

  /** The copy of a node in the block; its caller's is there.
   * @param {number} node @param {number} outside */
  add(node, outside) {
    const { tree, made } = this;
    this.stamp[node] = this.block;
    return this.copy[node] = made.push(outside, tree.func[node], tree.flags[node], tree.src[node]);
  }

  /** Copies what few pairs reach, from each outwards to what is there.
   * @param {Uint32Array} part @param {number} root */
  walked(part, root) {
    const { tree: { parent }, to, stamp, copy, path, block } = this;
    for (const pair of part) {
      if (to[pair] === GONE) continue;
      let at = to[pair], depth = 0;
      while (at !== ROOT && stamp[at] !== block) { path[depth++] = at; at = parent[at]; }
      let node = at === ROOT ? root : copy[at];
      while (depth > 0) node = this.add(path[--depth], node);
      to[pair] = node;
    }
  }

  /** Copies what many pairs reach, node by node.
   * @param {Uint32Array} part @param {number} root */
  whole(part, root) {
    const { tree: { n, parent, func, flags, src }, to, stamp, copy, block, made } = this, reached = new Uint8Array(n);
    for (let k = 0; k < part.length; k++) if (to[part[k]] < GONE) reached[to[part[k]]] = 1;
    for (let i = n - 1; i >= 0; i--) if (reached[i] === 1 && parent[i] !== NONE) reached[parent[i]] = 1;
    made.reserve(n);
    const { parent: parents, func: funcs, flags: marks, src: sources } = made;
    let id = made.n;
    for (let i = 0; i < n; i++) {
      if (reached[i] === 0 || stamp[i] === block) continue;
      parents[id] = parent[i] === NONE ? root : copy[parent[i]];
      funcs[id] = func[i];
      marks[id] = flags[i];
      sources[id] = src[i];
      stamp[i] = block;
      copy[i] = id++;
    }
    made.n = id;
    for (let k = 0; k < part.length; k++) {
      const pair = part[k], from = to[pair];
      if (from !== GONE) to[pair] = from === ROOT ? root : copy[from];
    }
  }
}

/** The pairs in the order of their roots, so that one root is made after the other.
 * @param {number} pairs @param {Uint32Array | null} pairGroup @param {Uint8Array} cut */
function byRoot(pairs, pairGroup, cut) {
  let most = 0;
  if (pairGroup) for (let pair = 0; pair < pairs; pair++) if (pairGroup[pair] > most) most = pairGroup[pair];
  const fill = new Uint32Array(most * 2 + 3), order = new Uint32Array(pairs);
  for (let pair = 0; pair < pairs; pair++) fill[(pairGroup ? pairGroup[pair] * 2 : 0) + cut[pair] + 1]++;
  for (let key = 1; key < fill.length; key++) fill[key] += fill[key - 1];
  for (let pair = 0; pair < pairs; pair++) order[fill[(pairGroup ? pairGroup[pair] * 2 : 0) + cut[pair]]++] = pair;
  return order;
}
