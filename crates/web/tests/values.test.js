// Values of samples and spans: groups, filters, rows, links, and the intervals of the timeline.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, stateOf } from "../src/data/links.js";
import { Model } from "../src/data/model.js";
import { filtersOf, intervalAt, labelIntervals, packed, spanIntervals } from "../src/data/samples/spans.js";
import { costRows, filterOfRow } from "../src/data/samples/threads.js";
import { START } from "../src/data/state.js";
import { runOptions } from "../src/service/api.js";
import { VIEW, foldedStacks, tables } from "./tables.js";

const QUERY = { query: "select a=1; b" }, THREADS = [[1, 1, "a", "p"], [1, 2, "b", "p"]];
const made = tables([
  { stack: ["main", "f"], time: 0, thread: 0, values: QUERY, spans: [{ name: "request", duration: 2500, own: 1500 }] },
  { stack: ["main", "g"], time: 1000, thread: 0, values: QUERY, spans: [{ name: "request", duration: 1000 }] },
  { stack: ["main", "g"], time: 1500, thread: 1, values: { query: "other" }, spans: [{ name: "request", key: "7", duration: 500 }] },
  { stack: ["main", "f"], time: 2500, thread: 0 },
  { stack: ["main", "f"], time: 4000, thread: 0, values: QUERY },
], { threads: THREADS, values: { query: "label" } });
const model = new Model(made), { text } = { text: QUERY.query };

test("values group and filter samples", () => {
  model.look({ ...VIEW, group: "value:query" });
  assert.deepEqual(foldedStacks(model), { [`${text};main;f`]: 2, [`${text};main;g`]: 1, "other;main;g": 1, "[no value];main;f": 1 });
  const [row] = costRows(model, "value:query"), filter = filterOfRow(model, "value:query", row);
  assert.deepEqual([row.name, row.n, filter], [text, 3, { kind: "value", name: "query", text }]);
  model.look({ ...VIEW, filters: [filter] });
  assert.deepEqual(foldedStacks(model), { "main;f": 2, "main;g": 1 });
  assert.deepEqual(costRows(model, "thread").map(({ name, n }) => [name, n]), [["a 1", 3]]);
  model.look({ ...VIEW, filters: [filter, { kind: "value", name: "query", text: "other" }] });
  assert.deepEqual(foldedStacks(model), {});
  model.look({ ...VIEW, group: "value:query", filters: [{ kind: "time", from: 1000, to: 2000 }] });
  assert.deepEqual(foldedStacks(model), { [`${text};main;g`]: 1, "other;main;g": 1 });
});

test("an address has the group, the rows and the values of filters", () => {
  const state = { ...START, group: "value:query", rows: "value:query", filters: [{ kind: "value", name: "query", text }, { kind: "value", name: "f(a=b)", text: "" }] };
  const read = stateOf(model, addressOf(model, state));
  assert.deepEqual([read.state.group, read.state.rows, read.state.filters, read.missing], ["value:query", "value:query", state.filters, []]);
  const other = stateOf(model, "group=value:nothing");
  assert.deepEqual([other.state.group, other.missing], ["none", ["This recording has no label or field nothing; the link's group is omitted."]]);
});

test("recordings without values have neither groups nor intervals", () => {
  const plain = tables([{ stack: ["main"] }]);
  assert.deepEqual([plain.values, plain.spans, spanIntervals(plain, 0)], [[], null, []]);
  assert.equal(stateOf(new Model(plain), "").state.group, "none");
});

test("spans are intervals of their thread, and overlapping ones have tracks", () => {
  const { intervals, track, tracks } = packed(spanIntervals(made, 0));
  assert.deepEqual(intervals.map(({ from, to, thread, text: key }) => [from, to, thread, key]), [[0, 2500, 0, ""], [1000, 2000, 0, ""], [1500, 2000, 1, "7"]]);
  assert.deepEqual([[...track], tracks], [[0, 1, 2], 3]);
  const at = (time, share, slack = 0) => intervalAt({ intervals, track, tracks }, time, share, slack);
  assert.deepEqual([at(500, 0.1), at(1200, 0.5), at(900, 0.5), at(900, 0.5, 100), at(3000, 0.9)], [0, 1, -1, 1, -1]);
  assert.deepEqual(filtersOf(intervals[0], "request"), [{ kind: "time", from: 0, to: 2500 }, { kind: "threads", ids: [0] }]);
  assert.deepEqual(filtersOf(intervals[2], "request"), [{ kind: "time", from: 1500, to: 2000 }]);
});

test("a label is an interval as long as its thread has it", () => {
  const found = labelIntervals(made, 0).map(({ from, to, thread, text: value }) => [from, to, thread, value]);
  assert.deepEqual(found, [[0, 2500, 0, text], [1500, 1500, 1, "other"], [4000, 4000, 0, text]]);
  const [first] = labelIntervals(made, 0);
  model.look({ ...VIEW, filters: filtersOf(first, "query") });
  assert.deepEqual(foldedStacks(model), { "main;f": 1, "main;g": 1 }, "the sample at the end has no value");
});

test("many overlapping intervals share the last track", () => {
  const { track, tracks } = packed(Array.from({ length: 9 }, (_, at) => ({ from: at, to: 100, thread: 0, span: at, text: "" })));
  assert.deepEqual([[...track], tracks], [[0, 1, 2, 3, 3, 3, 3, 3, 3], 4]);
});

test("options in the address of a served page are those of a run", () => {
  const text = "?label=query%3Dp:r/query&where=state=1&where=query=a*&inlines=false&max_frames=7&redact=12";
  assert.deepEqual(runOptions(text), { label: "query=p:r/query", where: ["state=1", "query=a*"], inlines: false, max_frames: 7, redact: "12" });
  assert.deepEqual(runOptions(""), {});
});
