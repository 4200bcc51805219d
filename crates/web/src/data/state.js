// @ts-check
// State of the page as text in the address, which a link or a reload restores.
import { GROUPS } from "./samples/group.js";
import { ROWS } from "./samples/threads.js";
import { VALUE } from "./samples/values.js";

/** @typedef {import("./model.js").Filter} Filter */
/** @typedef {{ view: string, event: number, weight: "samples" | "period", truncated: "apart" | "together" | "hidden",
 *   group: import("./samples/group.js").GroupBy, filters: Filter[], search: string, zoom: number[], func: number, thread: number,
 *   base: [number, number] | null, side: "both" | "before" | "after", colour: "module" | "kind",
 *   lanes: "thread" | "cpu", open: string[], tall: number, wide: number, names: "full" | "short", kernel: "folded" | "shown", sort: string, last: number, own: "hidden" | "shown", marks: number[], from: number, rows: "" | import("./samples/threads.js").RowKind }} State
 * For a live recording: `last` is the number of recent seconds that are shown (0 for all), `own` shows or hides samples
 * of the recorder and of the service.
 * `lanes`, `open` and `tall` describe the timeline: kind of its lanes, names of the expanded ones, height (0 for automatic);
 * `wide` is the width of the source lines beside the instructions, in pixels (0 for automatic).
 * `rows` is the kind of rows in the table of threads, empty for automatic.
 * `marks` are times that the reader marked; all times are relative to `from`. */

/** @type {State} */
export const START = {
  view: "overview", event: -1, weight: "samples", truncated: "apart", group: "none", filters: [], search: "", zoom: [],
  func: -1, thread: -1, base: null, side: "both", colour: "module", names: "short", kernel: "folded", lanes: "thread", open: [], tall: 0, wide: 0, sort: "own", last: 0, own: "hidden", marks: [], from: 0, rows: "",
};

/** @type {Record<string, readonly string[]>} */
const WORDS = {
  weight: ["samples", "period"], truncated: ["apart", "together", "hidden"],
  group: GROUPS, side: ["both", "before", "after"], colour: ["module", "kind"],
  names: ["full", "short"], kernel: ["folded", "shown"], own: ["hidden", "shown"], lanes: ["thread", "cpu"], rows: ROWS,
};

/** References in an address as numbers, which depend on the tables of the page. */
export class Numbers {
  constructor() {
    /** Kind of the groups that references are to. @type {State["group"]} */
    this.group = "none";
    /** Groups without a choice of the reader. @type {State["group"]} */
    this.usual = "none";
  }
  /** Returns true if samples can be grouped by a keyword. @param {string} word */
  hasGroup(word) { return GROUPS.includes(word); }
  /** @param {number} f @returns {string} */
  func(f) { return String(f); }
  /** @param {string} text @param {string} [part] of the state @returns {number | null} */
  funcOf(text, part) { return whole(text); }
  /** @param {number[]} path @returns {string[]} */
  zoom(path) { return path.length ? [path.join(".")] : []; }
  /** @param {string[]} texts @returns {number[]} */
  zoomOf(texts) { return (texts[0] || "").split(".").filter((part) => /^\d+$/.test(part)).map(Number); }
  /** @param {number} at @returns {string} */
  module(at) { return String(at); }
  /** @param {string} text @returns {number | null} */
  moduleOf(text) { return whole(text); }
  /** @param {number} id @returns {string} */
  thread(id) { return String(id); }
  /** @param {string} text @returns {number | null} */
  threadOf(text) { return whole(text); }
  /** @param {number[]} ids @returns {string} */
  threads(ids) { return ids.join("."); }
  /** @param {string} text @returns {number[] | null} */
  threadsOf(text) { return text.split(".").map(whole).filter((id) => id !== null); }
  /** @param {number} at @returns {string} */
  wait(at) { return String(at); }
  /** @param {string} text @returns {number | null} */
  waitOf(text) { return whole(text); }
  /** @param {number} at @returns {string} */
  event(at) { return String(at); }
  /** @param {string} text @returns {number | null} */
  eventOf(text) { return whole(text); }
  /** @param {number} pid @returns {string} */
  process(pid) { return String(pid); }
  /** @param {string} text @returns {number | null} */
  processOf(text) { return /^-?\d{1,10}$/.test(text) ? Number(text) : null; }
}

/** State as the fragment of an address; default values are omitted.
 * @param {State} state @param {Numbers} [names] */
