// @ts-check
// Shown stacks as a profile of pprof. Locations have no addresses, since a node stands for several of them; inlined
// functions are lines of the location of their caller.
// Source: github.com/google/pprof/blob/main/proto/profile.proto, and "Comparing profiles" in its README.md.
import { INLINED, NONE } from "../columns.js";
import { Message } from "./protobuf.js";
import { BARE, eachStack } from "./stacks.js";

/** @typedef {import("./stacks.js").Stacks} Stacks */

/** Fields of `Profile`. */
const FIELD = { sampleType: 1, sample: 2, mapping: 3, location: 4, function: 5, string: 6, duration: 10, periodType: 11, period: 12, comment: 13, defaultType: 14 };

/** Profile as bytes, not compressed.
 * @param {Stacks} stacks @returns {Uint8Array<ArrayBuffer>} */
export function pprofBytes(stacks) {
  const writer = new Writer(stacks);
  writer.samples();
  writer.mappings();
  writer.head();
  for (const text of writer.strings.keys()) writer.top.text(FIELD.string, text);
  return writer.top.bytes.slice();
}

class Writer {
  /** @param {Stacks} stacks */
  constructor(stacks) {
    this.stacks = stacks;
    this.top = new Message();
    /** Reused for the message below `top`, and for one below that. */
    this.one = new Message();
    this.inner = new Message();
    /** @type {Map<string, number>} */
    this.strings = new Map([["", 0]]);
    /** Ids of the written functions and locations, which begin at 1. @type {Map<number, number>} */
    this.functions = new Map();
    /** @type {Map<string, number>} */
    this.locations = new Map();
    /** By module: the id of its mapping. The first mapping names the profile. @type {Map<number, number>} */
    this.mapped = new Map();
    for (const module of programFirst(stacks)) this.mapped.set(module, this.mapped.size + 1);
  }

  /** @param {string} text */
  string(text) {
    let index = this.strings.get(text);
    if (index === undefined) this.strings.set(text, index = this.strings.size);
    return index;
  }

  /** @param {number} field @param {string} name @param {string} unit */
  type(field, name, unit) {
    const { one } = this;
    one.clear();
    one.number(1, this.string(name));
    one.number(2, this.string(unit));
    this.top.message(field, one);
  }

  head() {
    const { top, stacks: { event, duration, notes } } = this;
    this.type(FIELD.sampleType, "samples", "count");
    if (event) this.type(FIELD.sampleType, event.name, event.unit);
    this.type(FIELD.periodType, event ? event.name : "samples", event ? event.unit : "count");
    top.number(FIELD.duration, Math.round(duration));
    top.number(FIELD.period, event ? 0 : 1);
    top.packed(FIELD.comment, notes.map((note) => this.string(note)));
    top.number(FIELD.defaultType, this.string(event ? event.name : "samples"));
  }

  samples() {
    const { stacks } = this, isDiff = stacks.sides.length > 1;
    eachStack(stacks, (node, costs, counts) => {
      const way = node === NONE ? [this.location([], 0)] : this.locationsOf(node);
      costs.forEach((cost, side) => {
        const sign = isDiff && side === 0 ? -1 : 1, count = stacks.event ? counts[side] : cost;
        if (cost === 0 && count === 0) return;
        const { one } = this;
        one.clear();
        one.packed(1, way);
        one.packed(2, stacks.event ? [sign * count, sign * cost] : [sign * count]);
        if (sign < 0) this.base();
        this.top.message(FIELD.sample, one);
      });
    });
  }

  /** Marks a sample as one of the baseline. */
  base() {
    const { one, inner } = this;
    inner.clear();
    inner.number(1, this.string("pprof::base"));
    inner.number(2, this.string("true"));
    one.message(3, inner);
  }

  /** Locations from a node outwards.
   * @param {number} node */
  locationsOf(node) {
    const { tree } = this.stacks, way = [];
    /** @type {number[]} */
    let group = [];
    for (let at = node; at !== NONE; at = tree.parent[at]) {
      group.push(at);
      if (tree.flags[at] & INLINED && tree.parent[at] !== NONE) continue;
      way.push(this.location(group, at));
      group = [];
    }
    return way;
  }

  /** Id of the location of inlined functions, innermost first, and the function that contains their code.
   * @param {number[]} nodes empty for samples without frames @param {number} outer */
  location(nodes, outer) {
    const { tree, model, line } = this.stacks, lines = nodes.map((node) => [tree.func[node], line(node)]), key = lines.join(" ");
    let id = this.locations.get(key);
    if (id !== undefined) return id;
    this.locations.set(key, id = this.locations.size + 1);
    const ids = nodes.length ? lines.map(([f, number]) => [this.function(f), number]) : [[this.function(-1), 0]], { one, inner } = this;
    one.clear();
    one.number(1, id);
    if (nodes.length) one.number(2, this.mapped.get(model.moduleOf()[tree.func[outer]]) ?? 0);
    for (const [f, number] of ids) {
      inner.clear();
      inner.number(1, f);
      inner.number(2, number);
      one.message(4, inner);
    }
    this.top.message(FIELD.location, one);
    return id;
  }

  /** Id of a function; negative for the frame of samples without frames.
   * @param {number} f */
  function(f) {
    const { model } = this.stacks, { one } = this;
    let id = this.functions.get(f);
    if (id !== undefined) return id;
    this.functions.set(f, id = this.functions.size + 1);
    const name = this.string(f < 0 ? BARE : model.name(f)), start = f >= 0 && f < model.functions ? model.named.functions[f][3] ?? 0 : 0;
    one.clear();
    one.number(1, id);
    one.number(2, name);
    one.number(3, name);
    if (f >= 0) one.number(4, this.string(model.file(f)));
    one.number(5, Math.max(0, start));
    this.top.message(FIELD.function, one);
    return id;
  }

  mappings() {
    const { one, stacks: { model } } = this;
    for (const [module, id] of this.mapped) {
      const { path, buildId } = /** @type {{ path: string, buildId?: string }} */ (model.named.modules[module]);
      one.clear();
      one.number(1, id);
      one.number(5, this.string(path));
      one.number(6, this.string(buildId || ""));
      // Functions, file names, line numbers and inlined functions are complete: pprof looks for no files.
      for (const field of [7, 8, 9, 10]) one.number(field, 1);
      this.top.message(FIELD.mapping, one);
    }
  }
}

/** Modules with shown frames: the program first, which is the costliest one that is a file and no library.
 * @param {Stacks} stacks @returns {number[]} */
function programFirst({ tree, model, sides }) {
  const { modules } = model.named, of = model.moduleOf(), costs = new Float64Array(modules.length), used = new Uint8Array(modules.length);
  const total = new Float64Array(tree.n);
  for (let node = tree.n - 1; node >= 0; node--) {
    for (const { n } of sides) total[node] += n[node];
    if (tree.parent[node] !== NONE) total[tree.parent[node]] += total[node];
    const module = of[tree.func[node]];
    if (module < 0 || total[node] === 0) continue;
    used[module] = 1;
    costs[module] += total[node];
  }
  const isProgram = (/** @type {number} */ module) => !/^\[|\.so\b/.test(modules[module].path);
  return [...used.keys()].filter((module) => used[module]).sort((a, b) => Number(isProgram(b)) - Number(isProgram(a)) || costs[b] - costs[a] || a - b);
}
