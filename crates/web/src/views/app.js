// @ts-check
// Page of a profile: its state, the engine, and descriptions of the shown data.
import { NONE } from "../data/columns.js";
import { stacksOf } from "../data/export/stacks.js";
import { Model } from "../data/model.js";
import { amount, duration, percent, spread } from "../data/numbers.js";
import { Plot } from "./graphs/plot.js";
import { Shell } from "./shell.js";

/** @typedef {import("../data/columns.js").Tables} Tables */
/** @typedef {import("../data/model.js").Filter} Filter */
/** @typedef {import("../data/tree/around.js").CostPicture} CostPicture */
/** @typedef {import("./shell.js").ViewPart} ViewPart */

export class App extends Shell {
  /** @param {Tables} tables @param {import("./source.js").CodeSource} code @param {import("./source.js").TextSource} texts */
  constructor(tables, code, texts) {
    const model = new Model(tables), { head } = tables;
    super(model);
    this.tables = tables;
    this.code = code;
    this.plot = new Plot();
    this.texts = texts;
    /** @type {Model} */
    this.model = model;
    this.eventCounts = this.countEvents();
    this.firstEvent = this.defaultEvent();
    if (this.firstEvent === head.offCpu && location.hash.length < 2) this.state.weight = "period";
    this.ranks = this.moduleRanks();
  }

  /** Samples by event. */
  countEvents() {
    const { head, samples, event } = this.tables, counts = new Float64Array(head.events.length);
    if (counts.length === 1) counts[0] = samples;
    else for (let i = 0; i < samples; i++) counts[event[i]]++;
    return counts;
  }

  /** Default event: off-CPU time if it was requested, else the first recorded event with samples. */
  defaultEvent() {
    const { offCpu, offCpuLater } = this.tables.head;
    if (offCpu === undefined) return this.firstWithSamples();
    const recorded = this.eventCounts.findIndex((count, event) => count > 0 && event !== offCpu);
    return offCpuLater && recorded >= 0 ? recorded : offCpu;
  }

  firstWithSamples() { return Math.max(0, this.eventCounts.findIndex((count) => count > 0)); }

  /** Replaces the tables.
   * @param {Tables} tables @param {boolean} grown true if they extend the earlier ones */
  turnTo(tables, grown) {
    const { short } = this.model, ranks = this.ranks;
    this.tables = tables;
    this.model = new Model(tables);
    if (grown) this.model.short = short;
    this.eventCounts = this.countEvents();
    this.firstEvent = this.defaultEvent();
    this.ranks = grown ? this.previousRanks(ranks) : this.moduleRanks();
  }

  /** Extends the earlier ranks, so that modules keep their colours and new ones follow.
   * @param {Int32Array<ArrayBuffer>} before */
  previousRanks(before) {
    const now = this.moduleRanks();
    if (now.length === before.length) return before;
    const fresh = [...now.keys()].slice(before.length).sort((a, b) => now[a] - now[b]), made = new Int32Array(now.length);
    made.set(before);
    fresh.forEach((module, at) => { made[module] = before.length + at; });
    return made;
  }

  /** Ranks of modules by their cost in the whole recording, which determine their colours. */
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

  /** Costs of the current view. */
  get costs() { return /** @type {import("../data/model.js").Costs} */ (this.model.costs); }

  /** Effective filters: those of the state; subclasses may add implicit ones. */
  get filters() { return this.state.filters; }

  /** Time ranges of the baseline: one range, or the two around a range.
   * @returns {[number, number][]} */
  baseTimes() {
    const { base } = this.state;
    if (!base) return [];
    return base[0] > base[1] ? [[0, base[1]], [base[0], NONE]] : [base];
  }

  count() {
    const { weight, truncated, group, kernel } = this.state;
    this.model.look({ event: this.event, weight: this.model.weighs ? weight : "samples", truncated, group, kernel, filters: this.filters });
  }

  /** Shows an event. Times off the processor are compared by duration, not by number.
   * @param {number} event */
  showEvent(event) {
    const { offCpu } = this.tables.head;
    this.change({ event, zoom: [], weight: event === offCpu ? "period" : this.event === offCpu ? "samples" : this.state.weight });
  }

  /** @returns {import("../data/export/stacks.js").Stacks} */
  stacks() {
    const { title, events } = this.tables.head;
    return { ...stacksOf(this.model), notes: [title, `event: ${events[this.event].name}`, ...this.filters.map((filter) => `filter: ${this.filterName(filter)}`)] };
  }

