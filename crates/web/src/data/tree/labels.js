// @ts-check
// Labels of tree nodes, by number: functions, then modules as merged frames, then groups (processes, threads), and last
// the truncated stacks.
import { ANONYMOUS, INLINED, KERNEL, NONE } from "../columns.js";
import { UNKNOWN, baseName, wholeName } from "../names.js";
import { ShortNames } from "../short.js";
import { pathTo } from "./tree.js";

/** @typedef {import("./tree.js").Tree} Tree */
/** @typedef {import("./tree.js").Children} Children */
/** Names of a profile. Functions are the indices of their names, files and modules, negative for none, with the line of
 * the declaration or the negated address of the start. `elsewhere` contains lines outside the file of their function:
 * the index of the file, and the line.
 * @typedef {{ functions: [number, number, number, number?][], elsewhere?: [number, number][], names: string[], modules: { path: string, kind?: string }[] }} Named */

/** First number of a line in another file than its function. */
const ELSEWHERE = 0x80000000;

export class Labels {
  /** @param {Named} head */
  constructor(head) {
    this.named = head;
    this.functions = head.functions.length;
    /** @type {Map<number, string>} */
    this.marks = marksOf(head);
    this.names = head.functions.map(([name, , module], f) => {
      const text = name < 0 ? "" : head.names[name], mark = this.marks.get(f);
      if (text) return mark ? `${text} (${mark})` : text;
      return module >= 0 ? `${UNKNOWN} in ${baseName(head.modules[module].path)}` : UNKNOWN;
    });
    /** Number of the first group; the numbers of modules precede it. */
    this.firstGroup = this.functions + head.modules.length;
    /** @type {string[]} */
    this.groupLabels = [];
    this.short = new ShortNames();
    /** @type {string[]} Short names by function, made on demand. */
    this.shortOf = [];
    /** @type {Map<string, { key: string, value: any }>} */
    this.made = new Map();
    /** Key of the current tree. */
    this.treeKey = "";
    /** Current tree, the function that makes its children, and the costs of its nodes; set by subclasses.
     * @type {Tree | null} */
    this.tree = null;
    /** @type {() => Children} */
    this.makeChildren = () => { throw new Error("nothing was looked at"); };
    /** @type {import("./around.js").Counted | null} */
    this.costs = null;
  }

  /** Children of the current tree: built on first use, since a graph needs only those of wide nodes.
   * @returns {Children} */
  get children() { return this.makeChildren(); }

  /** True for a comparison of recordings. */
  get isComparison() { return false; }

  /** Groups without a choice of the reader.
   * @returns {import("../samples/group.js").GroupBy} */
  get usualGroup() { return "none"; }

  /** Returns true if samples can be grouped by the values of a keyword.
   * @param {string} word */
  hasGroup(word) { void word; return false; }

  /** Threads of the recording.
   * @returns {[number, number, string, string][]} */
  get threads() { return []; }

  /** Names of the kinds of wait, and of the events.
   * @returns {{ waits: string[], events: string[] }} */
  get kinds() { return { waits: [], events: [] }; }

  /** Labels of the groups of a kind, which may differ from the current one.
   * @param {import("../samples/group.js").GroupBy} group @returns {string[]} */
  labelsOf(group) { return this.groupLabels; }

  /** Returns true if a number is not in the tree that frame filters apply to.
   * @param {number} f */
  isOutside(f) { return false; }

  /** Picture for a graph: of everything, or of the zoomed part; here always the current tree.
   * @param {number[]} zoom functions from an outermost frame inwards @returns {import("./around.js").CostPicture} */
  picture(zoom) {
    const model = this;
    return { tree: /** @type {Tree} */ (this.tree), get children() { return model.children; }, .../** @type {any} */ (this.costs), title: "all" };
  }

  /** Path to the costliest node with a matching function.
   * @param {Uint8Array} hits by function @returns {number[]} functions from the outermost frame inwards */
  widest(hits) {
    const { tree, total } = Labels.prototype.picture.call(this, []);
    let best = NONE;
    for (let node = 0; node < tree.n; node++) if (hits[tree.func[node]] && total[node] > (best === NONE ? 0 : total[best])) best = node;
    return pathTo(tree, best).map((node) => tree.func[node]);
  }

  /** Returns a value that is cached until its key changes.
   * @template T @param {string} name @param {string} key @param {() => T} make @returns {T} */
  once(name, key, make) {
    const known = this.made.get(name);
    if (known && known.key === key) return known.value;
    const value = make();
    this.made.set(name, { key, value });
    return value;
  }

  /** Number of the truncated stacks. */
  truncatedFunction() { return this.firstGroup + this.groupLabels.length; }

  /** By function: its module, negative for none. */
  moduleOf() {
    return this.once("moduleOf", String(this.groupLabels.length), () => {
      const of = new Int32Array(this.truncatedFunction() + 1).fill(-1);
      this.named.functions.forEach((row, f) => { of[f] = row[2]; });
      for (let module = 0; module < this.named.modules.length; module++) of[this.functions + module] = module;
      return of;
    });
  }

  /** By function: its source file as an index of names, negative for none. */
  fileOf() {
    return this.once("fileOf", String(this.groupLabels.length), () => {
      const of = new Int32Array(this.truncatedFunction() + 1).fill(-1);
      this.named.functions.forEach((row, f) => { of[f] = row[1]; });
      return of;
    });
  }

