// @ts-check
// Intervals of the timeline: spans, and labels as long as a thread has them. Several are drawn one below the other.

/** @typedef {import("../columns.js").Tables} Tables */
/** Interval in units of time. `span` is its row in the spans, or negative for a label; `text` is its key or value.
 * @typedef {{ from: number, to: number, thread: number, span: number, text: string }} Interval */
/** Intervals in ascending order of their begin, with the track of each.
 * @typedef {{ intervals: Interval[], track: Uint16Array, tracks: number }} Packed */

/** Largest number of tracks; further intervals share the last one. */
const TRACKS = 4;

/** Spans of a name.
 * @param {Tables} tables @param {number} name @returns {Interval[]} */
export function spanIntervals({ head, spans, time, thread, span }, name) {
  if (!spans || !head.spans) return [];
  const { spanName, spanSample, spanKey, spanDuration } = spans, made = [];
  for (let at = 0; at < spanName.length; at++) {
    if (spanName[at] !== name) continue;
    const sample = spanSample[at], from = time[sample], to = Math.min(from + Math.floor(spanDuration[at] / head.unit), span);
    made.push({ from, to, thread: thread[sample], span: at, text: spanKey[at] ? head.spans.keys[spanKey[at] - 1] : "" });
  }
  return made;
}

/** Times in which a thread has a label. It ends at the thread's first sample with another value or none.
 * @param {Tables} tables @param {number} at the label @returns {Interval[]} */
export function labelIntervals({ head, values, time, thread, samples }, at) {
  const column = values[at], { texts, missing } = /** @type {any} */ (head.values)[at];
  /** @type {(Interval & { value: number } | null)[]} */
  const open = head.threads.map(() => null);
  /** @type {Interval[]} */
  const made = [];
  for (let i = 0; i < samples; i++) {
    const id = thread[i], value = column[i], last = open[id];
    if (last) last.to = time[i];
    if (last?.value === value) continue;
    open[id] = missing[value] ? null : { from: time[i], to: time[i], thread: id, span: -1, text: texts[value], value };
    const next = open[id];
    if (next) made.push(next);
  }
  return made;
}

/** Places intervals one below the other where they overlap.
 * @param {Interval[]} intervals @returns {Packed} */
export function packed(intervals) {
  intervals.sort((a, b) => a.from - b.from || b.to - a.to);
  const ends = /** @type {number[]} */ ([]), track = new Uint16Array(intervals.length);
  /** @type {Map<number, number>} */
  const last = new Map();
  intervals.forEach(({ from, to, thread }, at) => {
    // A thread stays in its track, if that is free.
    const before = last.get(thread) ?? -1;
    let place = before >= 0 && ends[before] <= from ? before : ends.findIndex((end) => end <= from);
    if (place < 0) place = Math.min(ends.length, TRACKS - 1);
    track[at] = place;
    last.set(thread, place);
    ends[place] = Math.max(ends[place] ?? 0, to);
  });
  return { intervals, track, tracks: Math.max(1, ends.length) };
}

/** Interval at a place: the shortest one that is at most `slack` away; negative for none.
 * @param {Packed} all @param {number} time @param {number} share of the height @param {number} slack in units of time */
export function intervalAt({ intervals, track, tracks }, time, share, slack) {
  const wanted = Math.min(tracks - 1, Math.floor(share * tracks));
  let found = -1, best = Infinity;
  for (let at = 0; at < intervals.length && intervals[at].from <= time + slack; at++) {
    const { from, to } = intervals[at], length = to - from;
    if (track[at] === wanted && to >= time - slack && length < best) { found = at; best = length; }
  }
  return found;
}

/** Returns true for a span with a key, which can have samples of any thread.
 * @param {Interval} interval */
export const hasKey = ({ span, text }) => span >= 0 && text !== "";

/** Filters that leave the samples inside an interval; of a span with a key, those of its time.
 * @param {Interval} interval @param {string} name of the spans or of the label
 * @returns {import("./select.js").SampleFilter[]} */
export function filtersOf(interval, name) {
  const { from, to, thread, span, text } = interval;
  if (hasKey(interval)) return [{ kind: "time", from, to }];
  // A label's time ends at a sample with another value.
  const value = span < 0 ? [{ kind: /** @type {const} */ ("value"), name, text }] : [];
  return [{ kind: "time", from, to }, { kind: "threads", ids: [thread] }, ...value];
}
