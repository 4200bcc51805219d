// The engine: filters, groups, costs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../src/data/model.js";
import { VIEW, foldedStacks, tables } from "./tables.js";

const STACKS = [
  { stack: ["main", "work", "alloc"], n: 5 }, { stack: ["main", "work", "alloc", "malloc"], n: 3 },
  { stack: ["main", "work", "fib", "fib", "fib"], n: 4 }, { stack: ["main", "idle"], n: 2 }, { stack: ["main"], n: 1 },
];
const MODULES = { malloc: "/lib/libc.so", alloc: "/lib/liba.so" };

function looked(view, rows = STACKS, options = { modules: MODULES }) {
  const model = new Model(tables(rows, options));
  model.look({ ...VIEW, ...view });
  return model;
}
const f = (name, rows = STACKS) => [...new Set(rows.flatMap((row) => row.stack.map((one) => one.split("@")[0])))].sort().indexOf(name);
const filtered = (...filters) => foldedStacks(looked({ filters }));

test("without filters, stacks are as they are", () => {
  assert.deepEqual(filtered(), { "main;work;alloc": 5, "main;work;alloc;malloc": 3, "main;work;fib;fib;fib": 4, "main;idle": 2, main: 1 });
});

test("focus leaves what is inside of a function", () => {
  assert.deepEqual(filtered({ kind: "focus", at: f("work") }), { "work;alloc": 5, "work;alloc;malloc": 3, "work;fib;fib;fib": 4 });
  assert.deepEqual(filtered({ kind: "focus", at: f("fib") }), { "fib;fib;fib": 4 });
});

test("stacks with a function are kept or dropped whole", () => {
  assert.deepEqual(filtered({ kind: "keep", at: f("malloc") }), { "main;work;alloc;malloc": 3 });
  assert.deepEqual(filtered({ kind: "drop", at: f("alloc") }), { "main;work;fib;fib;fib": 4, "main;idle": 2, main: 1 });
});

test("a hidden function's cost is its caller's, and its callees stay", () => {
  assert.deepEqual(filtered({ kind: "hide", at: f("alloc") }), { "main;work": 5, "main;work;malloc": 3, "main;work;fib;fib;fib": 4, "main;idle": 2, main: 1 });
  const model = looked({ filters: [{ kind: "hide", at: f("main") }] });
  assert.equal(model.costs.all, 15, "samples without a frame count");
});

test("what a function calls is charged to its callers, or to itself", () => {
  assert.deepEqual(filtered({ kind: "charge", at: f("alloc") }), { "main;work": 8, "main;work;fib;fib;fib": 4, "main;idle": 2, main: 1 });
  assert.deepEqual(filtered({ kind: "fold", at: f("alloc") }), { "main;work;alloc": 8, "main;work;fib;fib;fib": 4, "main;idle": 2, main: 1 });
});

test("recursion is collapsed, of one function or of all", () => {
  for (const filter of [{ kind: "recursion" }, { kind: "recursion", at: f("fib") }]) {
    assert.deepEqual(filtered(filter), { "main;work;alloc": 5, "main;work;alloc;malloc": 3, "main;work;fib": 4, "main;idle": 2, main: 1 });
  }
  const rows = [{ stack: ["a", "b", "a", "c"] }];
  const model = looked({ filters: [{ kind: "recursion" }] }, rows);
  assert.deepEqual(foldedStacks(model), { "a;c": 1 });
});

test("modules are shown alone, hidden, or merged", () => {
  const all = tables(STACKS, { modules: MODULES }).head.modules.map((module) => module.path);
  const a = all.indexOf("/lib/liba.so");
  assert.deepEqual(filtered({ kind: "module", at: a }), { alloc: 8 });
  assert.deepEqual(filtered({ kind: "hideModule", at: a }), { "main;work": 5, "main;work;malloc": 3, "main;work;fib;fib;fib": 4, "main;idle": 2, main: 1 });
  assert.deepEqual(filtered({ kind: "merge" }), { "program;liba.so": 5, "program;liba.so;libc.so": 3, program: 7 });
  assert.deepEqual(filtered({ kind: "merge", at: a }), { "main;work;liba.so": 5, "main;work;liba.so;malloc": 3, "main;work;fib;fib;fib": 4, "main;idle": 2, main: 1 });
});

test("filters work one after the other", () => {
  assert.deepEqual(filtered({ kind: "focus", at: f("work") }, { kind: "hide", at: f("work") }, { kind: "recursion" }), { alloc: 5, "alloc;malloc": 3, fib: 4 });
});

test("costs of functions count a stack once", () => {
  const model = looked({}), { own, total } = model.functionCosts();
  assert.deepEqual([own[f("fib")], total[f("fib")]], [4, 4]);
  assert.deepEqual([own[f("main")], total[f("main")]], [1, 15]);
  assert.deepEqual([own[f("alloc")], total[f("alloc")]], [5, 8]);
  const modules = model.moduleCosts();
  assert.deepEqual(model.tables.head.modules.map((module, at) => [module.path, modules.own[at], modules.total[at]]),
    [["/lib/liba.so", 5, 8], ["/bin/program", 7, 15], ["/lib/libc.so", 3, 3]]);
  assert.deepEqual([...model.moduleOwn()], [5, 7, 3]);
});

