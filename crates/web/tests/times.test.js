// Comparison of two times of one recording: units, the direction, and the marks that its sentence counts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ranked } from "../src/data/compare/compare.js";
import { compareTimes, measureOf, scaleOfTimes } from "../src/data/compare/times.js";
import { Model } from "../src/data/model.js";
import { scaled } from "../src/data/numbers.js";
import { changedText, changedWords } from "../src/views/compare/changes.js";
import { VIEW, tables } from "./tables.js";

const CLOCK = { name: "cpu-clock", unit: "nanoseconds", period: 4e6, rate: 250, frequency: 1 };
const COUNT = { name: "cycles", unit: "count", period: null, rate: 1, frequency: 0 };

/** The selection is the first half of 1,000 units, the baseline the later one of 2,000; a unit is a millisecond. */
function compared(event, first, second, more = []) {
  const rows = [];
  for (const [half, weights] of [first, second].entries()) {
    for (const [name, n] of Object.entries(weights)) rows.push({ stack: ["main", ...name.split("/")], n, time: half * 1000 + 1, cpu: 0 });
  }
  const model = new Model(tables([...rows, ...more], { events: [event], unit: 1e6 })), filters = [{ kind: "time", from: 0, to: 999 }, { kind: "cpu", cpu: 0 }];
  model.look({ ...VIEW, filters });
  const measure = measureOf(event, "samples"), made = compareTimes(model, [[1000, 2999]], filters, (from, to) => (to - from + 1) / 1000, measure);
  return { ...made, measure, model, row: (name) => made.rows.find((row) => model.name(row.key) === name) };
}

test("samples of a clock are times per second, in the direction of the selection", () => {
  const { row, compared: { all }, compared: sides, measure, before } = compared(CLOCK, { a: 50, b: 100 }, { a: 250, b: 100 });
  assert.deepEqual([all.before, all.after, before.allN], [7e8, 6e8, 350]);
  assert.deepEqual(scaleOfTimes(sides, measure), [1e6, 1, " ms/s"]);
  assert.deepEqual([row("a").own.before, row("a").own.after, row("b").own.delta], [5e8, 2e8, 2e8]);
  assert.equal(scaled(row("a").own.delta, scaleOfTimes(sides, measure), true), "-300.0 ms/s");
});

test("other events have shares of each time", () => {
  const { row, compared: { all, method }, compared: sides, measure } = compared(COUNT, { a: 50, b: 150 }, { a: 300, b: 100 });
  assert.deepEqual([all.before, all.after, method], [1, 1, "proportions"]);
  assert.deepEqual([row("a").own.before, row("a").own.after], [0.75, 0.25]);
  assert.equal(scaled(row("a").own.delta, scaleOfTimes(sides, measure), true), "-50.00 %");
  assert.equal(row("a").own.marked, true);
  assert.equal(compared(COUNT, { a: 5 }, {}).compared.method, "unknown");
});

test("both times have the filter by processor", () => {
  const { before, model } = compared(CLOCK, { a: 10 }, { a: 30 }, [{ stack: ["main", "a"], n: 7, time: 1500, cpu: 1 }]);
  assert.deepEqual([before.allN, model.costs.allN], [30, 10]);
});

test("the sentence counts the rows that the table marks", () => {
  // `outer` changes by its callee only, which has the same own cost in another place.
  const { rows, row, tested } = compared(CLOCK, { "outer/leaf": 500, leaf: 10 }, { "outer/leaf": 10, leaf: 1010 });
  assert.deepEqual([changedWords(row("leaf")), changedWords(row("outer")), changedWords(row("main"))], ["", "inclusive more", ""]);
  assert.equal(changedText(rows, tested), "Own cost: 0 of 1 functions changed significantly; inclusive cost: 1 of 3.");
  assert.equal(ranked(rows, "own")[0], row("outer"), "sorted by own cost, it comes first");
  const change = (marked, delta) => ({ marked, delta });
  assert.equal(changedWords({ own: change(true, 1), total: change(true, -1) }), "own more, inclusive less");
  assert.equal(changedWords({ own: change(true, -1), total: change(true, -1) }), "less");
  assert.equal(changedWords({ own: change(true, -1), total: change(false, -1) }), "own less");
});
