// @ts-check
// References in the address of a page: functions, modules and threads by name, so that a link fits another recording
// of the same program. Older links have numbers.
import { hash } from "./hash.js";
import { baseName, pathName } from "./names.js";
import { shortName } from "./short.js";
import { VALUE } from "./samples/values.js";
import { Numbers, fromFragment, toFragment } from "./state.js";

/** @typedef {import("./state.js").State} State */
/** @typedef {import("./tree/labels.js").Labels} Labels */
/** Process id, thread id, name of the thread, name of the process.
 * @typedef {[number, number, string, string]} Thread */

/** Maximum lengths in an address: of a name, its shown part, and of a zoom with all its names. */
const NAME = 160, SHOWN = 60, ZOOM = 1200;
/** Texts that are not the plain name of a function. */
const SPECIAL = /^(?:[\d.]+$|[=~]|module:|group:|\[truncated\]$)/;

/** Address of a state.
 * @param {Labels} model @param {State} state */
export const addressOf = (model, state) => toFragment(state, new Names(model));

/** State of an address, and reports of its references that the recording lacks.
 * @param {Labels} model @param {string} address @returns {{ state: State, missing: string[] }} */
export function stateOf(model, address) {
  const names = new Names(model), state = fromFragment(address, names);
  return { state, missing: names.missing };
}

class Names extends Numbers {
  /** @param {Labels} model */
  constructor(model) {
    super();
    this.model = model;
    this.usual = model.usualGroup;
    /** @type {string[]} */
    this.missing = [];
  }

  /** Reports a missing item.
   * @param {string} item @param {string} part of the link @returns {null} */
  lacks(item, part) {
    const text = `This ${this.model.isComparison ? "comparison" : "recording"} has no ${item}; the link's ${part} is omitted.`;
    if (!this.missing.includes(text)) this.missing.push(text);
    return null;
  }

  /** @returns {Map<string, number[]>} Functions by name. */
  get functions() {
    const { model } = this;
    return model.once("functionsByName", String(model.functions), () => {
      /** @type {Map<string, number[]>} */
      const by = new Map();
      model.names.forEach((name, f) => { const known = by.get(name); if (known) known.push(f); else by.set(name, [f]); });
      return by;
    });
  }

  /** @returns {Map<string, number>} Functions by the hash of their texts. */
  get hashes() {
    const { model } = this;
    return model.once("functionsByHash", String(model.functions), () => {
      const by = new Map([...this.functions].map(([name, [f]]) => [hash(name), f]));
      for (const all of this.functions.values()) if (all.length > 1) for (const f of all) by.set(hash(this.whole(f)), f);
      model.named.modules.forEach((module, at) => by.set(hash(`module:${module.path}`), model.functions + at));
      return by;
    });
  }

  /** Text of a function, module frame or group, of any length; with the module if the name is ambiguous.
   * @param {number} f @returns {string} */
  whole(f) {
    const { model } = this;
    if (f >= model.firstGroup) {
      const label = model.labelsOf(this.group)[f - model.firstGroup];
      return label === undefined ? "[truncated]" : `group:${label}`;
    }
    if (f >= model.functions) return `module:${model.named.modules[f - model.functions].path}`;
    const name = model.names[f], all = this.functions.get(name) ?? [];
    if (all.length < 2) return name;
    const module = baseName(model.module(f)), same = all.filter((one) => baseName(model.module(one)) === module), at = same.indexOf(f);
    return `${name}|${module}${at > 0 ? `#${at + 1}` : ""}`;
  }

  /** @param {number} f */
  func(f) {
    const text = this.whole(f);
    if (encodeURIComponent(text).length > NAME) return `${(f < this.model.functions ? shortName(this.model.names[f]).replaceAll("…", "") : text).slice(0, SHOWN).replace(/[\ud800-\udbff]$/, "")}~${hash(text)}`;
    return f < this.model.functions && SPECIAL.test(text) ? `=${text}` : text;
  }

  /** @param {string} text @param {string} [part] */
  funcOf(text, part = "selection") {
    return this.found(text) ?? this.lacks(called(text), part);
  }

