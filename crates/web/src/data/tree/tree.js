// @ts-check
// Prefix trees of functions as columns: how they are made, in which order children are, what nodes cost with all below.
import { NONE } from "../columns.js";

/** A node stands for a function under its callers. Parents come before their children; `src` is a node that it was made
 * of, in the tree of functions that everything begins with.
 * @typedef {{ n: number, parent: Uint32Array, func: Uint32Array, flags: Uint8Array, src: Uint32Array }} Tree */
/** Children of node p: `list[start[p + 1]]` up to `list[start[p + 2]]`; those of the root begin at `start[0]`.
 * @typedef {{ start: Uint32Array, list: Uint32Array }} Children */

/** Makes a tree in which the children of a node differ by function or flags. Most nodes get their children from one node
 * of an older tree, where they differ already: these are not looked up. */
export class TreeBuilder {
  /** @param {number} size how many nodes are expected */
  constructor(size) {
    this.n = 0;
    this.parent = new Uint32Array(size + 16);
    this.func = new Uint32Array(size + 16);
    this.flags = new Uint8Array(size + 16);
    this.src = new Uint32Array(size + 16);
    /** Which node of the older tree a node was made for first. */
    this.owner = new Uint32Array(size + 16);
    /** Whether a node's children are looked up by now, and its children (plus 1) as a list. */
    this.shared = new Uint8Array(size + 16);
    this.first = new Uint32Array(size + 16);
    this.next = new Uint32Array(size + 16);
    this.hashed = 0;
    this.slots = new Uint32Array(1 << 10);
  }

  /** The child of a node (or of the root, NONE) for node `i` of an older tree, whose caller there is `p`.
   * @param {number} parent @param {Tree} old @param {number} i @param {number} p */
  copy(parent, old, i, p) {
    if (parent !== NONE && this.owner[parent] === p && !this.shared[parent]) {
      const id = this.push(parent, old.func[i], old.flags[i], old.src[i]);
      this.link(id, parent);
      this.owner[id] = i;
      return id;
    }
    const before = this.n, id = this.child(parent, old.func[i], old.flags[i], old.src[i]);
    if (id === before) this.owner[id] = i;
    return id;
  }

  /** As `copy`, of an older tree whose siblings may be alike, one after the other.
   * @param {number} parent @param {Tree} old @param {number} i @param {number} p @param {number} flags */
  merge(parent, old, i, p, flags) {
    const func = old.func[i];
    let id;
    if (parent !== NONE && this.owner[parent] === p && !this.shared[parent]) {
      for (let at = this.first[parent]; at !== 0 && this.func[at - 1] === func; at = this.next[at - 1]) if (this.flags[at - 1] === flags) return at - 1;
      id = this.push(parent, func, flags, i);
      this.link(id, parent);
      this.owner[id] = i;
    } else {
      const before = this.n;
      id = this.child(parent, func, flags, i);
      if (id === before) this.owner[id] = i;
    }
    return id;
  }

  /** The child of a node (or of the root, NONE) for a function; it is made where there is none.
   * @param {number} parent @param {number} func @param {number} flags @param {number} src */
  child(parent, func, flags, src) {
    if (parent !== NONE && !this.shared[parent]) {
      this.shared[parent] = 1;
      for (let id = this.first[parent]; id !== 0; id = this.next[id - 1]) this.insert(id - 1);
    }
    const at = this.find(parent, func, flags);
    if (this.slots[at] !== 0) return this.slots[at] - 1;
    const id = this.push(parent, func, flags, src);
    if (parent !== NONE) this.link(id, parent);
    this.owner[id] = NONE;
    this.insert(id);
    return id;
  }

  /** @param {number} id @param {number} parent */
  link(id, parent) {
    this.next[id] = this.first[parent];
    this.first[parent] = id + 1;
  }

  /** The slot of a child, or where it belongs.
   * @param {number} parent @param {number} func @param {number} flags */
  find(parent, func, flags) {
    const mask = this.slots.length - 1;
    let at = Math.imul(parent + 1, 0x9e3779b1) ^ Math.imul(func * 64 + flags, 0x85ebca6b);
    at = Math.imul(at ^ (at >>> 15), 0x2c1b3c6d);
    at = (at ^ (at >>> 13)) & mask;
    for (let id = this.slots[at]; id !== 0; id = this.slots[at]) {
      id--;
      if (this.parent[id] === parent && this.func[id] === func && this.flags[id] === flags) return at;
      at = (at + 1) & mask;
    }
    return at;
  }

  /** Makes a node one that is found.
   * @param {number} id */
  insert(id) {
    if (++this.hashed * 2 > this.slots.length) {
      const old = this.slots;
      this.slots = new Uint32Array(old.length * 4);
      for (const one of old) if (one !== 0) this.slots[this.find(this.parent[one - 1], this.func[one - 1], this.flags[one - 1])] = one;
    }
    this.slots[this.find(this.parent[id], this.func[id], this.flags[id])] = id + 1;
  }

  /** A new node, whatever there is.
   * @param {number} parent @param {number} func @param {number} flags @param {number} src */
  push(parent, func, flags, src) {
    if (this.n === this.parent.length) this.grow();
    this.parent[this.n] = parent;
    this.func[this.n] = func;
    this.flags[this.n] = flags;
    this.src[this.n] = src;
    return this.n++;
  }