test("samples are chosen by time, process, name and thread", () => {
  const rows = [{ stack: ["a"], time: 0, thread: 0 }, { stack: ["b"], time: 10, thread: 1 }, { stack: ["c"], time: 20, thread: 2 }, { stack: ["d"], time: 30, thread: 2 }];
  const threads = [[1, 1, "main"], [1, 2, "worker-1"], [7, 7, "worker-22"]];
  const left = (...filters) => Object.keys(foldedStacks(looked({ filters }, rows, { threads })));
  assert.deepEqual(left({ kind: "time", from: 10, to: 20 }), ["b", "c"]);
  assert.deepEqual(left({ kind: "process", pid: 1 }), ["a", "b"]);
  assert.deepEqual(left({ kind: "comm", comm: "worker-N" }), ["b", "c", "d"]);
  assert.deepEqual(left({ kind: "threads", ids: [0, 2] }, { kind: "time", from: 0, to: 20 }), ["a", "c"]);
  assert.deepEqual(left({ kind: "notThreads", ids: [2] }), ["a", "b"]);
});

test("samples are chosen and grouped by control group", () => {
  const rows = [{ stack: ["a"], thread: 0 }, { stack: ["b"], thread: 1 }, { stack: ["c"], thread: 2 }];
  const threads = [[1, 1, "main"], [1, 2, "main"], [7, 7, "main"]], cgroups = ["/a", "/b", ""];
  const of = (view, options) => foldedStacks(looked(view, rows, { threads, ...options }));
  const only = (cgroup) => ({ filters: [{ kind: "cgroup", cgroup }] });
  assert.deepEqual(of(only("/b"), { cgroups }), { b: 1 });
  assert.deepEqual(of(only("/c"), { cgroups }), {});
  assert.deepEqual(of(only("/a"), {}), {});
  assert.deepEqual(of({ group: "cgroup" }, { cgroups }), { "/a;a": 1, "/b;b": 1, "control group unknown;c": 1 });
});

test("events are never added together", () => {
  const events = Array.from({ length: 300 }, (_, at) => ({ name: `e${at}`, unit: "count", period: null, rate: 1, frequency: 0 }));
  const rows = [{ stack: ["a"], event: 0, period: 5 }, { stack: ["a"], event: 299, period: 1000, n: 2 }];
  assert.deepEqual(foldedStacks(looked({ event: 0, weight: "period" }, rows, { events })), { a: 5 });
  assert.deepEqual(foldedStacks(looked({ event: 299, weight: "period" }, rows, { events })), { a: 2000 });
  assert.equal(looked({ event: 299, weight: "period" }, rows, { events }).costs.allN, 2);
});

test("a period that all samples have is a factor", () => {
  const events = [{ name: "cpu-clock", unit: "nanoseconds", period: 1000, rate: 1, frequency: 0 }];
  assert.deepEqual(foldedStacks(looked({ weight: "period" }, [{ stack: ["a"], n: 3 }], { events })), { a: 3000 });
});

test("stacks that do not reach their root are apart, together or hidden", () => {
  const rows = [{ stack: ["a", "b"], n: 2 }, { stack: ["b"], n: 3, cut: true }];
  assert.deepEqual(foldedStacks(looked({ truncated: "apart" }, rows)), { "a;b": 2, "[truncated];b": 3 });
  assert.deepEqual(foldedStacks(looked({ truncated: "together" }, rows)), { "a;b": 2, b: 3 });
  const hidden = looked({ truncated: "hidden" }, rows);
  assert.deepEqual([foldedStacks(hidden), hidden.costs.all, hidden.costs.samples], [{ "a;b": 2 }, 2, 5]);
});

test("stacks are grouped by process, thread, name and event", () => {
  const threads = [[1, 1, "main"], [1, 2, "worker-1"], [7, 7, "worker-22"]];
  const rows = [{ stack: ["a"], thread: 0, n: 2 }, { stack: ["a", "b"], thread: 1 }, { stack: ["a", "b"], thread: 2, cut: true }];
  const by = (group) => foldedStacks(looked({ group, truncated: "apart" }, rows, { threads }));
  assert.deepEqual(by("process"), { "main (process 1);a": 2, "main (process 1);a;b": 1, "worker-22 (process 7);[truncated];a;b": 1 });
  assert.deepEqual(by("thread"), { "main (thread 1);a": 2, "worker-1 (thread 2);a;b": 1, "worker-22 (thread 7);[truncated];a;b": 1 });
  assert.deepEqual(by("comm"), { "main;a": 2, "worker-N;a;b": 1, "worker-N;[truncated];a;b": 1 });
  assert.deepEqual(by("event"), { "cycles;a": 2, "cycles;a;b": 1, "cycles;[truncated];a;b": 1 });
});

test("grouping many pairs loses none", () => {
  const rows = Array.from({ length: 40_000 }, (_, at) => ({ stack: [`f${at % 200}`], thread: at % 200, time: at }));
  const threads = Array.from({ length: 200 }, (_, at) => [at, at, `t${at}`]);
  const model = looked({ group: "thread" }, rows, { threads });
  assert.equal(model.costs.all, 40_000);
  assert.equal(model.children.start[1] - model.children.start[0], 200);
});

test("a search finds functions and what their stacks cost", () => {
  const found = looked({}).find((name) => name.includes("alloc"));
  assert.equal(found.found, 8);
  assert.equal(looked({}).find(null), null);
});

test("an empty recording is no error", () => {
  for (const group of ["none", "thread", "event"]) {
    const model = new Model(tables([]));
    model.look({ ...VIEW, group, truncated: "apart" });
    assert.equal(model.costs.all, 0);
    model.functionCosts();
  }
});
