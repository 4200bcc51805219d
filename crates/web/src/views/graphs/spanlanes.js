// @ts-check
// Lanes of spans, and of labels as intervals: pictures, descriptions, and the choice of an interval.
import { hash } from "../../data/hash.js";
import { amount, duration } from "../../data/numbers.js";
import { filtersOf, hasKey, intervalAt, labelIntervals, packed, spanIntervals } from "../../data/samples/spans.js";
import { wordOf } from "../../data/samples/values.js";
import { styled } from "../elements/element.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("./lanes.js").Lane} Lane */
/** @typedef {import("../../data/samples/spans.js").Packed} Packed */

/** Distance from an interval that still selects it, in pixels. */
const NEAR = 2;

/** Lanes of spans and labels; none for most recordings.
 * @param {App} app @returns {Lane[]} */
export function spanLanes({ tables: { head } }) {
  const lane = (/** @type {"span" | "label"} */ kind, /** @type {string} */ name, /** @type {number} */ at) =>
    /** @type {Lane} */ ({ key: `${kind}:${name}`, kind, name, ids: [], at, count: 0, level: 0, inside: [] });
  const labels = (head.values ?? []).map((value, at) => ({ value, at })).filter(({ value }) => value.kind === "label");
  return [...(head.spans?.names ?? []).map((name, at) => lane("span", name, at)), ...labels.map(({ value, at }) => lane("label", value.name, at))];
}

/** @param {Lane} lane */
export const isInterval = ({ kind }) => kind === "span" || kind === "label";

export class SpanLanes {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @type {Map<string, Packed>} */
    this.known = new Map();
  }

  /** @param {Lane} lane @returns {Packed} */
  of(lane) {
    const { tables } = this.app, known = this.known.get(lane.key);
    if (known) return known;
    const made = packed(lane.kind === "span" ? spanIntervals(tables, lane.at) : labelIntervals(tables, lane.at));
    this.known.set(lane.key, made);
    return made;
  }

  /** Colour of an interval: that of its text; spans without a key have one.
   * @param {string} text */
  colour(text) {
    if (!text) return styled("--accent");
    return `hsl(${parseInt(hash(text).slice(-4), 36) % 360} 55% ${this.app.theme === "dark" ? 45 : 60}%)`;
  }

  /** @param {CanvasRenderingContext2D} pen @param {Lane} lane @param {number} width @param {number} height */
  paint(pen, lane, width, height) {
    const { intervals, track, tracks } = this.of(lane), scale = width / (this.app.tables.span + 1), high = height / tracks;
    const painted = new Float64Array(tracks).fill(-1);
    intervals.forEach(({ from, to, text }, at) => {
      const x = from * scale, end = Math.max(to * scale, x + 1), row = track[at];
      // Of many intervals on one pixel, the first is drawn.
      if (end <= painted[row]) return;
      painted[row] = Math.max(Math.ceil(end), painted[row]);
      pen.fillStyle = this.colour(text);
      pen.fillRect(x, row * high, Math.max(end - x - (end - x > 3 ? 1 : 0), 1), Math.max(high - 1, 1));
    });
  }

  /** Interval at a place of a lane.
   * @param {Lane} lane @param {number} share position in the lane, from 0 to 1 @param {number} row the same downwards
   * @param {number} width of the lane */
  at(lane, share, row, width) {
    const all = this.of(lane), each = (this.app.tables.span + 1) / Math.max(1, width);
    return all.intervals[intervalAt(all, share * this.app.tables.span, row, NEAR * each)];
  }

  /** @param {Lane} lane @param {number} share @param {number} row @param {number} width */
  describe(lane, share, row, width) {
    const { app } = this, { spans, head } = app.tables, found = this.at(lane, share, row, width), { intervals } = this.of(lane);
    if (!found) return [lane.name, `${amount(intervals.length)} ${lane.kind === "span" ? "spans" : "times with a value"}`];
    const lines = [found.text ? `${lane.name}: ${found.text}` : lane.name, app.timeText(found.from, found.to)];
    if (found.span >= 0 && spans) lines.push(`${duration(spans.spanDuration[found.span])}, self ${duration(spans.spanSelf[found.span])}`);
    else lines.push(duration((found.to - found.from) * head.unit));
    return [...lines, app.threadName(found.thread), hasKey(found) ? "a click selects its time, of all threads" : "a click selects its samples"];
  }

  /** Selects the samples of an interval. A click beside all of them removes the selection.
   * @param {Lane} lane @param {number} share @param {number} row @param {number} width */
  choose(lane, share, row, width) {
    const { app } = this, found = this.at(lane, share, row, width), others = app.state.filters.filter((filter) => filter.kind !== "time" && filter.kind !== "threads" && !(filter.kind === "value" && filter.name === lane.name));
    app.change({ filters: found ? [...others, ...filtersOf(found, lane.name)] : others, zoom: [] });
  }

  /** Groups samples by the label of a lane, or by nothing again.
   * @param {Lane} lane */
  pick(lane) {
    const { app } = this, value = app.tables.head.values?.[lane.at];
    if (lane.kind !== "label" || !value) return;
    const word = /** @type {import("../../data/samples/group.js").GroupBy} */ (wordOf(value));
    app.change({ group: app.state.group === word ? "none" : word, zoom: [] });
  }
}