  /** @param {string} text @returns {number | undefined} */
  found(text) {
    const { model } = this, [, short] = /~([0-9a-z]{11})$/.exec(text) ?? [];
    const hashed = () => short ? this.hashes.get(short) : undefined, labels = model.labelsOf(this.group);
    if (/^\d+$/.test(text)) return Number(text) <= model.firstGroup + labels.length ? Number(text) : undefined;
    if (text === "[truncated]") return model.firstGroup + labels.length;
    if (text.startsWith("group:")) {
      const at = labels.findIndex((label) => `group:${label}` === text || hash(`group:${label}`) === short);
      return at < 0 ? undefined : model.firstGroup + at;
    }
    if (text.startsWith("module:")) {
      const at = this.moduleAt(text.slice(7));
      return at < 0 ? hashed() : model.functions + at;
    }
    const name = text.replace(/^=/, ""), [one] = this.functions.get(name) ?? [];
    if (one !== undefined) return one;
    const [, plain, module, number] = /^(.*)\|([^|]*?)(?:#(\d+))?$/s.exec(name) ?? [];
    const inside = (this.functions.get(plain) ?? []).filter((f) => baseName(model.module(f)) === module);
    return inside[Number(number ?? 1) - 1] ?? hashed();
  }

  /** Texts of a path. A long one has the hashes of its functions, with the number of repetitions, and the last name.
   * @param {number[]} path @returns {string[]} */
  zoom(path) {
    const texts = path.map((f) => this.func(f));
    if (texts.reduce((sum, text) => sum + encodeURIComponent(text).length + 6, 0) <= ZOOM) return texts;
    /** @type {{ code: string, n: number }[]} */
    const runs = [];
    for (const f of path) {
      const code = hash(this.whole(f)), last = runs.at(-1);
      if (last?.code === code) last.n++; else runs.push({ code, n: 1 });
    }
    return [`~${runs.map(({ code, n }) => n > 1 ? `${code}*${n}` : code).join(".")}`, texts[texts.length - 1]];
  }

  /** @param {string[]} texts */
  zoomOf(texts) {
    if (texts.length === 1 && /^\d+(\.\d+)*$/.test(texts[0])) texts = texts[0].split(".");
    const [first, last] = texts;
    /** @type {number[]} */
    const path = [];
    if (!first?.startsWith("~")) {
      for (const text of texts) {
        const f = this.funcOf(text, "zoom");
        if (f === null) return [];
        path.push(f);
      }
      return path;
    }
    const groups = new Map(this.model.labelsOf(this.group).map((label, at) => [hash(`group:${label}`), this.model.firstGroup + at]));
    groups.set(hash("[truncated]"), this.model.firstGroup + groups.size);
    for (const run of first.slice(1).split(".")) {
      const [code, n] = run.split("*"), f = groups.get(code) ?? this.hashes.get(code);
      if (f === undefined) {
        if (last === undefined || this.funcOf(last, "zoom") !== null) this.lacks(`function that calls ${last ?? "the zoomed one"} there`, "zoom");
        return [];
      }
      for (let at = Math.min(Number(n ?? 1), 10_000); at > 0; at--) path.push(f);
    }
    return path;
  }

  /** @param {number} at */
  module(at) {
    const { modules } = this.model.named, { path } = modules[at] ?? { path: String(at) }, name = baseName(path);
    const text = modules.filter((module) => baseName(module.path) === name).length > 1 ? path : name;
    return /^[\d=]/.test(text) ? `=${text}` : text;
  }

  /** @param {string} text */
  moduleOf(text) {
    const { modules } = this.model.named, at = /^\d+$/.test(text) ? Number(text) : this.moduleAt(text.replace(/^=/, ""));
    return modules[at] ? at : this.lacks(`module ${text.replace(/^=/, "")}`, "filter");
  }

  /** Index of a module by its path, else by its name; negative if there is none.
   * @param {string} text */
  moduleAt(text) {
    const { modules } = this.model.named, path = pathName(text), exact = modules.findIndex((module) => module.path === path);
    return exact >= 0 ? exact : modules.findIndex((module) => baseName(module.path) === baseName(path));
  }

  /** @param {string} word */
  hasGroup(word) { return super.hasGroup(word) || this.model.hasGroup(word) || (word.startsWith(VALUE) && this.lacks(`label or field ${word.slice(VALUE.length)}`, "group") !== null); }

  /** @param {number} id */
  thread(id) { return this.threads([id]); }

  /** @param {string} text */
  threadOf(text) { return this.threadsOf(text, "selection")?.[0] ?? null; }

  /** Threads by process, thread ids and name.
   * @param {number[]} ids */
  threads(ids) {
    /** @type {{ pid: number, comm: string, tids: number[] }[]} */
    const groups = [];
    for (const [pid, tid, comm] of ids.map((id) => this.model.threads[id]).filter(Boolean)) {
      const last = groups.at(-1);
      if (last && last.pid === pid && last.comm === comm) last.tids.push(tid); else groups.push({ pid, comm, tids: [tid] });
    }
    return groups.map(({ pid, comm, tids }) => `${pid}/${tids.join(".")}/${comm.replace(/[%,]/g, encodeURIComponent)}`).join(",");
  }

  /** @param {string} text @param {string} [part] @returns {number[] | null} */
  threadsOf(text, part = "filter") {
    const { threads } = this.model, all = [...threads.keys()];
    if (!text.includes("/")) {
      const ids = /** @type {number[]} */ (super.threadsOf(text));
      return ids.every((id) => threads[id]) ? ids : this.lacks(`thread number ${ids.find((id) => !threads[id])}`, part);
    }
    /** @type {number[]} */
    const found = [];
    for (const group of text.split(",")) {
      const [, pid, tids, coded] = /^(-?\d+)\/([-\d.]+)\/(.*)$/s.exec(group) ?? [], comm = (coded ?? group).replace(/%2C/g, ",").replace(/%25/g, "%");
      const wanted = (tids ?? "").split(".").map(Number), exact = all.filter((id) => threads[id][0] === Number(pid) && threads[id][2] === comm && wanted.includes(threads[id][1]));
      // In another recording the ids differ: all threads of the name, or the only one.
      const named = exact.length ? exact : all.filter((id) => threads[id][2] === comm);
      if (!named.length || !exact.length && named.length > 1 && wanted.length === 1) return this.lacks(`thread ${pid === undefined ? group : `${comm || "?"} ${pid}/${wanted.join(", ")}`}`, part);
      found.push(...named);
    }
    return [...new Set(found)];
  }

  /** @param {number} at */
  wait(at) { return textOf(this.model.kinds.waits, at); }

  /** @param {string} text */
  waitOf(text) { return placeOf(this.model.kinds.waits, text) ?? this.lacks(`kind of wait ${text}`, "filter"); }

  /** @param {number} at */
  event(at) { return textOf(this.model.kinds.events, at); }

  /** @param {string} text */
  eventOf(text) { return placeOf(this.model.kinds.events, text) ?? this.lacks(`event ${text.replace(/^=/, "")}`, "event"); }

  /** @param {number} pid */
  process(pid) {
    const row = this.model.threads.find(([one]) => one === pid);
    return row ? `${pid}/${row[3] || row[2]}` : String(pid);
  }

  /** @param {string} text */
  processOf(text) {
    const [, pid, name] = /^(-?\d{1,10})(?:\/(.*))?$/s.exec(text) ?? [], { threads } = this.model;
    const isNamed = (/** @type {Thread} */ row) => name === undefined || (row[3] || row[2]) === name;
    if (threads.some((row) => row[0] === Number(pid) && isNamed(row))) return Number(pid);
    const others = new Set(name ? threads.filter(isNamed).map((row) => row[0]) : []);
    return others.size === 1 ? [...others][0] : this.lacks(`process ${name ? `${name} ` : ""}${pid ?? text}`, "filter");
  }
}

/** Text of a name in a list; its number if the list has the name before.
 * @param {string[]} list @param {number} at */
function textOf(list, at) {
  const name = list[at];
  return !name || list.indexOf(name) !== at ? String(at) : /^[\d=]/.test(name) ? `=${name}` : name;
}

/** Place of a text in a list.
 * @param {string[]} list @param {string} text a name, or the number of an older link @returns {number | null} */
function placeOf(list, text) {
  const at = /^\d{1,9}$/.test(text) ? Number(text) : list.indexOf(text.replace(/^=/, ""));
  return list[at] === undefined ? null : at;
}

/** Function, module or group of a text, for readers.
 * @param {string} text */
function called(text) {
  const [, kind, name] = /^(group|module):(.*)$/s.exec(text) ?? ["", "function", text.replace(/^=/, "").replace(/\|([^|]*?)(?:#\d+)?$/, " in $1")];
  return `${kind} ${name.replace(/~[0-9a-z]{11}$/, "…")}`;
}
