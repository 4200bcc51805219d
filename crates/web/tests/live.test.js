// Tables of a live recording, and the references of a state to them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NONE, VERSION } from "../src/data/columns.js";
import { Model } from "../src/data/model.js";
import { START, fromFragment, toFragment } from "../src/data/state.js";
import { from, numbersOf, recorders, renumbered, withNumbers, withoutNumbers } from "../src/live/renumber.js";
import { LiveTables, fromBase64 } from "../src/live/tables.js";
import { VIEW, foldedStacks } from "./tables.js";

const TYPES = { flags: Uint8Array, leafEnd: Uint8Array, event: Uint8Array, period: Float64Array };
const columns = (rows) => Object.fromEntries(Object.entries(rows).map(([name, values]) => [name, (TYPES[name] || Uint32Array).from(values)]));

/** Tables of `main` with a leaf, and of code without a name below it. Times of complete tables are differences. */
function whole() {
  const head = {
    version: VERSION, live: 7, first: 0, title: "", summary: "", recording: {}, unit: 1, origin: 1000, events: [{ name: "cycles", unit: "count", period: 1, rate: 1, frequency: 0 }],
    ends: ["root"], rooted: [1], complete: [1], threads: [[1, 1, "main", "prog"]], modules: [{ path: "/bin/p", kind: "elf", count: 1 }],
    functions: [[0, -1, 0], [-1, -1, 0]], names: ["main"], frames: 0, filtered: 0, dropped: 0, lost: 0, throttled: 0, losses: [], findings: [], sources: [], columns: [],
  };
  return { head, found: columns({ parent: [NONE, 0], func: [0, 1], line: [0, 0], flags: [0, 0], leafNode: [0, 1], leafPlace: [0, 1], leafEnd: [0, 0],
    placeLow: [16, 32], placeHigh: [0, 0], time: [0, 10, 10], thread: [0, 0, 0], leaf: [0, 1, 1], event: [0, 0, 0] }) };
}

/** Next update: the code below `main` is `work`, and a thread calls `idle` from another line of it. */
const step = (more = {}) => ({
  head: { forgotten: 1, first: [2, 2, 2, 2, 2], functions: [[1, -1, 0], [2, -1, 0]], names: ["work", "idle"], modules: [[0, { path: "/bin/p", kind: "elf", count: 2 }]], threads: [[1, [1, 2, "idler", "prog"]]], ...more },
  found: columns({ parent: [0, NONE, 3, 0], func: [2, 0, 3, 2], line: [5, 9, 0, 7], flags: [0, 0, 0, 0], leafNode: [4, 5], leafPlace: [2, 3], leafEnd: [0, 0], placeLow: [48, 64], placeHigh: [0, 0],
    time: [30, 40, 41], thread: [1, 0, 0], leaf: [2, 1, 3], event: [0, 0, 0], movedLeaf: [1], movedNode: [2] }),
});

function looked(tables) {
  const model = new Model(tables);
  model.look({ ...VIEW });
  return model;
}

test("what comes is put behind what is there, and names that come later move what was there", () => {
  const live = new LiveTables(whole()), before = live.tables();
  assert.deepEqual([...before.time], [0, 10, 20]);
  assert.deepEqual(foldedStacks(looked(before)), { main: 1, "main;[unknown] in p": 2 });
  assert.equal(live.step(step(), 8), true);
  assert.equal(live.tick, 8);
  const after = live.tables(), model = looked(after);
  // The first sample is discarded; both lines of `work` are one function.
  assert.deepEqual(foldedStacks(model), { "main;work": 4, "main;idle": 1 });
  assert.deepEqual(after.head.threads, [[1, 1, "main", "prog"], [1, 2, "idler", "prog"]]);
  assert.equal(after.head.modules[0].count, 2);
  assert.deepEqual([...after.time], [0, 10, 20, 30, 31]);
  assert.equal(live.from, 10);
  // Earlier tables did not change.
  assert.deepEqual([...before.leafNode, ...before.time, before.head.names.length, before.head.threads.length], [0, 1, 0, 10, 20, 1, 1]);
  assert.deepEqual(foldedStacks(looked(before)), { main: 1, "main;[unknown] in p": 2 });
});

test("a step that does not fit is not taken", () => {
  for (const more of [{ first: [3, 2, 2, 2, 2] }, { first: [2, 2, 2, 2, 3] }, { forgotten: 2 }]) {
    const live = new LiveTables(whole());
    assert.equal(live.step(step(more), 8), false, JSON.stringify(more));
    assert.equal(live.tick, 7);
  }
});