  /** By function: the function of its module that it is a part of (`parse` for `parse.cold`), else itself. */
  wholeOf() {
    return this.once("wholeOf", String(this.functions), () => {
      /** @type {Map<string, number>} */
      const known = new Map(), { functions, names } = this.named;
      functions.forEach(([name, , module], f) => { if (name >= 0 && !known.has(`${module} ${names[name]}`)) known.set(`${module} ${names[name]}`, f); });
      return Int32Array.from(functions, ([name, , module], f) => {
        const whole = name < 0 ? "" : wholeName(names[name]);
        return (whole ? known.get(`${module} ${whole}`) : undefined) ?? f;
      });
    });
  }

  identity() {
    const n = this.truncatedFunction() + 1;
    return this.once("identity", String(n), () => Int32Array.from({ length: n }, (_, f) => f));
  }

  /** Name of a function, or of a module, group or truncated stack.
   * @param {number} f @param {boolean} [short] */
  name(f, short) {
    if (f >= this.functions) {
      if (f < this.firstGroup) return baseName(this.named.modules[f - this.functions].path);
      return f === this.truncatedFunction() ? "[truncated]" : this.groupLabels[f - this.firstGroup];
    }
    return short ? this.shortOf[f] ??= this.shortName(f) : this.names[f];
  }

  /** Short name of a function. It depends on those of all others.
   * @param {number} f */
  shortName(f) {
    const { functions, names } = this.named, [name] = functions[f], mark = this.marks.get(f);
    for (; this.short.seen < functions.length; this.short.seen++) {
      const [other] = functions[this.short.seen];
      if (other >= 0) this.short.add(other, names[other]);
    }
    if (name < 0 || !names[name]) return this.names[f];
    return this.short.of(name) + (mark ? ` (${mark})` : "");
  }

  /** Path of a function's module.
   * @param {number} f */
  module(f) {
    const module = this.moduleOf()[f];
    return module === undefined || module < 0 ? "" : this.named.modules[module].path;
  }

  /** Source file of a function.
   * @param {number} f */
  file(f) {
    const file = this.fileOf()[f];
    return file === undefined || file < 0 ? "" : this.named.names[file];
  }

  /** Resolves the number of a line in the tables to the line and its file, which may differ from the function's file.
   * @param {number} f @param {number} number @returns {{ file: string, line: number }} */
  lineOf(f, number) {
    const other = number >= ELSEWHERE ? this.named.elsewhere?.[number - ELSEWHERE] : undefined;
    return other ? { file: this.named.names[other[0]] ?? "", line: other[1] } : { file: this.file(f), line: number };
  }

  /** Kind of code of a node.
   * @param {number} flags @param {number} f */
  kind(flags, f) {
    if (f >= this.firstGroup) return "group";
    if (flags & KERNEL) return "kernel";
    if (flags & ANONYMOUS) return f < this.functions && this.named.functions[f][0] >= 0 ? "jit" : "anonymous";
    return flags & INLINED ? "inlined" : "user";
  }

  /** Functions with a name or a shown name that matches a search, and the total cost of the stacks that contain one.
   * @param {((name: string) => boolean) | null} test @param {boolean} [short] true if short names are shown */
  find(test, short) {
    if (!test) return null;
    const tree = /** @type {Tree} */ (this.tree), own = /** @type {any} */ (this.costs).own;
    const hits = new Uint8Array(this.truncatedFunction() + 1);
    for (let f = 0; f < hits.length; f++) {
      const name = this.name(f), shown = this.name(f, short);
      hits[f] = test(name) || (shown !== name && test(shown)) ? 1 : 0;
    }
    const under = new Uint8Array(tree.n);
    let found = 0;
    for (let i = 0; i < tree.n; i++) {
      under[i] = hits[tree.func[i]] | (tree.parent[i] === NONE ? 0 : under[tree.parent[i]]);
      if (under[i]) found += own[i];
    }
    return { hits, under, found };
  }
}

/** Marks that distinguish functions of equal name and module. A mark is the shortest unique one of file, file with
 * line, and path with line, or an address if there is no declaration.
 * @param {Named} head @returns {Map<number, string>} */
function marksOf({ functions, names, modules }) {
  /** @type {Map<number, number>} First function of a name and a module. */
  const first = new Map();
  /** @type {Map<number, number[]>} Functions by the first one, if there are several. */
  const groups = new Map(), marks = new Map();
  functions.forEach(([name, , module], f) => {
    if (name < 0) return;
    const key = name * (modules.length + 1) + module + 1, known = first.get(key);
    if (known === undefined) { first.set(key, f); return; }
    const group = groups.get(known);
    if (group) group.push(f); else groups.set(known, [known, f]);
  });
  for (const group of groups.values()) {
    const texts = [0, 1, 2].map((detail) => group.map((f) => markOf(functions[f], names, detail)));
    const distinct = texts.find((list) => new Set(list).size === list.length) || texts[2];
    group.forEach((f, at) => { if (distinct[at]) marks.set(f, distinct[at]); });
  }
  return marks;
}

/** @param {[number, number, number, number?]} row @param {string[]} names @param {number} detail */
function markOf([, file, , place = 0], names, detail) {
  if (place < 0) return `0x${(-place).toString(16)}`;
  if (!place || file < 0) return "";
  const path = names[file];
  return detail === 0 ? baseName(path) : `${detail === 1 ? baseName(path) : path}:${place}`;
}
