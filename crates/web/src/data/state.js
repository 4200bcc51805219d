// @ts-check
// State of the page as text in the address, which a link or a reload restores.
import { GROUPS } from "./samples/group.js";

/** @typedef {import("./model.js").Filter} Filter */
/** @typedef {{ view: string, event: number, weight: "samples" | "period", truncated: "apart" | "together" | "hidden",
 *   group: import("./samples/group.js").GroupBy, filters: Filter[], search: string, zoom: number[], func: number, thread: number,
 *   base: [number, number] | null, side: "both" | "before" | "after", colour: "module" | "kind",
 *   names: "full" | "short", kernel: "folded" | "shown", sort: string, last: number, own: "hidden" | "shown", marks: number[], from: number }} State
 * For a live recording: `last` is the number of recent seconds that are shown (0 for all), `own` shows or hides samples
 * of the recorder and of the service.
 * `marks` are times that the reader marked; all times are relative to `from`. */

/** @type {State} */
export const START = {
  view: "overview", event: -1, weight: "samples", truncated: "apart", group: "none", filters: [], search: "", zoom: [],
  func: -1, thread: -1, base: null, side: "both", colour: "module", names: "full", kernel: "folded", sort: "own", last: 0, own: "hidden", marks: [], from: 0,
};

const WORDS = {
  weight: ["samples", "period"], truncated: ["apart", "together", "hidden"],
  group: GROUPS, side: ["both", "before", "after"], colour: ["module", "kind"],
  names: ["full", "short"], kernel: ["folded", "shown"], own: ["hidden", "shown"],
};

/** State as the fragment of an address; default values are omitted.
 * @param {State} state */
export function toFragment(state) {
  const parts = new URLSearchParams();
  for (const key of ["view", "weight", "truncated", "group", "search", "side", "colour", "names", "kernel", "sort", "own"]) {
    const value = /** @type {any} */ (state)[key];
    if (value !== /** @type {any} */ (START)[key]) parts.set(key, value);
  }
  for (const key of ["event", "func", "thread"]) {
    const value = /** @type {any} */ (state)[key];
    if (value >= 0) parts.set(key, String(value));
  }
  for (const filter of state.filters) parts.append("filter", filterText(filter));
  if (state.zoom.length) parts.set("zoom", state.zoom.join("."));
  if (state.base) parts.set("base", state.base.join("-"));
  if (state.marks.length) parts.set("marks", state.marks.join("."));
  for (const key of /** @type {const} */ (["last", "from"])) if (state[key]) parts.set(key, String(state[key]));
  return parts.toString();
}

/** State from the fragment of an address; unreadable values are replaced by defaults.
 * @param {string} fragment @returns {State} */
export function fromFragment(fragment) {
  const parts = new URLSearchParams(fragment.replace(/^#/, ""));
  /** @type {any} */
  const state = { ...START, filters: [], zoom: [], marks: [] };
  for (const key of ["view", "search", "sort"]) state[key] = parts.get(key) ?? state[key];
  for (const [key, words] of Object.entries(WORDS)) {
    const value = parts.get(key);
    if (value && words.includes(value)) state[key] = value;
  }
  for (const key of ["event", "func", "thread"]) state[key] = whole(parts.get(key)) ?? -1;
  state.filters = parts.getAll("filter").map(filterOf).filter((filter) => filter !== null);
  state.zoom = (parts.get("zoom") || "").split(".").filter((part) => /^\d+$/.test(part)).map(Number);
  const base = (parts.get("base") || "").split("-").map(whole);
  if (base.length === 2 && base.every((one) => one !== null)) state.base = base;
  state.marks = (parts.get("marks") || "").split(".").map(whole).filter((time) => time !== null);
  for (const key of ["last", "from"]) state[key] = whole(parts.get(key)) ?? 0;
  return state;
}

/** @param {string | null} text */
const whole = (text) => text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;

/** @param {Filter} filter */
export function filterText(filter) {
  switch (filter.kind) {
    case "time": return `time:${filter.from}-${filter.to}`;
    case "process": return `process:${filter.pid}`;
    case "comm": return `comm:${filter.comm}`;
    case "cgroup": return `cgroup:${filter.cgroup}`;
    case "threads":
    case "notThreads": return `${filter.kind}:${filter.ids.join(".")}`;
    default: return filter.at === undefined ? filter.kind : `${filter.kind}:${filter.at}`;
  }
}

/** @param {string} text @returns {Filter | null} */
export function filterOf(text) {
  const [, kind, rest] = /** @type {RegExpExecArray} */ (/^([^:]*):?(.*)$/s.exec(text));
  const number = whole(rest);
  switch (kind) {
    case "time": {
      const [from, to] = rest.split("-").map(whole);
      return from != null && to != null ? { kind, from, to } : null;
    }
    case "process": return /^-?\d{1,10}$/.test(rest) ? { kind, pid: Number(rest) } : null;
    case "comm": return { kind, comm: rest };
    case "cgroup": return { kind, cgroup: rest };
    case "threads":
    case "notThreads": return { kind, ids: rest.split(".").map(whole).filter((id) => id !== null) };
    case "parts": return rest === "" ? { kind } : null;
    case "recursion":
    case "merge": return rest === "" ? { kind } : number !== null ? { kind, at: number } : null;
    case "focus": case "keep": case "drop": case "hide": case "charge": case "fold": case "module": case "hideModule": case "wait":
      return number !== null ? { kind, at: number } : null;
    default: return null;
  }
}
