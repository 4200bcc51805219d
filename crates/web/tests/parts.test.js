// Names, numbers, colours, the address, and layout.
import assert from "node:assert/strict";
import { test } from "node:test";
import { functionsOfFile, nodeAt, sandwich } from "../src/data/tree/around.js";
import { linesOf } from "../src/data/listing/lines.js";
import { codeLines, endOf, hex, addressesOf } from "../src/data/code.js";
import { INK, contrast, heatColour, kindColour, leanColour, moduleColour, parse } from "../src/data/colour.js";
import { NONE, readParts, readTables } from "../src/data/columns.js";
import { processRows, threadRows } from "../src/data/samples/threads.js";
import { heatCells, heatShape } from "../src/data/samples/heat.js";
import { boxAt, layout } from "../src/data/tree/layout.js";
import { Model } from "../src/data/model.js";
import { baseName, folded, groupName, isInvalid, matcher } from "../src/data/names.js";
import { axisStep, duration, effective, interval, percent, roundDuration, spread, unbroken } from "../src/data/numbers.js";
import { samplesByThread, timeOrder } from "../src/data/samples/order.js";
import { START, fromFragment, toFragment } from "../src/data/state.js";
import { bottomUp, callersOf } from "../src/data/tree/treerows.js";
import { VIEW, tables } from "./tables.js";

test("names of files and threads", () => {
  assert.equal(baseName("/usr/lib/libc.so.6"), "libc.so.6");
  assert.equal(folded("worker-12 of 3"), "worker-12 of N");
  assert.equal(folded("cc1plus"), "cc1plus");
  assert.deepEqual([groupName(["pool-1", "pool-2"]), groupName(["worker-7", "worker-7"]), groupName([""])], ["pool-N", "worker-7", "?"]);
});

test("a search is a part of a name or a pattern", () => {
  assert.equal(matcher("FOO")?.("afoob"), true);
  assert.equal(matcher("/^a.*c$/")?.("abc"), true);
  assert.equal(matcher("/(/")?.("("), false, "a pattern that is none finds nothing");
  assert.equal(matcher(""), null);
  assert.deepEqual(["/(/", "/a+/", "(", ""].map(isInvalid), [true, false, false, false]);
});

test("numbers are never rounded to none or all", () => {
  assert.deepEqual([[1, 3], [0, 5], [1, 1e6], [999999, 1e6], [5, 5], [1, 20]].map(([a, b]) => percent(a, b)), ["33.3 %", "0 %", "<0.01 %", ">99.9 %", "100.0 %", "5.00 %"]);
  assert.equal(unbroken("own 9.9 % (8.1–12 %): 3"), "own 9.9\u00a0% (8.1–12\u00a0%): 3");
  assert.deepEqual([0, 5e6, 2.5e6, 80e6, 1e9, 1.5e9, 200e6, 200e9].map(roundDuration), ["0 s", "5 ms", "2.5 ms", "80 ms", "1 s", "1.5 s", "200 ms", "200 s"]);
  assert.deepEqual([5, 1500, 2.5e6, 1.5e9, 200e9].map(duration), ["5 ns", "1.5 µs", "2.50 ms", "1.50 s", "200 s"]);
  assert.deepEqual([axisStep(10, 10), axisStep(79, 12), axisStep(0.013, 8)], [1, 10, 0.002]);
});

test("shares of few samples have an interval", () => {
  const [low, high] = interval(0.1, 100);
  assert.ok(Math.abs(low - 0.05523) < 1e-4 && Math.abs(high - 0.17437) < 1e-4, "Wilson's interval of 10 of 100");
  assert.equal(spread(10, 100, 10, 100), "5.5–17.4 %");
  assert.equal(spread(5000, 10000, 5000, 10000), "", "many samples need none");
  // For samples of equal weight, only their number matters.
  assert.equal(spread(10 * 7, 100 * 7, 10 * 49, 100 * 49), "5.5–17.4 %");
  assert.equal(effective(70, 700, 490, 4900), 100);
  // One sample of 91 and nine of 1 are little more than one sample.
  assert.ok(effective(91, 100, 91 ** 2, 91 ** 2 + 9) < 2);
  assert.equal(effective(100, 100, 1000, 1000), 10);
  assert.deepEqual(interval(0, 0), [0, 1]);
});

test("text can be read on every colour", () => {
  for (const theme of ["light", "dark"]) {
    const ink = parse(INK[theme]);
    for (let at = 0; at < 40; at++) {
      const colours = [moduleColour(at - 1, at, theme), ...["user", "inlined", "kernel", "jit", "anonymous", "group"].map((kind) => kindColour(kind, at, theme)),
        leanColour(at / 20 - 1, true, theme), leanColour(0, false, theme)];
      for (const colour of colours) assert.ok(contrast(parse(colour), ink) >= 4.5, `${theme} ${at} ${colour}`);
    }
    assert.notEqual(heatColour(1, theme, false), heatColour(0.2, theme, false));
  }
});

