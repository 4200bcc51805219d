// @ts-check
// What all views share: the state and its history, the engine, and texts about what is shown.
import { GAP, GUESSED, JOINED, NONE } from "../data/columns.js";
import { kindColour, moduleColour, shadeOf } from "../data/colour.js";
import { Model } from "../data/model.js";
import { baseName, matcher } from "../data/names.js";
import { amount, duration, percent, spread } from "../data/numbers.js";
import { fromFragment, toFragment } from "../data/state.js";

/** @typedef {import("../data/columns.js").Tables} Tables */
/** @typedef {import("../data/state.js").State} State */
/** @typedef {import("../data/model.js").Filter} Filter */
/** @typedef {import("../data/around.js").CostPicture} CostPicture */
/** A view: its panel, and what draws it; `keys` may take a key that nothing else took.
 * @typedef {{ id: string, title: string, panel: HTMLElement, draw: () => void, resize?: () => void,
 *   next?: (step: number) => void }} ViewPart */

/** What undo leaves as it is. */
const ELSEWHERE = ["view", "func", "thread", "sort"];

export class App {
  /** @param {Tables} tables */
  constructor(tables) {
    this.tables = tables;
    this.model = new Model(tables);
    const { head } = tables, counts = new Float64Array(head.events.length);
    for (let i = 0; i < tables.samples; i++) counts[tables.event[i]]++;
    this.eventCounts = counts;
    /** The event that is shown where none was chosen: the first one with samples. */
    this.firstEvent = Math.max(0, counts.findIndex((count) => count > 0));
    this.state = fromFragment(location.hash);
    /** @type {string[]} States that undo goes back to. */
    this.past = [];
    /** @type {(() => void)[]} */
    this.listeners = [];
    /** @type {ReturnType<Model["find"]>} */
    this.found = null;
    this.theme = /** @type {"light" | "dark"} */ ("light");
    this.ranks = this.moduleRanks();
  }

  /** Modules by what they cost in the whole recording: this gives their colours. */
  moduleRanks() {
    const { leafNode, lines, head } = this.tables, counts = this.model.leafCounts;
    const own = new Float64Array(head.modules.length), ranks = new Int32Array(own.length);
    leafNode.forEach((node, at) => {
      const module = node === NONE ? -1 : head.functions[lines.func[node]][2];
      if (module >= 0) own[module] += counts[at];
    });
    [...own.keys()].sort((a, b) => own[b] - own[a] || a - b).forEach((module, rank) => { ranks[module] = rank; });
    return ranks;
  }

  get event() { return this.state.event >= 0 && this.state.event < this.tables.head.events.length ? this.state.event : this.firstEvent; }

  /** The costs of the present view. */
  get costs() { return /** @type {import("../data/model.js").Costs} */ (this.model.costs); }

  /** The present tree as a picture.
   * @returns {CostPicture} */
  get picture() {
    const { tree, children } = /** @type {any} */ (this.model), { total, own, n, ownN, all, allN } = this.costs;
    return { tree, children, total, own, n, ownN, all, allN, title: "all" };
  }

  /** Changes the state and shows it. Undo goes back to what was before, unless `quiet`.
   * @param {Partial<State>} patch @param {boolean} [quiet] */
  change(patch, quiet) {
    const before = toFragment(this.state);
    this.state = { ...this.state, ...patch };
    const after = toFragment(this.state);
    if (after === before) return;
    if (quiet) history.replaceState(null, "", "#" + after);
    else {
      // Undo takes filters and zooms back, not the way through the views: that is the browser's.
      if (Object.keys(patch).some((key) => !ELSEWHERE.includes(key))) this.past.push(before);
      history.pushState(null, "", "#" + after);
    }
    this.refresh();
  }