test("a page that stays for long does not grow", () => {
  const live = new LiveTables(whole());
  let most = 0;
  for (let tick = 8; tick < 5000; tick++) {
    const samples = live.columns.time.length, forgotten = samples >= 500 ? 50 : 0;
    const { columns: had } = live, none = { parent: [], func: [], line: [], flags: [], leafNode: [], leafPlace: [], leafEnd: [], placeLow: [], placeHigh: [], movedLeaf: [], movedNode: [] };
    const time = Array.from({ length: 50 }, (_, at) => tick * 100 + at);
    const fill = (value) => Array(50).fill(value);
    const head = { forgotten, first: [had.parent.length, had.leafNode.length, had.placeLow.length, 2, samples - forgotten], functions: [], names: [], modules: [], threads: [] };
    assert.equal(live.step({ head, found: columns({ ...none, time, thread: fill(0), leaf: fill(1), event: fill(0) }) }, tick), true);
    most = Math.max(most, live.columns.time.values.length);
    const all = live.tables();
    assert.equal(all.time[all.samples - 1] + live.from, tick * 100 + 49);
    assert.ok(all.time[0] <= 0.11 * all.span + 100, `${all.time[0]} of ${all.span}`);
  }
  assert.ok(most < 1600, String(most));
  assert.equal(live.columns.time.length, 503);
});

test("tables that were asked for anew continue those from before, or they do not", () => {
  const one = new LiveTables(whole()), other = new LiveTables(whole()), third = whole();
  other.step(step(), 8);
  assert.equal(other.continues(one), true);
  assert.equal(one.continues(other), false);
  third.head.names[0] = "start";
  assert.equal(new LiveTables(third).continues(one), false);
});

test("times of a state follow the time that they are told from", () => {
  const state = { ...START, filters: [{ kind: "time", from: 50, to: 90 }, { kind: "process", pid: 3 }], base: [10, 40], marks: [15, 60] };
  const moved = from(state, 20);
  assert.deepEqual(moved.filters, [{ kind: "time", from: 30, to: 70 }, { kind: "process", pid: 3 }]);
  assert.deepEqual([moved.base, moved.marks, moved.from], [[0, 20], [40], 20]);
  assert.deepEqual(from(from(state, 5), 0).marks, [15, 60]);
  const gone = from(state, 95);
  assert.deepEqual([gone.filters, gone.base, gone.marks], [[{ kind: "process", pid: 3 }], null, []]);
  assert.deepEqual(from({ ...START, filters: [{ kind: "time", from: 50, to: NONE }] }, 60).filters, [{ kind: "time", from: 0, to: NONE }]);
  // Everything except a time range, as a baseline.
  assert.deepEqual(from({ ...START, base: [80, 30] }, 20).base, [60, 10]);
});

test("numbers behind those of functions follow these", () => {
  const before = { functions: 10, firstGroup: 13, truncated: 15 }, now = { functions: 12, firstGroup: 16, truncated: 18 };
  assert.deepEqual([0, 9, 10, 12, 13, 14, 15].map((f) => renumbered(f, before, now)), [0, 9, 12, 14, 16, 17, 18]);
  const state = withNumbers({ ...START, zoom: [3, 15], func: 11, filters: [{ kind: "focus", at: 15 }, { kind: "module", at: 2 }, { kind: "recursion" }] }, before, now);
  assert.deepEqual([state.zoom, state.func, state.filters], [[3, 18], 13, [{ kind: "focus", at: 18 }, { kind: "module", at: 2 }, { kind: "recursion" }]]);
  const model = looked(new LiveTables(whole()).tables());
  assert.deepEqual(numbersOf(model), { functions: 2, firstGroup: 3, truncated: 3 });
  const bare = withoutNumbers({ ...START, func: 3, zoom: [1], filters: [{ kind: "focus", at: 1 }, { kind: "comm", comm: "x" }] });
  assert.deepEqual([bare.func, bare.zoom, bare.filters], [-1, [], [{ kind: "comm", comm: "x" }]]);
});

test("recorders are known where all processes were recorded", () => {
  const threads = [[1, 1, "init"], [20, 20, "unwind-perf"], [20, 23, "worker"], [30, 30, "perf"]];
  assert.deepEqual(recorders(threads, [20, 21]), [1, 2, 3]);
  assert.deepEqual(recorders(threads, [40]), []);
});

test("an address keeps what is looked at of a recording that grows", () => {
  const state = { ...START, last: 10, own: "shown", marks: [5, 70], from: 30, base: [9, 4] };
  assert.deepEqual(fromFragment(toFragment(state)), state);
  assert.deepEqual(fromFragment("last=x&own=yes&marks=3.a.4").marks, [3, 4]);
});

test("columns come as text", () => {
  assert.deepEqual([...new Uint8Array(fromBase64("AAEC/v8="))], [0, 1, 2, 254, 255]);
});