export function toFragment(state, names = new Numbers()) {
  const parts = new URLSearchParams();
  names.group = state.group;
  for (const key of ["view", "weight", "truncated", "group", "search", "side", "colour", "names", "kernel", "lanes", "sort", "own", "rows"]) {
    const value = /** @type {any} */ (state)[key];
    if (value !== (key === "group" ? names.usual : /** @type {any} */ (START)[key])) parts.set(key, value);
  }
  // A zoom contains its group. Without one, it comes from a page that had no groups.
  if (state.zoom.length && state.group !== "none") parts.set("group", state.group);
  if (state.event >= 0) parts.set("event", names.event(state.event));
  for (const key of /** @type {const} */ (["func", "thread"])) if (state[key] >= 0) parts.set(key, names[key](state[key]));
  for (const filter of state.filters) parts.append("filter", filterText(filter, names));
  for (const name of state.open) parts.append("open", name);
  for (const text of names.zoom(state.zoom)) parts.append("zoom", text);
  if (state.base) parts.set("base", state.base.join("-"));
  if (state.marks.length) parts.set("marks", state.marks.join("."));
  for (const key of /** @type {const} */ (["last", "from", "tall", "wide"])) if (state[key]) parts.set(key, String(state[key]));
  return parts.toString().replace(/%(?:3A|2F|2C|7E)/g, decodeURIComponent);
}

/** State from the fragment of an address; unreadable values are replaced by defaults.
 * @param {string} fragment @param {Numbers} [names] @returns {State} */
export function fromFragment(fragment, names = new Numbers()) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  /** @type {any} */
  const state = { ...START, filters: [], zoom: [], marks: [], open: parts.getAll("open") };
  for (const key of ["view", "search", "sort"]) state[key] = parts.get(key) ?? state[key];
  for (const [key, words] of Object.entries(WORDS)) {
    const value = parts.get(key);
    if (value && (words.includes(value) || ["group", "rows"].includes(key) && value.startsWith(VALUE) && names.hasGroup(value))) state[key] = value;
  }
  if (!names.hasGroup(parts.get("group") ?? "") && !parts.has("zoom")) state.group = names.usual;
  names.group = state.group;
  const event = parts.get("event"), func = parts.get("func"), thread = parts.get("thread");
  if (event) state.event = names.eventOf(event) ?? -1;
  if (func) state.func = names.funcOf(func) ?? -1;
  if (thread) state.thread = names.threadOf(thread) ?? -1;
  state.filters = parts.getAll("filter").map((text) => filterOf(text, names)).filter((filter) => filter !== null);
  state.zoom = names.zoomOf(parts.getAll("zoom"));
  const base = (parts.get("base") || "").split("-").map(whole);
  if (base.length === 2 && base.every((one) => one !== null)) state.base = base;
  state.marks = (parts.get("marks") || "").split(".").map(whole).filter((time) => time !== null);
  for (const key of ["last", "from", "tall", "wide"]) state[key] = whole(parts.get(key)) ?? 0;
  return state;
}

/** @param {string | null} text */
const whole = (text) => text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;

/** Name in an address; unchanged if it is not encoded.
 * @param {string} text */
function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

/** Filters of modules. */
const OF_MODULES = ["module", "hideModule", "merge"];

/** @param {Filter} filter @param {Numbers} names */
function filterText(filter, names) {
  switch (filter.kind) {
    case "time": return `time:${filter.from}-${filter.to}`;
    case "process": return `process:${names.process(filter.pid)}`;
    case "cpu": return `cpu:${filter.cpu}`;
    case "value": return `value:${encodeURIComponent(filter.name)}=${filter.text}`;
    case "wait": return `wait:${names.wait(/** @type {number} */ (filter.at))}`;
    case "comm": return `comm:${filter.comm}`;
    case "cgroup": return `cgroup:${filter.cgroup}`;
    case "threads":
    case "notThreads": return `${filter.kind}:${names.threads(filter.ids)}`;
    default:
      if (filter.at === undefined) return filter.kind;
      return `${filter.kind}:${OF_MODULES.includes(filter.kind) ? names.module(filter.at) : names.func(filter.at)}`;
  }
}

/** @param {string} text @param {Numbers} names @returns {Filter | null} */
function filterOf(text, names) {
  const [, kind, rest] = /** @type {RegExpExecArray} */ (/^([^:]*):?(.*)$/s.exec(text));
  switch (kind) {
    case "time": {
      const [from, to] = rest.split("-").map(whole);
      return from != null && to != null ? { kind, from, to } : null;
    }
    case "process": {
      const pid = names.processOf(rest);
      return pid === null ? null : { kind, pid };
    }
    case "cpu": return whole(rest) === null ? null : { kind, cpu: Number(rest) };
    case "value": {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(rest) ?? [];
      return name === undefined ? null : { kind, name: decoded(name), text: value };
    }
    case "comm": return { kind, comm: rest };
    case "cgroup": return { kind, cgroup: rest };
    case "threads":
    case "notThreads": {
      const ids = names.threadsOf(rest);
      return ids && { kind, ids };
    }
    case "parts": return rest === "" ? { kind } : null;
    case "wait": {
      const at = names.waitOf(rest);
      return at === null ? null : { kind, at };
    }
    case "recursion": case "merge": case "focus": case "keep": case "drop": case "hide": case "charge": case "fold": case "module": case "hideModule": {
      if (rest === "") return kind === "recursion" || kind === "merge" ? { kind } : null;
      const at = OF_MODULES.includes(kind) ? names.moduleOf(rest) : names.funcOf(rest, "filter");
      return at === null ? null : { kind, at };
    }
    default: return null;
  }
}
