// Comparisons: equal sides do not differ, both directions agree, chance is not marked, a planted change is found.
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, mark } from "../src/data/compare/change.js";
import { Comparison, lean, ranked } from "../src/data/compare/compare.js";
import { Model } from "../src/data/model.js";
import { selection } from "../src/data/samples/select.js";
import { discoveryLimit, normalP, student95, studentP } from "../src/data/compare/statistics.js";
import { VIEW, tables } from "./tables.js";

/** Recording of two halves of 1,000 units each; `weights` by half and function. */
function halves(first, second, view = VIEW) {
  const rows = [];
  for (const [half, weights] of [first, second].entries()) {
    for (const [name, n] of Object.entries(weights)) rows.push({ stack: ["main", name], n, time: half * 1000 + 1, period: view.weight === "period" ? 10 : undefined });
  }
  const model = new Model(tables(rows));
  model.look(view);
  const side = (from, to) => {
    const costs = model.count(selection(model.tables, [{ kind: "time", from, to }])), all = { n: costs.allN, cost: costs.all, squares: costs.allSquares };
    return [{ own: { n: costs.ownN, cost: costs.own, squares: costs.ownSquares }, all, whole: all, factor: 1 }];
  };
  return { model, before: side(0, 999), after: side(1000, 1999) };
}
function compared({ model, before, after }) {
  const made = new Comparison(model.tree, model.children, [before, after], "rates", false);
  return { made, rows: made.byKey(model.identity(), model.truncatedFunction() + 1).rows };
}
const marked = (model, rows) => rows.filter((row) => row.own.marked).map((row) => model.name(row.key));
const near = (is, should, part = 1e-9) => assert.ok(Math.abs(is - should) <= part * Math.abs(should), `${is}, not ${should}`);

test("a time does not differ from itself", () => {
  const { model, before } = halves({ a: 500, b: 300 }, { a: 1 }), { made, rows } = compared({ model, before, after: before });
  for (const { own, total } of rows) assert.deepEqual([own.delta, own.marked, own.p, total.delta, total.marked], [0, false, 1, 0, false]);
  assert.equal([...made.sureNodes(new Map(rows.map((row) => [row.key, row])))].some(Boolean), false);
});

test("both directions are each other's negative", () => {
  const { model, before, after } = halves({ a: 500, b: 300, c: 3 }, { a: 300, b: 310, d: 40 });
  const back = new Map(compared({ model, before: after, after: before }).rows.map((row) => [row.key, row]));
  for (const row of compared({ model, before, after }).rows) {
    for (const which of ["own", "total"]) {
      const one = row[which], other = back.get(row.key)[which];
      assert.deepEqual([one.delta + other.delta, one.low + other.high, one.p, one.marked], [0, 0, other.p, other.marked]);
    }
  }
});

test("own costs sum up to all, and to those of the outermost node", () => {
  const { model, before, after } = halves({ a: 500, b: 300, c: 3 }, { a: 300, b: 310, d: 40 }), { made, rows } = compared({ model, before, after });
  const sum = (side) => rows.reduce((all, row) => all + row.own[side], 0);
  assert.deepEqual([sum("before"), sum("after"), made.before[0], made.after[0]], [803, 650, 803, 650]);
  assert.deepEqual([made.all.before, made.all.after], [803, 650]);
});

test("chance is not marked, a change comes first", () => {
  const same = {}, noisy = {};
  for (let at = 0; at < 60; at++) {
    same[`f${at}`] = 50;
    // One standard deviation from 50, as expected by chance.
    noisy[`f${at}`] = 50 + (at % 2 ? 7 : -7);
  }
  const quiet = halves(same, noisy);
  assert.deepEqual(marked(quiet.model, compared(quiet).rows), []);
  const planted = halves(same, { ...noisy, f7: 150 }), { rows } = compared(planted);
  assert.deepEqual(marked(planted.model, rows), ["f7"]);
  assert.equal(planted.model.name(ranked(rows, "own")[0].key), "f7");
});

/** Values of the command's own tests: crates/profile/src/query/diff/confidence.rs. */
const weight = (n, each = 1) => ({ n, cost: n * each, squares: n * each * each });
const part = (n, all, factor, each) => ({ weight: weight(n, each), all: weight(all, each), factor });

