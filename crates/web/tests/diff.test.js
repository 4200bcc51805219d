// Comparisons of recordings: conversion of the tables, and filters.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sideCosts } from "../src/data/compare/diff.js";
import { sandwich } from "../src/data/tree/around.js";
import { pprofBytes } from "../src/data/export/pprof.js";
import { foldedText, stacksOfDiff } from "../src/data/export/stacks.js";
import { NAMES, diffOf as model } from "./difftables.js";

const STACKS = [[["main", "old"], 300, 0], [["main", "new"], 0, 200], [["main", "same"], 500, 505], [["[truncated]", "[gap]", "same"], 7, 9]];
const row = (made, name) => made.functionRows.find((one) => made.name(one.key) === name);

test("functions have what they cost on both sides", () => {
  const made = model(STACKS), costs = (name) => { const { own, total } = row(made, name); return [own.before, own.after, total.before, total.after, own.marked, total.marked]; };
  assert.deepEqual(costs("old"), [300, 0, 300, 0, true, true]);
  assert.deepEqual(costs("new"), [0, 200, 0, 200, true, true]);
  assert.deepEqual(costs("same"), [500 + 7, 505 + 9, 507, 514, false, false]);
  assert.deepEqual(costs("main"), [0, 0, 800, 705, false, true]);
  // A gap is not tested as a function.
  assert.deepEqual(made.tested, [3, 4]);
  assert.deepEqual([made.compared.all.before, made.compared.all.after], [807, 714]);
});

test("tail calls are no function either", () => {
  const made = model([...STACKS, [["main", "[tail calls]", "new"], 30, 40]]), without = model([...STACKS, [["main", "new"], 30, 40]]);
  assert.deepEqual(made.tested, without.tested);
  assert.equal(row(made, "[tail calls]").total.marked, false);
});

test("costs of weighted samples are normalized, their squares decide", () => {
  const light = model(STACKS, { factors: [2, 0.5] }), heavy = model(STACKS, { factors: [0.2, 0.05], each: 10 });
  assert.deepEqual([row(heavy, "same").own.before, row(heavy, "same").own.after], [1014, 257]);
  assert.ok(Math.abs(row(heavy, "same").own.p - row(light, "same").own.p) < 1e-12);
});

test("nothing differs from itself, whatever is filtered", () => {
  const same = model([[["main", "old"], 40, 40], [["main", "same"], 60, 60]]);
  for (const filters of [[], [{ kind: "focus", at: 0 }], [{ kind: "hide", at: 1 }], [{ kind: "merge" }]]) {
    same.look({ filters, side: "both" });
    assert.ok(same.functionRows.every((one) => one.own.delta === 0 && one.total.delta === 0 && !one.own.marked), JSON.stringify(filters));
    assert.ok(!same.sure.some(Boolean));
  }
});

test("filters leave a part of both sides", () => {
  const made = model(STACKS);
  made.look({ filters: [{ kind: "drop", at: 1 }], side: "both" });
  assert.deepEqual([made.compared.all.before, made.compared.all.after], [507, 714]);
  made.look({ filters: [{ kind: "focus", at: 3 }], side: "both" });
  assert.deepEqual([made.compared.all.before, made.compared.all.after, made.tree.n], [507, 514, 1]);
  made.look({ filters: [{ kind: "merge", at: 0 }], side: "both" });
  assert.equal(made.name([...made.tree.func].find((f) => f >= NAMES.length && f < made.firstGroup)), "prog");
});

test("what is around a function on each side", () => {
  const made = model(STACKS), f = 3, around = (side) => sandwich({ tree: made.tree, costs: sideCosts(made.compared, side), functions: made.functions, moduleOf: () => made.moduleOf() }, f);
  for (const [side, all, direct] of [["before", 507, 500], ["after", 514, 505]]) {
    const { callers, callees } = around(side), names = [...callers.tree.func].map((one) => made.name(one));
    assert.deepEqual([callees.all, callers.all, callers.total[names.indexOf("main")]], [all, all, direct]);
  }
});

test("frames that differ by more than chance are told from others", () => {
  const made = model(STACKS), sure = [...made.tree.func].filter((_, node) => made.sure[node]).map((f) => made.name(f));
  assert.deepEqual(sure, ["worker-N", "main", "old", "new"]);
});

test("what is not compared is never a change, and stays in the stacks", () => {
  const made = model(STACKS, { notCompared: [0, 1, 2, 0, 0] });
  assert.deepEqual([row(made, "old").own.marked, row(made, "new").total.marked], [false, false]);
  assert.deepEqual([row(made, "old").own.before, row(made, "new").own.after], [300, 200]);
  // `main` has only an inclusive cost; `old` and `new` are not tested.
  assert.deepEqual(made.tested, [1, 2]);
  const sure = [...made.tree.func].filter((_, node) => made.sure[node]).map((f) => made.name(f));
  assert.ok(!sure.includes("old") && !sure.includes("new"), sure.join());
  assert.deepEqual([1, 2, 3, NAMES.length].map((f) => made.notCompared(f)), [1, 2, 0, 0]);
  assert.equal(model(STACKS, { paired: 0 }).notCompared(NAMES.length), 1);
});

const WAYS = ["[truncated];[gap];same", "main;new", "main;old", "main;same"].map((way) => `worker-N;${way}`);
test("exported stacks have both sides, on the scale of the candidate", () => {
  const text = foldedText({ ...stacksOfDiff(model(STACKS)), notes: [] });
  assert.equal(text, [" 7 9", " 0 200", " 300 0", " 500 505"].map((end, at) => WAYS[at] + end + "\n").join(""));
  const scaled = foldedText({ ...stacksOfDiff(model(STACKS, { factors: [2, 0.5] })), notes: [] });
  assert.equal(scaled, [" 28 9", " 0 200", " 1200 0", " 2000 505"].map((end, at) => WAYS[at] + end + "\n").join(""));
  const bytes = pprofBytes({ ...stacksOfDiff(model(STACKS)), notes: ["before: 0.data"] });
  assert.ok(new TextDecoder().decode(bytes).includes("pprof::base"), "samples of the baseline are marked");
});