  /** Takes the last step back. */
  undo() {
    const before = this.past.pop();
    if (before === undefined) return;
    const { view, func, thread, sort } = this.state;
    this.state = { ...fromFragment(before), view, func, thread, sort };
    history.replaceState(null, "", "#" + toFragment(this.state));
    this.refresh();
  }

  /** @param {Filter} filter */
  addFilter(filter) {
    const filters = this.state.filters.filter((old) => !(filter.kind === "time" && old.kind === "time"));
    this.change({ filters: [...filters, filter], zoom: [] });
  }

  /** Counts what the state asks for, and tells all who show it. */
  refresh() {
    const { weight, truncated, group, filters, search } = this.state;
    this.model.look({ event: this.event, weight: this.model.weighs ? weight : "samples", truncated, group, filters });
    this.found = this.model.find(matcher(search));
    for (const listener of this.listeners) listener();
  }

  /** @param {number} f */
  label(f) { return this.model.name(f, this.state.names === "short"); }

  /** @param {number} cost */
  cost(cost) {
    const time = this.state.weight === "period" && this.tables.head.events[this.event]?.unit === "nanoseconds";
    return time ? duration(cost) : amount(cost);
  }

  /** The cost with its unit.
   * @param {number} cost */
  costText(cost) {
    if (this.state.weight === "samples") return `${amount(cost)} sample${cost === 1 ? "" : "s"}`;
    return this.tables.head.events[this.event]?.unit === "nanoseconds" ? duration(cost) : `${amount(cost)} events`;
  }

  /** Nanoseconds of so many samples, where the event is a clock; else nothing.
   * @param {number} n */
  time(n) {
    const event = this.tables.head.events[this.event];
    if (event?.unit === "nanoseconds" && event.period) return duration(n * event.period);
    return "";
  }

  /** A cost with its share and how sure that is.
   * @param {number} cost @param {number} all @param {number} allN */
  share(cost, all, allN) {
    const range = spread(cost, all, allN);
    return percent(cost, all) + (range ? ` (${range})` : "");
  }

  /** What is told about a node: a title, and lines.
   * @param {CostPicture} picture @param {number} node @param {number} zoom */
  describe(picture, node, zoom) {
    const of = (/** @type {number} */ cost, /** @type {number} */ n) => {
      const time = this.state.weight === "samples" ? this.time(n) : "";
      const samples = this.state.weight === "samples" ? "" : `, ${amount(n)} samples`;
      return `${this.costText(cost)}${time ? `, ${time}` : ""}${samples}`;
    };
    if (node === NONE) return ["all", of(picture.all, picture.allN)];
    const { tree } = picture, f = tree.func[node], total = picture.total[node], own = picture.own[node];
    const lines = [this.model.name(f), ...this.where(tree, node)];
    const inZoom = zoom !== NONE && zoom !== node ? `, ${percent(total, picture.total[zoom])} of what is zoomed` : "";
    lines.push(`inclusive ${this.share(total, picture.all, picture.allN)}${inZoom}: ${of(total, picture.n[node])}`);
    const ownZoom = zoom !== NONE && zoom !== node ? `, ${percent(own, picture.total[zoom])} of what is zoomed` : "";
    lines.push(`own ${this.share(own, picture.all, picture.allN)}${ownZoom}: ${of(own, picture.ownN[node])}`);
    return lines;
  }

