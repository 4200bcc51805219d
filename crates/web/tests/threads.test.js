// Tables of processes, threads and processors: costs, filters of rows, and the address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../src/data/model.js";
import { busyThreads } from "../src/data/samples/order.js";
import { costRows, filterOfRow, hasProcessors } from "../src/data/samples/threads.js";
import { fromFragment, toFragment } from "../src/data/state.js";
import { VIEW, tables } from "./tables.js";

const THREADS = [[1, 1, "make", "make"], [7, 7, "gcc", "gcc"], [7, 7, "cc1", "cc1"], [9, 9, "cc1", "cc1"], [9, 10, "pool-1", "cc1"]];
const EVENTS = [{ name: "cycles", unit: "count", period: null, rate: 1, frequency: 0 }, { name: "faults", unit: "count", period: null, rate: 1, frequency: 0 }];
const made = (view = {}, cpus = true) => {
  const model = new Model(tables([
    { stack: ["main", "a"], n: 3, thread: 0, cpu: 0, time: 1, period: 2 },
    { stack: ["main", "a"], n: 2, thread: 1, cpu: 1, time: 2, period: 10 },
    { stack: ["main", "b"], n: 4, thread: 2, cpu: 1, time: 3, period: 1 },
    { stack: ["main", "b"], n: 5, thread: 3, cpu: 0, time: 4, period: 1 },
    { stack: ["main", "a"], n: 1, thread: 4, time: 5, period: 1 },
    { stack: ["main", "a"], n: 8, thread: 4, event: 1, cpu: 1, time: 6, period: 1 },
  ].map((row) => cpus ? row : { ...row, cpu: undefined }), { threads: THREADS, events: EVENTS }));
  model.look({ ...VIEW, ...view });
  return model;
};
const rows = (model, by) => costRows(model, by).map(({ name, n, cost, squares }) => [name, n, cost, squares]);

test("rows have the costs of one event", () => {
  assert.deepEqual(rows(made(), "process"), [["cc1 9", 6, 6, 6], ["cc1 7", 4, 4, 4], ["make 1", 3, 3, 3], ["gcc 7", 2, 2, 2]]);
  assert.deepEqual(rows(made(), "thread"), [["cc1 9", 5, 5, 5], ["cc1 7", 4, 4, 4], ["make 1", 3, 3, 3], ["gcc 7", 2, 2, 2], ["pool-1 9/10", 1, 1, 1]]);
  assert.deepEqual(rows(made(), "cpu"), [["CPU 0", 8, 8, 8], ["CPU 1", 6, 6, 6], ["unknown", 1, 1, 1]]);
  assert.deepEqual(rows(made({ event: 1 }), "process"), [["cc1 9", 8, 8, 8]]);
  assert.deepEqual(rows(made({}, false), "cpu"), []);
});

test("rows follow weight, time and filters", () => {
  assert.deepEqual(rows(made({ weight: "period" }), "process")[0], ["gcc 7", 2, 20, 200]);
  assert.deepEqual(rows(made({ filters: [{ kind: "time", from: 2, to: 3 }] }), "cpu"), [["CPU 1", 6, 6, 6]]);
  const model = made(), b = [...Array(model.functions).keys()].find((f) => model.name(f) === "b");
  model.look({ ...VIEW, filters: [{ kind: "keep", at: b }] });
  assert.deepEqual(rows(model, "process"), [["cc1 9", 5, 5, 5], ["cc1 7", 4, 4, 4]]);
});

test("a row is a filter for its samples", () => {
  const model = made();
  const filters = (by) => costRows(model, by).map((row) => filterOfRow(model, by, row));
  // Process 7 executed two programs, so its number alone would leave both.
  assert.deepEqual(filters("process"), [{ kind: "process", pid: 9 }, { kind: "threads", ids: [2] }, { kind: "process", pid: 1 }, { kind: "threads", ids: [1] }]);
  assert.deepEqual(filters("thread")[4], { kind: "threads", ids: [4] });
  assert.deepEqual(filters("cpu"), [{ kind: "cpu", cpu: 0 }, { kind: "cpu", cpu: 1 }, null]);
  for (const by of ["process", "thread", "cpu"]) {
    for (const row of costRows(model, by)) {
      const filter = filterOfRow(model, by, row), left = made({ filters: filter ? [filter] : [] });
      if (filter) assert.equal(left.costs.allN, row.n, `${by} ${row.name}`);
    }
  }
});

test("the address has the kind of rows", () => {
  assert.equal(toFragment(fromFragment("view=threads&rows=cpu")), "view=threads&rows=cpu");
  assert.equal(fromFragment("rows=x").rows, "");
});

test("threads are counted for the shown event", () => {
  const events = ["cycles", "switches"].map((name) => ({ name, unit: "count", period: null, rate: 1, frequency: 0 })), threads = [[1, 1, "main", "prog"], [1, 2, "work", "prog"]];
  const model = new Model(tables([{ stack: ["a"], n: 3, thread: 0 }, { stack: ["a"], n: 2, thread: 1 }, { stack: ["a"], n: 5, thread: 1, event: 1 }], { events, threads }));
  assert.deepEqual(busyThreads(model.tables, 0), [{ id: 0, count: 3 }, { id: 1, count: 2 }]);
  assert.deepEqual(busyThreads(model.tables, 1), [{ id: 1, count: 5 }]);
});

test("processors are known by event", () => {
  const events = ["cpu-clock", "switches"].map((name) => ({ name, unit: "count", period: null, rate: 1, frequency: 0 }));
  const model = new Model(tables([{ stack: ["a"] }, { stack: ["a"], cpu: 1, event: 1 }], { events }));
  assert.deepEqual([hasProcessors(model, 0), hasProcessors(model, 1), hasProcessors(new Model(tables([{ stack: ["a"] }])), 0)], [false, true, false]);
});