  grow() {
    const size = this.parent.length * 2;
    const larger = (/** @type {any} */ old) => { const made = new old.constructor(size); made.set(old); return made; };
    this.parent = larger(this.parent);
    this.func = larger(this.func);
    this.flags = larger(this.flags);
    this.src = larger(this.src);
    this.owner = larger(this.owner);
    this.shared = larger(this.shared);
    this.first = larger(this.first);
    this.next = larger(this.next);
  }

  /** @returns {Tree} */
  done() {
    const n = this.n;
    return {
      n, parent: this.parent.subarray(0, n), func: this.func.subarray(0, n),
      flags: this.flags.subarray(0, n), src: this.src.subarray(0, n),
    };
  }
}

/** The children of every node, in the order of their functions' numbers.
 * @param {Tree} tree @returns {Children} */
export function childrenOf(tree) {
  const { n, func, parent } = tree, start = new Uint32Array(n + 2);
  for (let i = 0; i < n; i++) start[parent[i] === NONE ? 1 : parent[i] + 2]++;
  for (let i = 1; i < n + 2; i++) start[i] += start[i - 1];
  const fill = start.slice(), list = new Uint32Array(n), unsorted = new Set();
  for (let i = 0; i < n; i++) {
    const slot = parent[i] === NONE ? 0 : parent[i] + 1, at = fill[slot]++;
    list[at] = i;
    if (at > start[slot] && func[list[at - 1]] > func[i]) unsorted.add(slot);
  }
  // Nodes are mostly made in that order; the children of the others are sorted.
  for (const slot of unsorted) list.subarray(start[slot], start[slot + 1]).sort((a, b) => func[a] - func[b] || a - b);
  return { start, list };
}

/** The children that cost something, of the nodes that cost so much at least and of the root, in the order of their
 * functions' numbers: what a graph shows of a large tree is little of it.
 * @param {Tree} tree @param {Float64Array} total @param {number} least
 * @returns {Map<number, number[]>} */
export function wideChildren(tree, total, least) {
  const { n, func, parent } = tree;
  /** @type {Map<number, number[]>} */
  const lists = new Map();
  for (let i = 0; i < n; i++) {
    const p = parent[i];
    if (total[i] === 0 || (p !== NONE && total[p] < least)) continue;
    const list = lists.get(p);
    if (list) list.push(i); else lists.set(p, [i]);
  }
  for (const list of lists.values()) list.sort((a, b) => func[a] - func[b] || a - b);
  return lists;
}

/** Where the children of a node begin and end in the list.
 * @param {Children} children @param {number} node @returns {[number, number]} */
export function range(children, node) {
  const slot = node === NONE ? 0 : node + 1;
  return [children.start[slot], children.start[slot + 1]];
}

/** What nodes cost with all below them.
 * @param {Tree} tree @param {Float64Array} own */
export function totals(tree, own) {
  const total = own.slice(), parent = tree.parent;
  for (let i = tree.n - 1; i >= 0; i--) {
    if (total[i] !== 0 && parent[i] !== NONE) total[parent[i]] += total[i];
  }
  return total;
}

/** Marks the nodes that have no node of the same key outside of them: the inclusive cost of a key is theirs.
 * @param {Tree} tree @param {Children} children @param {Int32Array} keyOf by function; below 0 for none
 * @param {number} keys */
export function outermost(tree, children, keyOf, keys) {
  const { start, list } = children, { func } = tree;
  const open = new Int32Array(keys), outer = new Uint8Array(tree.n);
  const path = new Int32Array(tree.n + 1), next = new Uint32Array(tree.n + 1);
  let depth = 0, at = start[0], end = start[1];
  for (;;) {
    if (at < end) {
      const node = list[at++], key = keyOf[func[node]];
      if (key >= 0 && open[key]++ === 0) outer[node] = 1;
      next[depth] = at;
      path[depth++] = node;
      at = start[node + 1];
      end = start[node + 2];
    } else {
      if (depth === 0) return outer;
      const node = path[--depth], key = keyOf[func[node]];
      if (key >= 0) open[key]--;
      at = next[depth];
      end = depth === 0 ? start[1] : start[path[depth - 1] + 2];
    }
  }
}

/** By node: the nearest node outside of it that is of the same function, else NONE.
 * @param {Tree} tree @param {Children} children */
export function nearestSame(tree, children) {
  const { start, list } = children, { n, func, parent } = tree, same = new Uint32Array(n);
  let most = 0;
  for (let i = 0; i < n; i++) if (func[i] > most) most = func[i];
  // By function: the innermost node of the way that is gone.
  const open = new Uint32Array(most + 1).fill(NONE), next = new Uint32Array(n + 1);
  let at = start[0], end = start[1], node = NONE;
  for (;;) {
    if (at < end) {
      const inner = list[at++];
      next[node === NONE ? 0 : node + 1] = at;
      node = inner;
      same[node] = open[func[node]];
      open[func[node]] = node;
      at = start[node + 1];
      end = start[node + 2];
    } else {
      if (node === NONE) return same;
      open[func[node]] = same[node];
      node = parent[node];
      const slot = node === NONE ? 0 : node + 1;
      at = next[slot];
      end = start[slot + 1];
    }
  }
}

/** The nodes from an outermost function to this one.
 * @param {Tree} tree @param {number} node @returns {number[]} */
export function pathTo(tree, node) {
  const path = [];
  for (let at = node; at !== NONE; at = tree.parent[at]) path.unshift(at);
  return path;
}
