// @ts-check
// Page of a live recording: the tables change, the reader's view persists.
import { NONE } from "../data/columns.js";
import { toFragment } from "../data/state.js";
import { App } from "../views/app.js";
import { from, numbersOf, recorders, withNumbers, withoutNumbers } from "./renumber.js";

/** @typedef {import("./tables.js").LiveTables} LiveTables */
/** @typedef {import("../data/model.js").Filter} Filter */

/** Reason for missing instructions and sources, which are available for complete recordings only. */
const LATER = "Available once the recording is complete and stored: unwind-perf live -o KEEP.perf.";

export class LiveApp extends App {
  /** @param {LiveTables} live @param {number[]} processes process ids of the service */
  constructor(live, processes) {
    super(live.tables(), { blocks: () => [], at: async () => null, why: LATER }, { known: () => null, ask: async () => null, why: LATER });
    this.live = live;
    this.processes = processes;
    this.state = from(this.state, live.from);
    this.recorders = recorders(this.tables.head.threads, this.processes);
  }

  /** Effective filters: those of the state, plus the last seconds if no other time is selected, and the exclusion of
   * recorders.
   * @returns {Filter[]} */
  get filters() {
    const { filters, last, own } = this.state, more = filters.slice();
    if (this.looksAtLast) more.push({ kind: "time", from: Math.max(0, Math.round(this.tables.span - last * 1e9 / this.tables.head.unit)), to: NONE });
    if (own === "hidden" && this.recorders?.length) more.push({ kind: "notThreads", ids: this.recorders });
    return more;
  }

  /** Shows the state; shifts its times if it comes from an older address with another time origin. */
  refresh() {
    this.state = from(this.state, this.live.from);
    super.refresh();
  }

  /** True if only the last seconds are shown. */
  get looksAtLast() { return this.state.last > 0 && !this.state.filters.some((filter) => filter.kind === "time"); }

  /** Shows the current tables, or those of `live`. */
  update(live = this.live) {
    const before = numbersOf(this.model), stays = live === this.live || live.continues(this.live);
    this.live = live;
    this.turnTo(live.tables(), stays);
    this.recorders = recorders(this.tables.head.threads, this.processes);
    const address = toFragment(this.state);
    let state = from(this.state, live.from);
    if (!stays) state = withoutNumbers(state);
    else if (this.namesMore(before)) {
      // The number of groups is known only after counting.
      this.state = { ...state, filters: [], zoom: [] };
      this.count();
      state = withNumbers(state, before, numbersOf(this.model));
    }
    this.state = state;
    const after = toFragment(state);
    if (after !== address) history.replaceState(null, "", "#" + this.address());
    this.refresh();
  }

  /** Returns true if the state contains numbers above those of functions.
   * @param {import("./renumber.js").Numbers} before */
  namesMore(before) {
    const { filters, zoom, func } = this.state, all = [func, ...zoom, ...filters.map((filter) => "at" in filter ? filter.at ?? -1 : -1)];
    return all.some((f) => f >= before.functions);
  }

  /** Marks the time of the newest sample. */
  mark() {
    const { marks } = this.state, now = this.tables.span;
    if (now > 0 && !marks.includes(now)) this.change({ marks: [...marks, now].sort((a, b) => a - b) });
  }

  /** Compares the time between two marks with the time before them or with the rest; or the time before a mark with the
   * time after it.
   * @param {number} one @param {number | null} other @param {"before" | "rest"} what */
  compareMarks(one, other, what) {
    const filters = this.state.filters.filter((filter) => filter.kind !== "time"), start = Math.max(1, one);
    const to = other === null ? NONE : other - 1;
    /** @type {[number, number]} */
    const base = what === "rest" && other !== null ? [other, start - 1] : [0, start - 1];
    this.change({ filters: [...filters, { kind: "time", from: start, to }], base, zoom: [], view: "compare" });
  }
}
