// Lanes of the timeline, their bars, ticks of the axis, and the filter of processors.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../src/data/model.js";
import { timeTicks } from "../src/data/numbers.js";
import { barCount, countBars, leafClasses, mostly, passingLeaves, sameLeaves } from "../src/data/samples/bars.js";
import { heatCells } from "../src/data/samples/heat.js";
import { samplesBy } from "../src/data/samples/order.js";
import { START, fromFragment, toFragment } from "../src/data/state.js";
import { LaneBars } from "../src/views/graphs/lanebars.js";
import { ALL, lanesOf, otherEvents, toggled, visible } from "../src/views/graphs/lanes.js";
import { VIEW, foldedStacks, tables } from "./tables.js";

const EVENTS = ["cycles", "faults"].map((name) => ({ name, unit: "count", period: null, rate: 1, frequency: 0 }));
const THREADS = [[1, 1, "main", "prog"], [1, 2, "work-1", "prog"], [1, 3, "work-2", "prog"]];
const ROWS = [
  { stack: ["main", "a"], time: 0, thread: 0, cpu: 0 }, { stack: ["main", "b"], time: 10, thread: 1, cpu: 2 },
  { stack: ["main", "b"], time: 11, thread: 2, cpu: 2, cut: true }, { stack: ["main", "a"], time: 99, thread: 1, cpu: 0 },
];

/** What the lanes need of a page. */
function appOf(rows, options) {
  const made = tables(rows, { threads: THREADS, ...options }), counts = new Float64Array(made.head.events.length);
  for (const event of made.event) counts[event]++;
  return { tables: made, event: 0, eventCounts: counts, threadName: (id) => `${THREADS[id][2]} ${THREADS[id][1]}` };
}
const shown = (lanes) => lanes.map(({ name, count, level }) => `${"  ".repeat(level)}${name}: ${count}`);

test("bars are wide enough for the eye and for some samples", () => {
  assert.deepEqual([barCount(1200, 1e6), barCount(1200, 2000), barCount(1200, 700), barCount(1200, 3), barCount(1200, 0), barCount(2, 5)], [400, 400, 133, 50, 50, 1]);
});

test("bars count the samples that pass, by module", () => {
  const model = new Model(tables(ROWS, { threads: THREADS, modules: { a: "/bin/prog", b: "/lib/libb.so" } }));
  model.look({ ...VIEW, filters: [] });
  const ranks = Int32Array.from(model.tables.head.modules, ({ path }) => path === "/lib/libb.so" ? 0 : 1);
  const classes = leafClasses(model, "module", ranks), passing = { event: 0, threads: Uint8Array.from([1, 1, 0]), cpus: null, leaves: null };
  assert.equal(classes.classes, 16);
  const all = countBars(model.tables, passing, classes, 10, null);
  assert.deepEqual([[...all.whole], [...all.shown], [...all.cut]], [[1, 2, 0, 0, 0, 0, 0, 0, 0, 1], [1, 1, 0, 0, 0, 0, 0, 0, 0, 1], Array(10).fill(0)]);
  assert.deepEqual([mostly(all, 0), mostly(all, 1), mostly(all, 5)], [2, 1, 0]);
  const { start, list } = samplesBy(model.tables.cpu, 4, model.tables.samples);
  const ofCpu = countBars(model.tables, { ...passing, threads: null }, classes, 10, { list, ranges: [[start[3], start[4]]] });
  assert.deepEqual([[...ofCpu.whole], [...ofCpu.cut]], [[0, 2, 0, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]]);
  assert.deepEqual(new Set(leafClasses(model, "kind", ranks).of), new Set([1]));
});

test("the lane of all expands into groups of threads", () => {
  const whole = lanesOf(appOf(ROWS), 0);
  assert.deepEqual(shown(visible(whole, [])), ["3 threads: 4"]);
  assert.deepEqual(toggled(whole, []), [ALL, "comm:work-N"]);
  assert.deepEqual(toggled(whole, [ALL, "x"]), ["x"]);
  assert.deepEqual(shown(visible(whole, [ALL])), ["3 threads: 4", "  work-N (2): 3", "  main 1: 1"]);
  assert.deepEqual(shown(visible(whole, [ALL, "comm:work-N"])), ["3 threads: 4", "  work-N (2): 3", "    work-1 2: 2", "    work-2 3: 1", "  main 1: 1"]);
  const single = lanesOf(appOf([ROWS[0]]), 0);
  assert.deepEqual([single.name, single.inside], ["main 1", []]);
});

test("the lane of all expands into processors", () => {
  const whole = lanesOf(appOf(ROWS), 4);
  assert.deepEqual(shown(visible(whole, [ALL])), ["3 threads: 4", "  CPU 0: 2", "  CPU 2: 2"]);
});

