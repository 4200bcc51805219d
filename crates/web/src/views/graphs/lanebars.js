// @ts-check
// Pictures of the timeline's lanes: bars of samples, counters and markers of other events, and their descriptions.
import { kindColour, moduleColour } from "../../data/colour.js";
import { baseName } from "../../data/names.js";
import { amount, duration } from "../../data/numbers.js";
import { KINDS, MODULES, barCount, countBars, leafClasses, mostly, passingLeaves, sameLeaves } from "../../data/samples/bars.js";
import { samplesBy, samplesByThread } from "../../data/samples/order.js";
import { FRAME_FILTERS } from "../../data/tree/transform.js";
import { styled } from "../elements/element.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("./lanes.js").Lane} Lane */
/** @typedef {import("../../data/samples/bars.js").Bars} Bars */

/** Number of samples up to which each one of another event is a marker. */
const MARKERS = 200;
/** Number of lanes that determine the common scale. */
const SCALED = 40;

/** Counts of the lanes, cached until the tables, the width, the event, the colours or the filters change. */
export class LaneBars {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Map<string, Bars>} */
    this.counts = new Map();
    this.key = this.scale = "";
    this.cpus = 0;
    this.bars = this.most = 1;
    this.forget();
  }

  /** Forgets the counts, since the recording has grown. */
  forget() {
    const { tables } = this.app;
    this.tables = tables;
    /** Limit of the column of processors; 0 if it has fewer than two. */
    this.cpus = 0;
    if (tables.cpu) for (let i = 0; i < tables.samples; i++) this.cpus = Math.max(this.cpus, tables.cpu[i] + 1);
    if (this.cpus < 3) this.cpus = 0;
    /** @type {ReturnType<typeof samplesByThread> | null} */
    this.byThread = null;
    /** @type {ReturnType<typeof samplesByThread> | null} */
    this.byCpu = null;
    this.key = "";
    /** @type {import("../../data/samples/bars.js").Passing | null} */
    this.passing = null;
  }

  /** Prepares for a width and the state of the page.
   * @param {number} width @param {Lane} whole @param {"thread" | "cpu"} by kind of the lanes */
  look(width, whole, by) {
    const { app } = this, { state, model, event } = app, { chosen } = model;
    // Filters of frames matter by the leaves that they leave out: most of them leave out none.
    const filters = app.filters.filter((filter) => filter.kind !== "time" && !FRAME_FILTERS.includes(filter.kind)), leaves = model.once("passingLeaves", model.leavesKey || "", () => passingLeaves(model.to));
    const look = [width, event, state.colour, app.theme, state.kernel].join(" "), key = [look, state.truncated === "hidden", JSON.stringify(filters)].join(" ");
    if (key !== this.key || !sameLeaves(leaves, this.passing?.leaves ?? null)) {
      this.counts.clear();
      this.bars = barCount(width, whole.count);
      if (!this.classes || !this.key.startsWith(look + " ")) {
        this.classes = leafClasses(model, state.colour, app.ranks);
        // The scale is that of all samples; filters do not change it.
        this.scale = "";
      }
      this.key = key;
      this.passing = { event, threads: chosen?.threads ?? null, cpus: chosen?.cpus ?? null, kept: chosen?.kept ?? null, leaves };
      this.colours = Array.from({ length: this.classes.classes }, (_, at) => this.colour(at));
    }
    if (this.scale !== by) {
      this.scale = by;
      /** Samples of a bar as high as a lane; lanes of several threads may have more. */
      this.most = 1;
      const lanes = whole.inside.length ? whole.inside.flatMap((lane) => lane.inside.length ? lane.inside : [lane]) : [whole];
      for (const lane of lanes.sort((a, b) => b.count - a.count).slice(0, SCALED)) this.most = Math.max(this.most, top(this.of(lane)));
    }
  }

  /** Counts of a lane.
   * @param {Lane} lane */
  of(lane) {
    const known = this.counts.get(lane.key);
    if (known) return known;
    const made = countBars(this.app.tables, lane.kind === "event" ? { event: lane.at, threads: null, cpus: null, leaves: null } : /** @type {any} */ (this.passing),
      /** @type {any} */ (this.classes), this.bars, this.part(lane));
    this.counts.set(lane.key, made);
    return made;
  }

  /** Samples of a lane; null for all.
   * @param {Lane} lane @returns {{ list: Uint32Array, ranges: [number, number][] } | null} */
  part(lane) {
    const { tables } = this.app;
    if (lane.level === 0) return null;
    if (lane.kind === "cpu" && tables.cpu) {
      const { start, list } = this.byCpu ||= samplesBy(tables.cpu, this.cpus, tables.samples);
      return { list, ranges: [[start[lane.at + 1], start[lane.at + 2]]] };
    }
    const { start, list } = this.byThread ||= samplesByThread(tables);
    return { list, ranges: lane.ids.map((id) => [start[id], start[id + 1]]) };
  }

  /** Module of a class; the last class contains several.
   * @param {number} at */
  module(at) { return at > 0 && at <= MODULES ? this.app.ranks.indexOf(at - 1) : -1; }

  /** @param {number} at class */
  colour(at) {
    const { state, theme } = this.app;
    if (state.colour === "kind") return at ? kindColour(KINDS[at - 1], 2, theme) : moduleColour(-1, 2, theme);
    return moduleColour(this.module(at) < 0 ? -1 : at - 1, 2, theme);
  }

  /** Samples of a bar as high as the lane.
   * @param {Lane} lane */
  height(lane) { return lane.ids.length > 1 || lane.kind === "event" ? Math.max(lane.kind === "event" ? 1 : this.most, top(this.of(lane))) : this.most; }

  /** @param {CanvasRenderingContext2D} pen @param {Lane} lane @param {number} width @param {number} height */
  paint(pen, lane, width, height) {
    if (lane.kind === "event" && lane.count <= MARKERS) { this.paintMarkers(pen, lane, width, height); return; }
    const counts = this.of(lane), { bars, whole, shown, cut } = counts, scale = height / this.height(lane), wide = width / bars;
    const grey = styled("--cut"), counter = styled("--accent"), isEvent = lane.kind === "event";
    for (let bar = 0; bar < bars; bar++) {
      if (!whole[bar]) continue;
      const left = Math.round(bar * wide), w = Math.round((bar + 1) * wide) - left - (wide >= 4 ? 1 : 0);
      const fill = (/** @type {number} */ low, /** @type {number} */ high, /** @type {string} */ colour, /** @type {number} */ alpha) => {
        if (high <= low) return;
        pen.globalAlpha = alpha;
        pen.fillStyle = colour;
        const y = height - Math.max(high * scale, 1);
        pen.fillRect(left, y, w, height - low * scale - y);
      };
      // Truncated stacks and samples that the filters omit are paler, above the others.
      fill(shown[bar], whole[bar], grey, 0.3);
      if (isEvent) { fill(0, shown[bar], counter, 0.8); continue; }
      const colour = /** @type {string[]} */ (this.colours)[mostly(counts, bar)];
      fill(shown[bar] - cut[bar], shown[bar], colour, 0.55);
      fill(0, shown[bar] - cut[bar], colour, 1);
    }
    pen.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} pen @param {Lane} lane @param {number} width @param {number} height */
  paintMarkers(pen, lane, width, height) {
    const { time, event, samples, span } = this.app.tables;
    pen.fillStyle = styled("--accent");
    for (let i = 0; i < samples; i++) if (event[i] === lane.at) pen.fillRect(time[i] / (span + 1) * width - 1, 2, 2, height - 4);
  }

  /** Description of a bar.
   * @param {Lane} lane @param {number} share position in the lane, from 0 to 1 */
  describe(lane, share) {
    const { app } = this, counts = this.of(lane), { bars, whole, shown, cut } = counts, { span, head } = app.tables;
    const bar = Math.min(bars - 1, Math.floor(share * bars)), each = (span + 1) / bars, n = whole[bar], of = lane.kind === "event" ? ` of ${lane.name}` : "";
    const lines = [lane.name, `${app.seconds(bar * each).toFixed(4)} s to ${app.seconds((bar + 1) * each).toFixed(4)} s: ${amount(n)} sample${n === 1 ? "" : "s"}${of}`];
    if (lane.kind === "event") return [...lines, `${amount(lane.count)} in all; a click shows this event`];
    if (shown[bar] < n) lines.push(`${amount(shown[bar])} of them pass the filters`);
    if (cut[bar]) lines.push(`${amount(cut[bar])} with truncated stacks`);
    if (shown[bar]) {
      const most = mostly(counts, bar), module = this.module(most);
      const name = app.state.colour === "kind" ? KINDS[most - 1] || "without a frame" : module >= 0 ? baseName(head.modules[module].path) : most > MODULES ? "other modules" : "without a module";
      lines.push(`most: ${name}, ${amount(counts.by[bar * counts.classes + most])}`);
    }
    lines.push(`full height: ${amount(this.height(lane))} samples in ${duration(each * head.unit)}`);
    return lines;
  }
}

/** Maximum number of samples in a bar.
 * @param {Bars} counts */
function top({ whole }) {
  let most = 0;
  for (let bar = 0; bar < whole.length; bar++) most = Math.max(most, whole[bar]);
  return most;
}
