// @ts-check
// Prefix trees of functions in columns: construction, order of children, inclusive costs.
import { NONE } from "../columns.js";

/** A node is a function under its callers. Parents precede their children. `src` is one of its source nodes in the
 * initial tree of functions.
 * @typedef {{ n: number, parent: Uint32Array, func: Uint32Array, flags: Uint8Array, src: Uint32Array }} Tree */
/** Children of node p: `list[start[p + 1]]` up to `list[start[p + 2]]`; roots begin at `start[0]`.
 * @typedef {{ start: Uint32Array, list: Uint32Array }} Children */

/** Builder of a tree; siblings differ in function or flags. Most nodes take all children from one node of an older
 * tree, already distinct there, so these need no look-up. */
export class TreeBuilder {
  /** @param {number} size expected number of nodes */
  constructor(size) {
    this.n = 0;
    this.parent = new Uint32Array(size + 16);
    this.func = new Uint32Array(size + 16);
    this.flags = new Uint8Array(size + 16);
    this.src = new Uint32Array(size + 16);
    /** By node: the first node of the older tree that it was created for. */
    this.owner = new Uint32Array(size + 16);
    /** By node: 1 if its children are in the hash table, and its children (plus 1) as a linked list. */
    this.shared = new Uint8Array(size + 16);
    this.first = new Uint32Array(size + 16);
    this.next = new Uint32Array(size + 16);
    this.hashed = 0;
    this.slots = new Uint32Array(1 << 10);
  }

  /** Child of a node (or of the root, NONE) for node `i` of an older tree; `p` is the parent of `i` there.
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

  /** Like `copy`, for an older tree with equal siblings, which must be adjacent.
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

  /** Child of a node (or of the root, NONE) for a function; created if necessary.
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

  /** Slot of a child, or its free slot.
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

  /** Adds a node to the hash table.
   * @param {number} id */
  insert(id) {
    if (++this.hashed * 2 > this.slots.length) {
      const old = this.slots;
      this.slots = new Uint32Array(old.length * 4);
      for (const one of old) if (one !== 0) this.slots[this.find(this.parent[one - 1], this.func[one - 1], this.flags[one - 1])] = one;
    }
    this.slots[this.find(this.parent[id], this.func[id], this.flags[id])] = id + 1;
  }

  /** Appends a node without a look-up.
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

/** Children of every node, sorted by the number of their function.
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
  // Most lists are already sorted; only the others are sorted here.
  for (const slot of unsorted) list.subarray(start[slot], start[slot + 1]).sort((a, b) => func[a] - func[b] || a - b);
  return { start, list };
}

/** Children with a cost, of the root and of the nodes that cost at least `least`, sorted by the number of their
 * function. A graph shows only a small part of a large tree.
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

/** Start and end of a node's children in the list.
 * @param {Children} children @param {number} node @returns {[number, number]} */
export function range(children, node) {
  const slot = node === NONE ? 0 : node + 1;
  return [children.start[slot], children.start[slot + 1]];
}

/** Inclusive costs of nodes.
 * @param {Tree} tree @param {Float64Array} own */
export function totals(tree, own) {
  const total = own.slice(), parent = tree.parent;
  for (let i = tree.n - 1; i >= 0; i--) {
    if (total[i] !== 0 && parent[i] !== NONE) total[parent[i]] += total[i];
  }
  return total;
}

/** Marks the nodes without a caller of the same key: the inclusive cost of a key is the sum of theirs.
 * @param {Tree} tree @param {Children} children @param {Int32Array} keyOf by function; negative for none
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

/** By node: its nearest caller of the same function, else NONE.
 * @param {Tree} tree @param {Children} children */
export function nearestSame(tree, children) {
  const { start, list } = children, { n, func, parent } = tree, same = new Uint32Array(n);
  let most = 0;
  for (let i = 0; i < n; i++) if (func[i] > most) most = func[i];
  // By function: its innermost node on the current path.
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

/** Path of nodes from the outermost function to this one.
 * @param {Tree} tree @param {number} node @returns {number[]} */
export function pathTo(tree, node) {
  const path = [];
  for (let at = node; at !== NONE; at = tree.parent[at]) path.unshift(at);
  return path;
}
