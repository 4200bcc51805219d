// Times off the processor: folded kernel frames, and kinds of wait.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesOf, foldedInto, whyNoAddress } from "../src/data/code.js";
import { Model } from "../src/data/model.js";
import { fromFragment, toFragment } from "../src/data/state.js";
import { leafClasses } from "../src/data/samples/bars.js";
import { linesOf } from "../src/data/listing/lines.js";
import { waitCosts } from "../src/data/waits.js";
import { VIEW, foldedStacks, tables } from "./tables.js";

const EVENTS = [{ name: "cpu-clock", unit: "nanoseconds", period: null, rate: 1, frequency: 0 }, { name: "off-cpu", unit: "nanoseconds", period: null, rate: 1, frequency: 0 }];
const WAITS = ["futex", "sleep", "preempted"];

/** Two waits and a preemption of `main`, a thread of the kernel, and samples on the processor. */
const made = () => new Model(tables([
  { stack: ["main@1", "lock@5", "schedule"], event: 1, period: 70, wait: 0 },
  { stack: ["main@1", "lock@5", "schedule"], event: 1, period: 20, wait: 1 },
  { stack: ["main@2", "interrupt", "schedule"], event: 1, period: 30, wait: 2 },
  { stack: ["kthread", "schedule"], event: 1, period: 5, wait: 1 },
  { stack: ["main@2", "interrupt"], event: 0, period: 9 },
], { events: EVENTS, kernel: ["schedule", "interrupt", "kthread"], offCpu: 1, waits: WAITS }));
const OFF = { ...VIEW, event: 1, weight: "period", kernel: "folded" };
const look = (view) => { const model = made(); model.look(view); return model; };

test("waits belong to the program's functions", () => {
  assert.deepEqual(foldedStacks(look(OFF)), { "main;lock": 90, main: 30, "kthread;schedule": 5 });
  assert.deepEqual(foldedStacks(look({ ...OFF, kernel: "shown" })), { "main;lock;schedule": 90, "main;interrupt;schedule": 30, "kthread;schedule": 5 });
});

test("samples on the processor keep the kernel's frames", () => {
  assert.deepEqual(foldedStacks(look({ ...OFF, event: 0 })), { "main;interrupt": 9 });
});

test("a function has the kind of most of its own time", () => {
  const model = look(OFF), { kind, all, squares } = waitCosts(model), named = (name) => WAITS[kind[[...kind.keys()].find((f) => model.name(f) === name)]];
  assert.deepEqual([...all], [70, 25, 30]);
  assert.deepEqual([...squares], [4900, 425, 900]);
  assert.deepEqual(["lock", "main", "schedule", "interrupt"].map(named), ["futex", "preempted", "sleep", undefined]);
  assert.equal(waitCosts(look({ ...OFF, event: 0 })), null);
});

test("a filter retains one kind of wait", () => {
  const model = look({ ...OFF, filters: [{ kind: "wait", at: 1 }] });
  assert.deepEqual(foldedStacks(model), { "main;lock": 20, "kthread;schedule": 5 });
  assert.deepEqual([...waitCosts(model).all], [0, 25, 0]);
});

test("bars of the timeline have the module and kind of the function with the folded time", () => {
  const rows = [{ stack: ["main", "schedule"], event: 1, wait: 0 }, { stack: ["main", "schedule"], event: 0 }];
  const model = new Model(tables(rows, { events: EVENTS, kernel: ["schedule"], offCpu: 1, waits: WAITS, modules: { schedule: "[kernel]" } }));
  const classes = (kernel) => {
    model.look({ ...OFF, kernel });
    return ["kind", "module"].map((by) => [...leafClasses(model, by, Int32Array.of(0, 1)).of]);
  };
  assert.deepEqual(model.tables.head.modules.map(({ path }) => path), ["/bin/program", "[kernel]"]);
  assert.deepEqual(classes("folded"), [[1, 3], [1, 2]]);
  assert.deepEqual(classes("shown"), [[3, 3], [2, 2]]);
});

test("lines have the folded time, and instructions do not", () => {
  const model = look(OFF), f = (name) => [...Array(model.functions).keys()].find((at) => model.name(at) === name);
  assert.deepEqual([...linesOf(model, f("lock"))], [[5, { own: 90, total: 90 }]]);
  assert.deepEqual([...linesOf(model, f("main"))], [[1, { own: 0, total: 90 }], [2, { own: 30, total: 30 }]]);
  assert.deepEqual(addressesOf(model, f("lock")), []);
  assert.deepEqual(["lock", "main", "interrupt"].map((name) => foldedInto(model, f(name))), [90, 30, 0]);
  assert.deepEqual(["lock", "interrupt"].map((name) => whyNoAddress(model, f(name))), ["Its time is in folded kernel frames, which have the addresses.", "It has no samples."]);
  model.look({ ...OFF, kernel: "shown" });
  assert.equal(foldedInto(model, f("lock")), 0);
  assert.deepEqual([...linesOf(model, f("lock"))], [[5, { own: 0, total: 90 }]]);
  model.look({ ...OFF, weight: "samples" });
  assert.deepEqual([...linesOf(model, f("lock"))], [[5, { own: 2, total: 2 }]]);
});

test("the address has the state of kernel frames and of the filter", () => {
  const text = "kernel=shown&filter=wait:2";
  assert.equal(toFragment(fromFragment(text)), text);
  assert.equal(fromFragment("kernel=x").kernel, "folded");
});
