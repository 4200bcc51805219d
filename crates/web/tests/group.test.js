// Groups of a recording of several programs: the default, and links with and without it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, stateOf } from "../src/data/links.js";
import { Model } from "../src/data/model.js";
import { VIEW, foldedStacks, tables } from "./tables.js";

/** Model of processes of one thread each; `programs` by process, with a number of samples. */
const of = (...programs) => new Model(tables(programs.map(([, n = 10], thread) => ({ stack: ["main"], n, thread })),
  { threads: programs.map(([name], at) => [at + 1, at + 1, name, name]) }));

test("several programs are grouped by process", () => {
  assert.equal(of(["cc1"], ["as"]).usualGroup, "process");
  assert.equal(of(["postgres"], ["postgres"]).usualGroup, "none");
  assert.equal(of(["server"]).usualGroup, "none");
  assert.equal(of(["bash"], ["perf"], ["server"]).usualGroup, "none", "starters do not count");
  assert.equal(of(["server", 995], ["cat", 5]).usualGroup, "none", "nor does a program with less than 1 % of the samples");
  assert.equal(of(["server", 990], ["cat", 10]).usualGroup, "process");
  assert.equal(of(...Array(20).fill(["cc1"]), ["as"]).usualGroup, "program", "many processes are grouped by program");
  assert.equal(of(...Array(19).fill(["cc1"]), ["as"]).usualGroup, "process");
});

test("growing tables have no group", () => {
  const made = tables([{ stack: ["main"], thread: 0 }, { stack: ["main"], thread: 1 }], { threads: [[1, 1, "a", "a"], [2, 2, "b", "b"]] });
  assert.equal(new Model({ ...made, lines: { ...made.lines, grows: true } }).usualGroup, "none");
});

test("a program is one group", () => {
  const model = of(["cc1", 3], ["as", 2], ["cc1", 4]);
  model.look({ ...VIEW, group: "program" });
  assert.deepEqual(foldedStacks(model), { "cc1;main": 7, "as;main": 2 });
});

test("an address without a group has the default", () => {
  const model = of(["cc1"], ["as"]), read = (text) => stateOf(model, text).state;
  assert.deepEqual(["", "view=flame", "group=none", "group=thread", "group=x"].map((text) => read(text).group), ["process", "process", "none", "thread", "process"]);
  assert.deepEqual(["", "group=none", "group=thread"].map((text) => addressOf(model, read(text))), ["", "group=none", "group=thread"]);
  const one = of(["server"]);
  assert.equal(addressOf(one, stateOf(one, "group=process").state), "group=process");
  assert.equal(stateOf(one, "").state.group, "none");
});

test("a zoom has its group, also in an address from before", () => {
  const model = of(["cc1"], ["as"]), zoomed = stateOf(model, "group=process&zoom=group:cc1 (process 1)&zoom=main");
  assert.deepEqual([zoomed.state.zoom, zoomed.missing], [[model.firstGroup, 0], []]);
  const text = addressOf(model, zoomed.state);
  assert.match(text, /(^|&)group=process(&|$)/);
  assert.deepEqual(stateOf(model, text).state.zoom, zoomed.state.zoom);
  const old = stateOf(model, "view=flame&zoom=main").state;
  assert.deepEqual([old.group, old.zoom], ["none", [0]]);
});
