// Comparisons: nothing differs from itself, both directions agree, chance is not marked, a change is found.
import assert from "node:assert/strict";
import { test } from "node:test";
import { differences, lean, mark, normal, rates, unionWeights } from "../src/data/compare.js";
import { Model } from "../src/data/model.js";
import { selection } from "../src/data/select.js";
import { VIEW, tables } from "./tables.js";

/** A recording of two halves of 1,000 units each; `weights` by half and function. */
function halves(first, second) {
  const rows = [];
  for (const [half, weights] of [first, second].entries()) {
    for (const [name, n] of Object.entries(weights)) rows.push({ stack: ["main", name], n, time: half * 1000 + 1 });
  }
  const model = new Model(tables(rows));
  model.look(VIEW);
  const side = (from, to) => ({ costs: model.count(selection(model.tables, [{ kind: "time", from, to }])), seconds: 1 });
  return { model, before: side(0, 999), after: side(1000, 1999) };
}
const named = (model, rows) => rows.filter((row) => row.marked).map((row) => model.name(row.func));

test("a time does not differ from itself", () => {
  const { model, before } = halves({ a: 500, b: 300 }, { a: 1 });
  for (const row of differences(model, before, before)) assert.deepEqual([row.delta, row.marked], [0, false]);
});

test("both directions are each other's negative", () => {
  const { model, before, after } = halves({ a: 500, b: 300, c: 3 }, { a: 300, b: 310, d: 40 });
  const there = differences(model, before, after), back = new Map(differences(model, after, before).map((row) => [row.func, row]));
  for (const row of there) {
    const other = back.get(row.func);
    assert.deepEqual([row.delta + other.delta, row.low + other.high, row.marked], [0, 0, other.marked]);
  }
});

test("chance is not marked, a change comes first", () => {
  const same = {}, noisy = {};
  for (let at = 0; at < 60; at++) {
    same[`f${at}`] = 50;
    // As far from 50 as chance goes: a standard deviation.
    noisy[`f${at}`] = 50 + (at % 2 ? 7 : -7);
  }
  const quiet = halves(same, noisy);
  assert.deepEqual(named(quiet.model, differences(quiet.model, quiet.before, quiet.after)), []);
  const planted = halves(same, { ...noisy, f7: 150 });
  assert.deepEqual(named(planted.model, differences(planted.model, planted.before, planted.after)), ["f7"]);
  assert.equal(planted.model.name(differences(planted.model, planted.before, planted.after)[0].func), "f7");
});

test("times of unlike length are compared by the second", () => {
  assert.equal(rates(100, 1, 200, 2).delta, 0);
  const { delta, low, high, p } = rates(100, 1, 200, 1);
  assert.ok(delta === 100 && low > 60 && high < 140 && p < 1e-6);
});

test("few samples and small differences are not marked", () => {
  const rows = [{ before: 2, after: 2, delta: 10, ownDelta: 0, p: 0 }, { before: 900, after: 1000, delta: 0.0001, ownDelta: 0, p: 0 }, { before: 10, after: 40, delta: 30, ownDelta: 0, p: 0.0001 }];
  mark(rows, 100);
  assert.deepEqual(rows.map((row) => row.marked), [undefined, false, true].map((one) => one));
});

test("the union keeps what vanished", () => {
  const { model, before, after } = halves({ a: 10 }, { b: 30 });
  const both = unionWeights(before, after, "both"), main = [...model.tree.func].indexOf(model.names.indexOf("main"));
  assert.deepEqual([both.all, both.total[main]], [40, 40]);
  assert.equal(unionWeights(before, after, "before").all, 10);
  assert.deepEqual([lean(10, 1, 0, 1), lean(0, 1, 5, 1), lean(5, 1, 5, 1), lean(0, 1, 0, 1)], [-1, 1, 0, 0]);
});

test("the normal distribution", () => {
  assert.ok(Math.abs(normal(0) - 0.5) < 1e-6 && Math.abs(normal(1.959964) - 0.975) < 1e-6 && Math.abs(normal(-1) - 0.158655) < 1e-6);
});