test("an address keeps what is looked at", () => {
  const state = { ...START, view: "flame", event: 2, weight: "period", group: "thread", search: "a&b=ü", zoom: [3, 1, 4], func: 7, thread: 0, base: [10, 20], names: "short",
    filters: [{ kind: "focus", at: 3 }, { kind: "recursion" }, { kind: "time", from: 5, to: 9 }, { kind: "comm", comm: "worker-N:x" }, { kind: "threads", ids: [1, 5] }, { kind: "process", pid: -1 }, { kind: "cgroup", cgroup: "/user.slice/a:b" }] };
  assert.deepEqual(fromFragment("#" + toFragment(state)), state);
  assert.equal(toFragment(START), "");
  assert.deepEqual(fromFragment("#filter=nonsense&filter=focus:x&zoom=a.b&event=-3&weight=lots&base=1"), START);
});

test("the boxes of a graph", () => {
  const model = new Model(tables([{ stack: ["a", "b"], n: 3 }, { stack: ["a", "c"], n: 1 }, { stack: ["d"], n: 4 }]));
  model.look(VIEW);
  const picture = { tree: model.tree, children: model.children, total: model.costs.total, all: model.costs.all, title: "all" };
  const shown = (zoom) => layout(picture, zoom, 80).map((row) => row.map((box) => [box.node === NONE ? "all" : model.name(model.tree.func[box.node]), box.x, box.w, box.outer]));
  assert.deepEqual(shown(NONE), [[["all", 0, 80, false]], [["a", 0, 40, false], ["d", 40, 40, false]], [["b", 0, 30, false], ["c", 30, 10, false]]]);
  const a = nodeAt(model.picture([0]), [0]);
  assert.deepEqual(shown(a), [[["all", 0, 80, true]], [["a", 0, 80, false]], [["b", 0, 60, false], ["c", 60, 20, false]]]);
  const row = layout(picture, NONE, 80)[1];
  assert.equal(boxAt(row, 41), row[1]);
  assert.equal(boxAt(row, 80.5), null);
  assert.equal(boxAt(undefined, 0), null);
});

test("what is around a function", () => {
  const rows = [{ stack: ["main", "a@1", "f@10", "g"], n: 4 }, { stack: ["main", "b", "f@11"], n: 2 }, { stack: ["main", "b", "f@10", "f@12"], n: 1 }];
  const model = new Model(tables(rows));
  model.look(VIEW);
  const f = model.names.indexOf("f"), { callers, callees } = sandwich(model, f);
  const tree = (picture) => Object.fromEntries([...picture.tree.func].map((func, at) => [path(picture.tree, at).join(";"), picture.total[at]]));
  const path = (tree, at) => at === NONE ? [] : [...path(tree, tree.parent[at]), model.name(tree.func[at])];
  assert.deepEqual(tree(callers), { f: 7, "f;a": 4, "f;a;main": 4, "f;b": 3, "f;b;main": 3 });
  assert.deepEqual(tree(callees), { f: 7, "f;g": 4, "f;f": 1 });
  assert.deepEqual([callers.all, callees.all], [7, 7]);
  const lines = linesOf(model, f);
  assert.deepEqual([...lines].sort(), [[10, { own: 0, total: 5 }], [11, { own: 2, total: 2 }], [12, { own: 1, total: 0 }]]);
  assert.deepEqual(addressesOf(model, f), [{ address: 0x1001, n: 2 }, { address: 0x1002, n: 1 }]);
  const block = { module: model.moduleOf()[f], start: 0x0fff, lengths: [1, 2, 3], text: "push %rbp\nmov $1,%eax\nret" };
  const code = codeLines(model, f, block);
  assert.deepEqual(code.lines.map((line) => [hex(line.address), line.text, line.own, line.all]), [["0xfff", "push %rbp", 0, 0], ["0x1000", "mov $1,%eax", 2, 6], ["0x1002", "ret", 1, 1]]);
  assert.deepEqual([code.all, endOf(block)], [7, 0x1005]);
  const ran = bottomUp(model);
  assert.deepEqual(ran.map((row) => [model.name(row.func), row.cost]), [["g", 4], ["f", 3]]);
  assert.deepEqual(callersOf(model, ran[1]).map((row) => [model.name(row.func), row.cost]), [["b", 2], ["f", 1]]);
  assert.deepEqual(functionsOfFile(model, model.fileOf()[f]), [f]);
  model.look({ ...VIEW, filters: [{ kind: "drop", at: model.names.indexOf("g") }] });
  assert.deepEqual([...linesOf(model, f)].map(([line, cost]) => [line, cost.own]), [[11, 2], [10, 0], [12, 1]]);
});