  /** @param {number} cost */
  cost(cost) {
    const time = this.state.weight === "period" && this.tables.head.events[this.event]?.unit === "nanoseconds";
    return time ? duration(cost) : amount(cost);
  }

  /** Cost with its unit.
   * @param {number} cost */
  costText(cost) {
    if (this.state.weight === "samples") return `${amount(cost)} sample${cost === 1 ? "" : "s"}`;
    return this.tables.head.events[this.event]?.unit === "nanoseconds" ? duration(cost) : `${amount(cost)} events`;
  }

  /** Cost of leaves with its unit, and the interval of its share if each sample counts 1: leaves have no squares of costs.
   * @param {number} cost */
  leafText(cost) {
    const { all } = this.costs, range = this.state.weight === "samples" ? spread(cost, all, cost, all) : "";
    return this.costText(cost) + (range ? `, ${range}` : "");
  }

  /** Duration of `n` samples if the event is a clock; else empty.
   * @param {number} n */
  time(n) {
    const event = this.tables.head.events[this.event];
    if (event?.unit === "nanoseconds" && event.period) return duration(n * event.period);
    return "";
  }

  /** Share of a cost, with its confidence interval.
   * @param {number} cost @param {number} squares of its samples' costs */
  share(cost, squares) {
    const { all, allSquares } = this.costs, range = spread(cost, all, squares, allSquares);
    return percent(cost, all) + (range ? ` (${range})` : "");
  }

  /** Description of a node: a title, and lines.
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
    const inZoom = zoom !== NONE && zoom !== node ? `, ${percent(total, picture.total[zoom])} of the zoomed part` : "";
    lines.push(`inclusive ${this.share(total, picture.squares[node])}${inZoom}: ${of(total, picture.n[node])}`);
    const ownZoom = zoom !== NONE && zoom !== node ? `, ${percent(own, picture.total[zoom])} of the zoomed part` : "";
    lines.push(`own ${this.share(own, picture.ownSquares[node])}${ownZoom}: ${of(own, picture.ownN[node])}`);
    return lines;
  }

  /** Location of a node's code, and its marks.
   * @param {import("../data/tree/tree.js").Tree} tree @param {number} node */
  where(tree, node) {
    const f = tree.func[node], src = tree.src[node], lines = [];
    if (f >= this.model.functions) {
      return f === this.model.truncatedFunction() ? ["the outer frames of these stacks are missing"] : [];
    }
    const { file, line } = this.model.lineOf(f, src === NONE ? 0 : /** @type {any} */ (this.model.baseLine)[src]);
    const more = src === NONE ? 0 : /** @type {any} */ (this.model.lineCount)[src] - 1;
    if (file) lines.push(file + (line ? `:${line}` : "") + (more > 0 ? ` (and ${more} more line${more > 1 ? "s" : ""})` : ""));
    if (this.model.module(f)) lines.push("in " + this.model.module(f));
    const marks = this.marks(tree, node);
    if (marks.length) lines.push(marks.join(", "));
    return lines;
  }

  /** Converts units of the tables to seconds.
   * @param {number} units */
  seconds(units) { return units * this.tables.head.unit / 1e9; }

  /** Time range as text.
   * @param {number} from @param {number} to */
  timeText(from, to) { return `${this.seconds(from).toFixed(3)} s to ${to === NONE ? "the end" : `${this.seconds(to).toFixed(3)} s`}`; }

  /** Name of a thread.
   * @param {number} id */
  threadName(id) {
    const [pid, tid, comm] = this.tables.head.threads[id];
    return `${comm || "?"} ${pid === tid ? tid : `${pid}/${tid}`}`;
  }

  /** Text of a filter's chip.
   * @param {Filter} filter */
  filterName(filter) {
    const { threads } = this.tables.head;
    switch (filter.kind) {
      case "process": return `process ${filter.pid}`;
      case "comm": return `comm ${filter.comm || "?"}`;
      case "cpu": return `CPU ${filter.cpu}`;
      case "value": return `${filter.name} = ${filter.text}`;
      case "cgroup": return `control group ${filter.cgroup || "?"}`;
      case "time": return this.timeText(filter.from, filter.to);
      case "threads": return filter.ids.length === 1 && threads[filter.ids[0]] ? `thread ${this.threadName(filter.ids[0])}` : `${filter.ids.length} threads`;
      case "notThreads": return filter.ids.length === 1 && threads[filter.ids[0]] ? `without thread ${this.threadName(filter.ids[0])}` : `without ${filter.ids.length} threads`;
      default: return super.filterName(filter);
    }
  }
}