test("rates", () => {
  const change = changeOf("rates", false, [part(100, 1000, 0.1)], [part(144, 1000, 0.1)]);
  near(change.delta, 4.4);
  near(change.p, 0.004850300457, 1e-6);
  near(change.low, 4.4 - 0.1 * 1.959963984540054 * Math.sqrt(244));
  // After 50 events in ten times the time, none in a short time is weak evidence.
  near(changeOf("rates", false, [part(50, 1000, 1)], [part(0, 100, 10)]).p, normalP(50 / Math.sqrt(50 / 1.1 * 11)));
});

test("proportions", () => {
  const change = changeOf("proportions", true, [part(100, 1000, 0.001)], [part(144, 1000, 0.001)]);
  near(change.p, normalP(0.044 / Math.sqrt(0.122 * 0.878 * 0.002)));
  near(change.low, 0.044 - 1.959963984540054 * Math.sqrt(0.1 * 0.9 / 1000 + 0.144 * 0.856 / 1000));
  const all = changeOf("proportions", true, [part(1000, 1000, 0.001)], [part(1000, 1000, 0.001)]);
  assert.deepEqual([all.p, all.low, all.high], [1, 0, 0]);
});

test("weights do not make samples surer", () => {
  const light = changeOf("rates", false, [part(40, 1000, 1)], [part(70, 1000, 1)]), heavy = changeOf("rates", false, [part(40, 1000, 1, 10)], [part(70, 1000, 1, 10)]);
  near(heavy.p, light.p);
  assert.equal(heavy.delta, 300);
  near(heavy.low, 10 * light.low);
  // The same applies to two times of a recording with sample periods.
  const weighed = halves({ a: 40, b: 960 }, { a: 70, b: 930 }, { ...VIEW, weight: "period" }), row = compared(weighed).rows.find((one) => weighed.model.name(one.key) === "a");
  near(row.own.p, light.p);
  assert.equal(row.own.delta, 300);
});

test("several recordings: Welch's t", () => {
  const runs = (costs) => costs.map((cost) => ({ weight: { n: 1000, cost, squares: 1 }, all: { n: 1000, cost: 100, squares: 1 }, factor: 1 }));
  const change = changeOf("spread", false, runs([20, 22, 24]), runs([30, 35, 40]));
  near(change.p, studentP(13 / Math.sqrt(4 / 3 + 25 / 3), (4 / 3 + 25 / 3) ** 2 / ((4 / 3) ** 2 / 2 + (25 / 3) ** 2 / 2)), 1e-6);
  assert.ok(Number.isNaN(changeOf("unknown", false, runs([1]), runs([1, 2])).p));
});

test("few samples and small differences are not marked", () => {
  const row = (n, before, after, p) => ({ n, before, after, delta: after - before, p, marked: false });
  const rows = [row([2, 2], 0, 10, 0), row([900, 1000], 100, 100.0001, 0), row([10, 40], 10, 40, 0.0001), row([9, 9], 0.01, 0.02, 0)];
  assert.equal(mark(rows, 100, 100), 2);
  assert.deepEqual(rows.map((one) => one.marked), [false, false, true, false]);
});

test("the union keeps what vanished", () => {
  const { made } = compared(halves({ a: 10 }, { b: 30 })), both = made.union("both");
  assert.deepEqual([both.all, both.total[0]], [40, 40]);
  assert.deepEqual([made.union("before").all, made.union("after").all], [10, 30]);
  assert.deepEqual([lean(10, 0), lean(0, 5), lean(5, 5), lean(0, 0)], [-1, 1, 0, 0]);
});

test("distributions are those of the tables", () => {
  near(normalP(1.959963984540054), 0.05);
  near(normalP(-2.575829303548901), 0.01);
  near(normalP(3), 0.00269979606326019);
  assert.equal(normalP(0), 1);
  assert.ok(normalP(30) > 0, "no tail is cut off");
  for (const [degrees, expected] of [[1, 12.70620473617471], [2, 4.302652729749464], [4, 2.7764451051986543], [10, 2.228138851986274], [100, 1.983971518523552]]) {
    near(student95(degrees), expected);
    near(studentP(-expected, degrees), 0.05);
  }
  near(studentP(1, 1), 0.5);
  const article = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.324, 0.4262, 0.5719, 0.6528, 0.759, 1];
  assert.deepEqual([discoveryLimit(article, 0.05), discoveryLimit([0.2, 0.04, 0.9], 0.05), discoveryLimit([], 0.05), discoveryLimit([0.03, 0.04], 0.05)], [0.0095, -1, -1, 0.04]);
});