test("cells of the heat map hold five sampling periods, and columns fit a screen", () => {
  const of = (span, unit, samples, period) => {
    const { rows, cell, column, columns } = heatShape(span, unit, samples, period);
    return [cell * unit / 1e6, column * unit / 1e6, rows, columns];
  };
  assert.deepEqual(of(79e9 / 100, 100, 45_000, 0), [10, 500, 50, 159], "570 samples per second");
  assert.deepEqual(of(3.4e9, 1, 677, 1e9 / 199), [25, 200, 8, 18], "one processor at 199 Hz");
  assert.deepEqual(of(60e9, 1, 300, 1e9 / 199), [25, 1000, 40, 61], "mostly idle");
  assert.deepEqual(of(1666e9, 1, 200_000, 0), [200, 10000, 50, 167], "a long recording");
  assert.deepEqual(of(0, 1, 1, 0), [1e-6, 1e-6, 1, 1], "one sample");
  const model = new Model(tables([{ stack: ["a"], time: 0, n: 2 }, { stack: ["b"], time: 60 }]));
  model.look(VIEW);
  const map = heatCells(model, { cell: 10, column: 500, rows: 50, columns: 1 }, model.find((name) => name === "a").under);
  assert.deepEqual([map.cells.length, map.cells[0], map.cells[6], map.found[0], map.found[6], map.most], [50, 2, 1, 2, 0, 2]);
});

test("threads and processes have the cost of the view", () => {
  const threads = [[1, 1, "pool-1", "make"], [1, 2, "pool-2", "make"], [3, 3, "cc1plus", "cc1plus"], [4, 4, "cc1plus", "cc1plus"]];
  const rows = [0, 1, 1, 2, 3, 3].map((thread, at) => ({ stack: [at === 1 ? "g" : "f"], time: at, thread, period: 10 }));
  const model = new Model(tables(rows, { threads }));
  const shown = (list) => list.map(({ name, ids, pids, cost, squares }) => [name, ids, pids, cost, squares]);
  model.look({ ...VIEW, weight: "period" });
  assert.deepEqual(shown(threadRows(model)), [["pool-N", [0, 1], [1], 30, 300], ["cc1plus", [2, 3], [3, 4], 30, 300]]);
  assert.deepEqual(shown(processRows(model)), [["make", [0, 1], [1], 30, 300], ["cc1plus", [2, 3], [3, 4], 30, 300]]);
  const f = model.names.indexOf("f");
  model.look({ ...VIEW, filters: [{ kind: "time", from: 1, to: 4 }, { kind: "keep", at: f }] });
  assert.deepEqual(shown(threadRows(model)), [["cc1plus", [2, 3], [3, 4], 2, 2], ["pool-2", [1], [1], 1, 1]]);
});

test("neighbours in time share the boxes of their callers", () => {
  const rows = [{ stack: ["a", "b"], time: 0 }, { stack: ["a", "b"], time: 10 }, { stack: ["a", "c"], time: 20 }, { stack: ["a", "c"], time: 100 }];
  const model = new Model(tables(rows));
  model.look(VIEW);
  const made = timeOrder(model, 0, 0, 100, 1000, samplesByThread(model.tables));
  const boxes = made.rows.map((row) => row.map((box) => [model.name(model.tree.func[box.node]), box.from, box.to, box.samples]));
  assert.deepEqual(boxes, [[["a", 0, 50, 3], ["a", 100, 100, 1]], [["b", 0, 20, 2], ["c", 20, 50, 1], ["c", 100, 100, 1]]]);
});

test("tables of another layout are refused", () => {
  const head = new TextEncoder().encode(JSON.stringify({ version: 1, columns: [] }));
  const bytes = new Uint8Array(8 + Math.ceil(head.length / 8) * 8);
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 8);
  assert.throws(() => readTables(readParts(bytes.buffer)), /layout 1, not 3/);
});

test("columns are read as they are written", () => {
  const columns = [["parent", "u32", 1], ["func", "u32", 1], ["line", "u32", 1], ["flags", "u8", 1], ["leafNode", "u32", 1], ["leafPlace", "u32", 1], ["leafEnd", "u8", 1],
    ["placeLow", "u32", 1], ["placeHigh", "u32", 1], ["time", "u32", 3], ["thread", "u8", 3], ["leaf", "u32", 3], ["event", "u16", 3], ["period", "f64", 3]];
  const head = new TextEncoder().encode(JSON.stringify({ version: 3, columns })), first = 8 + Math.ceil(head.length / 8) * 8;
  const bytes = new Uint8Array(first + 9 * 8 + 16 + 8 + 16 + 8 + 24), view = new DataView(bytes.buffer);
  view.setUint32(0, head.length, true);
  bytes.set(head, 8);
  view.setUint32(first, NONE, true);
  // The lowest bytes of all numbers come first.
  for (const [at, delta] of [5, 2, 3].entries()) bytes[first + 72 + at] = delta;
  bytes[first + 72 + 3] = 1;
  for (const [plane, byte] of [0, 0, 0, 0, 0, 0, 0x1c, 0x40].entries()) bytes[bytes.length - 24 + 3 * plane + 2] = byte;
  const made = readTables(readParts(bytes.buffer));
  assert.deepEqual([[...made.time], made.span, made.samples, made.lines.parent[0], made.period[2]], [[261, 263, 266], 266, 3, NONE, 7]);
});