  /** Where a node's code is, and what is special about it.
   * @param {import("../data/tree.js").Tree} tree @param {number} node */
  where(tree, node) {
    const f = tree.func[node], src = tree.src[node], lines = [];
    if (f >= this.model.functions) {
      return f === this.model.truncatedFunction() ? ["the outer frames of these stacks are missing"] : [];
    }
    const line = src === NONE ? 0 : /** @type {any} */ (this.model.baseLine)[src];
    const more = src === NONE ? 0 : /** @type {any} */ (this.model.lineCount)[src] - 1;
    const file = this.model.file(f);
    if (file) lines.push(file + (line ? `:${line}` : "") + (more > 0 ? ` (and ${more} more line${more > 1 ? "s" : ""})` : ""));
    if (this.model.module(f)) lines.push("in " + this.model.module(f));
    const flags = tree.flags[node], marks = [];
    const kind = this.model.kind(flags, f);
    if (kind === "jit") marks.push("compiled at run time");
    else if (kind === "anonymous") marks.push("code without a file");
    else if (kind !== "user" && kind !== "group") marks.push(kind);
    if (flags & GUESSED) marks.push("guessed by frame pointer");
    if (flags & GAP) marks.push("stands for frames that no sample shows");
    else if (flags & JOINED) marks.push("in most of these stacks from other samples");
    if (marks.length) lines.push(marks.join(", "));
    return lines;
  }

  /** The colour of a node.
   * @param {import("../data/tree.js").Tree} tree @param {number} node */
  colour(tree, node) {
    if (node === NONE) return kindColour("group", 2, this.theme);
    const f = tree.func[node], flags = tree.flags[node];
    if (flags & GAP || f === this.model.truncatedFunction()) return moduleColour(-1, 0, this.theme);
    const kind = this.model.kind(flags, f);
    if (kind === "group") return kindColour("group", 1, this.theme);
    const shade = shadeOf(this.model.name(f));
    if (this.state.colour === "kind") return kindColour(kind, shade, this.theme);
    const module = this.model.moduleOf()[f];
    return moduleColour(module < 0 ? -1 : this.ranks[module], shade, this.theme);
  }

  /** The colour of a function in tables.
   * @param {number} f */
  swatch(f) {
    const module = this.model.moduleOf()[f];
    if (f >= this.firstGroup()) return kindColour("group", 1, this.theme);
    return moduleColour(module === undefined || module < 0 ? -1 : this.ranks[module], shadeOf(this.model.name(f)), this.theme);
  }

  firstGroup() { return this.model.firstGroup; }

  /** Seconds of a time in the units of the tables.
   * @param {number} units */
  seconds(units) { return units * this.tables.head.unit / 1e9; }

  /** The name of a thread.
   * @param {number} id */
  threadName(id) {
    const [pid, tid, comm] = this.tables.head.threads[id];
    return `${comm || "?"} ${pid === tid ? tid : `${pid}/${tid}`}`;
  }

  /** What a chip says.
   * @param {Filter} filter */
  filterName(filter) {
    const at = "at" in filter && filter.at !== undefined ? filter.at : -1;
    const f = at >= 0 && at <= this.model.truncatedFunction() ? this.model.name(at, true) : "?";
    const module = at >= 0 && this.tables.head.modules[at] ? baseName(this.tables.head.modules[at].path) : "?";
    switch (filter.kind) {
      case "focus": return `focus on ${f}`;
      case "keep": return `only stacks with ${f}`;
      case "drop": return `no stacks with ${f}`;
      case "hide": return `without ${f}`;
      case "charge": return `${f} charged to its callers`;
      case "fold": return `${f} with all that it calls`;
      case "recursion": return at < 0 ? "recursion collapsed" : `recursion of ${f} collapsed`;
      case "module": return `only ${module}`;
      case "hideModule": return `without ${module}`;
      case "merge": return at < 0 ? "modules merged" : `${module} merged`;
      case "process": return `process ${filter.pid}`;
      case "comm": return `comm ${filter.comm || "?"}`;
      case "time": return `${this.seconds(filter.from).toFixed(3)} s to ${this.seconds(filter.to).toFixed(3)} s`;
      case "threads": return filter.ids.length === 1 && this.tables.head.threads[filter.ids[0]] ? `thread ${this.threadName(filter.ids[0])}` : `${filter.ids.length} threads`;
      default: return filter.ids.length === 1 && this.tables.head.threads[filter.ids[0]] ? `without thread ${this.threadName(filter.ids[0])}` : `without ${filter.ids.length} threads`;
    }
  }
}