test("other events have lanes", () => {
  const app = appOf([...ROWS, { stack: ["main"], time: 50, event: 1 }], { events: EVENTS });
  assert.deepEqual(shown(otherEvents(app)), ["faults: 1"]);
  assert.equal(lanesOf(app, 0).count, 4);
});

test("a filter of a processor keeps its samples", () => {
  const model = new Model(tables(ROWS, { threads: THREADS }));
  const look = (...filters) => { model.look({ ...VIEW, filters }); return foldedStacks(model); };
  assert.deepEqual(look({ kind: "cpu", cpu: 2 }), { "main;b": 2 });
  assert.deepEqual(look({ kind: "cpu", cpu: 0 }, { kind: "threads", ids: [1] }), { "main;a": 1 });
  assert.deepEqual(look({ kind: "cpu", cpu: 1 }), {});
  assert.deepEqual(look({ kind: "cpu", cpu: 0 }, { kind: "cpu", cpu: 2 }), {});
  model.look({ ...VIEW, group: "thread", filters: [{ kind: "cpu", cpu: 2 }] });
  assert.deepEqual(foldedStacks(model), { "work-1 (thread 2);main;b": 1, "work-2 (thread 3);main;b": 1 });
  assert.deepEqual([...heatCells(model, { rows: 1, cell: 50, column: 50, columns: 2 }, null).cells], [2, 0]);
  const without = new Model(tables(ROWS.map(({ cpu, ...row }) => row), { threads: THREADS }));
  without.look({ ...VIEW, filters: [{ kind: "cpu", cpu: 0 }] });
  assert.deepEqual(foldedStacks(without), {});
});

test("ticks are round, and one has the unit", () => {
  const texts = (...of) => timeTicks(...of).map(({ text }) => text);
  assert.deepEqual(texts(0, 9e9, 10), ["0 s", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  assert.deepEqual(texts(1.26e9, 2.1e9, 5), ["1.4 s", "1.6", "1.8", "2.0"]);
  assert.deepEqual(texts(0, 1.5e6, 3), ["0 µs", "500", "1000", "1500"]);
  assert.deepEqual(texts(5, 5, 3), ["5 ns"]);
  assert.deepEqual(timeTicks(0, 4e9, 2).map(({ at }) => at), [0, 2e9, 4e9]);
});

test("the look of the timeline is part of the address", () => {
  const state = { ...START, lanes: "cpu", open: [ALL, "comm:a b&c", "events"], tall: 220, filters: [{ kind: "cpu", cpu: 3 }] };
  assert.deepEqual(fromFragment("#" + toFragment(state)), state);
  assert.deepEqual(fromFragment("lanes=x&tall=-1&filter=cpu:x"), START);
});

test("bars are counted again only if other leaves pass", () => {
  const model = new Model(tables(ROWS, { threads: THREADS })), f = (name) => model.names.indexOf(name);
  const leaves = (...filters) => { model.look({ ...VIEW, filters }); return passingLeaves(model.to); };
  const all = leaves(), hidden = leaves({ kind: "hide", at: f("a") }), kept = leaves({ kind: "keep", at: f("a") }), dropped = leaves({ kind: "drop", at: f("a") });
  assert.deepEqual([all, hidden], [null, null]);
  assert.equal(sameLeaves(all, hidden), true);
  assert.deepEqual([sameLeaves(all, kept), sameLeaves(kept, dropped), sameLeaves(kept, leaves({ kind: "keep", at: f("a") }))], [false, false, true]);
});

test("filters keep the scale of the bars, which is that of all samples", () => {
  const app = appOf(ROWS, { modules: { a: "/bin/prog", b: "/lib/libb.so" } }), model = new Model(app.tables), f = model.names.indexOf("b");
  Object.assign(app, { model, state: START, theme: "light", ranks: Int32Array.from([0, 1]), filters: [] });
  const bars = new LaneBars(app), whole = lanesOf(app, 0);
  const look = (width, ...filters) => {
    app.filters = filters;
    model.look({ ...VIEW, filters });
    bars.look(width, whole, "thread");
    const { whole: all, shown } = bars.of(whole), sum = (counts) => counts.reduce((a, b) => a + b, 0);
    return [bars.bars, bars.most, sum(all), sum(shown)];
  };
  assert.deepEqual([look(100), look(100, { kind: "drop", at: f }), look(10, { kind: "drop", at: f }), look(100)], [[4, 1, 4, 4], [4, 1, 4, 2], [1, 2, 4, 2], [4, 1, 4, 4]]);
});
