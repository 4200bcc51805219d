// Engine: filters, groups, costs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { sandwich } from "../src/data/tree/around.js";
import { NONE } from "../src/data/columns.js";
import { Model } from "../src/data/model.js";
import { selection } from "../src/data/samples/select.js";
import { bottomUp, callersOf, topDown } from "../src/data/tree/treerows.js";
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

test("files and modules are counted apart, also if they are equally many", () => {
  const made = tables(STACKS, { modules: MODULES }), { modules, names } = made.head;
  while (modules.length < names.length) modules.push({ path: `/lib/${modules.length}.so`, kind: "elf", count: 0 });
  const model = new Model(made);
  model.look(VIEW);
  const { total } = model.moduleCosts(), files = model.fileCosts();
  assert.deepEqual([total[0], files.total[names.indexOf("work.c")], files.total[names.indexOf("fib.c")]], [8, 12, 4]);
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
  const threads = [[1, 1, "main", "server"], [1, 2, "worker-1", "server"], [7, 7, "worker-22", "env"], [7, 7, "worker-22", "own"]];
  const rows = [{ stack: ["a"], thread: 0, n: 2 }, { stack: ["a", "b"], thread: 1 }, { stack: ["a", "b"], thread: 2, cut: true }, { stack: ["c"], thread: 3 }];
  const by = (group) => foldedStacks(looked({ group, truncated: "apart" }, rows, { threads }));
  assert.deepEqual(by("process"), { "server (process 1);a": 2, "server (process 1);a;b": 1, "env (process 7);[truncated];a;b": 1, "own (process 7);c": 1 });
  assert.deepEqual(by("thread"), { "main (thread 1);a": 2, "worker-1 (thread 2);a;b": 1, "worker-22 (thread 7);[truncated];a;b": 1, "worker-22 (thread 7);c": 1 });
  assert.deepEqual(by("comm"), { "main;a": 2, "worker-N;a;b": 1, "worker-N;[truncated];a;b": 1, "worker-N;c": 1 });
  assert.deepEqual(by("event"), { "cycles;a": 2, "cycles;a;b": 1, "cycles;[truncated];a;b": 1, "cycles;c": 1 });
});

test("grouping many pairs loses none", () => {
  const rows = Array.from({ length: 40_000 }, (_, at) => ({ stack: [`f${at % 200}`], thread: at % 200, time: at }));
  const threads = Array.from({ length: 200 }, (_, at) => [at, at, `t${at}`]);
  const model = looked({ group: "thread" }, rows, { threads });
  assert.equal(model.costs.all, 40_000);
  const { tree } = model.picture([]);
  assert.equal(tree.parent.filter((p) => p === NONE).length, 200);
});

test("of groups, a graph has the nodes that are wide enough, and what these cost with all below", () => {
  const rows = [{ stack: ["a", "b", "c"], thread: 0, n: 60 }, { stack: ["a", "d"], thread: 0, n: 2 }, { stack: ["a"], thread: 0, n: 8 },
    { stack: ["a", "d"], thread: 1, n: 30, cut: true }, { stack: [], thread: 1, n: 5 }, { stack: ["e"], thread: 2, n: 1 }];
  const threads = [[1, 1, "x"], [1, 2, "y"], [1, 3, "z"]], model = looked({ group: "thread", truncated: "apart" }, rows, { threads });
  const shown = (zoom, least) => {
    const { tree, own, total, n, squares, ownN, ownSquares, all } = model.picture(zoom, least), found = {};
    assert.deepEqual([all, n, squares, ownN, ownSquares], [106, total, total, own, own]);
    for (let i = 0; i < tree.n; i++) {
      const path = [];
      for (let at = i; at !== NONE; at = tree.parent[at]) path.unshift(model.name(tree.func[at]));
      found[path.join(";")] = [own[i], total[i]];
    }
    return found;
  };
  const x = "x (thread 1)", y = "y (thread 2)", z = "z (thread 3)";
  const whole = { [x]: [0, 70], [`${x};a`]: [8, 70], [`${x};a;b`]: [0, 60], [`${x};a;b;c`]: [60, 60], [`${x};a;d`]: [2, 2],
    [y]: [5, 35], [`${y};[truncated]`]: [0, 30], [`${y};[truncated];a`]: [0, 30], [`${y};[truncated];a;d`]: [30, 30], [z]: [0, 1], [`${z};e`]: [1, 1] };
  assert.deepEqual(shown([], 0), whole);
  const { [`${x};a;d`]: _, [z]: __, [`${z};e`]: ___, ...wide } = whole;
  assert.deepEqual(shown([], 0.03), wide, "2 and 1 of 106 are too narrow");
  // A frame that is narrow in the total can be wide enough after zooming.
  const group = model.firstGroup + 2;
  assert.deepEqual(shown([group], 0.5), { [z]: [0, 1], [`${z};e`]: [1, 1] });
  assert.deepEqual(shown([model.firstGroup, f("a", rows)], 0.5), { [x]: [0, 70], [`${x};a`]: [8, 70], [`${x};a;b`]: [0, 60], [`${x};a;b;c`]: [60, 60] });
});

test("a group is told with all that is in it, however narrow", () => {
  const rows = [{ stack: ["a"], thread: 0, n: 97 }, { stack: ["a"], thread: 0, cut: true }, { stack: ["a"], thread: 1 }, { stack: ["a"], thread: 1, cut: true }];
  const { tree, total } = looked({ group: "thread", truncated: "apart" }, rows, { threads: [[1, 1, "x"], [1, 2, "y"]] }).picture([], 0.015);
  assert.deepEqual([...tree.parent].map((p, at) => [p === NONE, total[at]]), [[true, 98], [false, 97], [true, 2]]);
});

test("what stands outside of stacks is a caller, too", () => {
  const rows = [{ stack: ["a", "f"], thread: 0, n: 3 }, { stack: ["a", "f"], thread: 1, n: 4, period: 10 }, { stack: ["f"], thread: 1, n: 2, cut: true }, { stack: [], thread: 1, cut: true }];
  const threads = [[1, 1, "x"], [1, 2, "y"]], name = (row) => [model.name(row.func), row.cost];
  const model = looked({ group: "thread", truncated: "apart" }, rows, { threads }), [ran, bare] = bottomUp(model), [inF, truncated] = callersOf(model, ran);
  assert.deepEqual([ran, bare, inF, truncated].map(name), [["f", 9], ["[truncated]", 1], ["a", 7], ["[truncated]", 2]]);
  assert.deepEqual(callersOf(model, inF).map(name), [["y (thread 2)", 4], ["x (thread 1)", 3]]);
  assert.deepEqual([callersOf(model, truncated), callersOf(model, bare)].map((rows) => rows.map(name)), [[["y (thread 2)", 2]], [["y (thread 2)", 1]]]);
  const [last] = callersOf(model, truncated);
  assert.deepEqual([ran, inF, truncated, last].map((row) => row.called), [true, true, true, false]);
  const { callers } = sandwich(model, f("f", rows)), path = (at) => at === NONE ? [] : [...path(callers.tree.parent[at]), model.name(callers.tree.func[at])];
  assert.deepEqual(Object.fromEntries([...callers.total].map((total, at) => [path(at).join(";"), total])), { f: 9, "f;a": 7, "f;a;x (thread 1)": 3, "f;a;y (thread 2)": 4, "f;[truncated]": 2, "f;[truncated];y (thread 2)": 2 });
  const down = (rows) => rows.map((row) => [model.name(row.func), row.own, row.total, ...(row.more ? [down(row.inside())] : [])]);
  assert.deepEqual(down(topDown(model)), [["y (thread 2)", 0, 7, [["a", 0, 4, [["f", 4, 4]]], ["[truncated]", 1, 3, [["f", 2, 2]]]]], ["x (thread 1)", 0, 3, [["a", 0, 3, [["f", 3, 3]]]]]]);
  assert.equal(model.find((text) => text.includes("thread 1")).found, 3);
  assert.equal(model.find((text) => text === "a" || text.includes("trunc")).found, 10);
  const costs = model.functionCosts(), at = (of) => [costs.own[of], costs.total[of]];
  assert.deepEqual([f("f", rows), f("a", rows), model.firstGroup, model.firstGroup + 1, model.truncatedFunction()].map(at), [[9, 9], [0, 7], [0, 3], [0, 7], [1, 3]]);
  model.look({ ...VIEW, group: "thread", truncated: "apart", weight: "period" });
  assert.deepEqual(foldedStacks(model), { "x (thread 1);a;f": 3, "y (thread 2);a;f": 40, "y (thread 2);[truncated];f": 2, "y (thread 2);[truncated]": 1 });
  assert.deepEqual(model.widest(Uint8Array.from({ length: 10 }, (_, at) => at === f("f", rows) ? 1 : 0)).map((at) => model.name(at)), ["y (thread 2)", "a", "f"]);
});

test("both sides of a comparison are in groups", () => {
  const rows = [{ stack: ["a"], thread: 0, time: 0, n: 2 }, { stack: ["a", "b"], thread: 0, time: 10 }, { stack: ["a"], thread: 1, time: 10, n: 3 }];
  const threads = [[1, 1, "x"], [1, 2, "y"]], model = looked({ group: "comm", filters: [{ kind: "time", from: 10, to: 10 }] }, rows, { threads });
  const { tree, own } = model.bothSides([selection(model.tables, [{ kind: "time", from: 0, to: 5 }])]);
  const path = (at) => at === NONE ? [] : [...path(tree.parent[at]), model.name(tree.func[at])];
  assert.deepEqual([...tree.func].map((_, at) => [path(at).join(";"), own[0].n[at], own[1].cost[at]]), [["x", 0, 0], ["x;a", 2, 0], ["x;a;b", 0, 1], ["y", 0, 0], ["y;a", 0, 3]]);
  model.look({ ...VIEW });
  assert.equal(model.bothSides([selection(model.tables, [])]), null, "without groups, the present tree will do");
});

test("a search finds functions and what their stacks cost", () => {
  const found = looked({}).find((name) => name.includes("alloc"));
  assert.equal(found.found, 8);
  assert.equal(looked({}).find(null), null);
});

test("functions of one name have the shortest distinct mark", () => {
  const made = tables(["a", "b", "c", "d"].map((name) => ({ stack: [name] })));
  const { head } = made, { functions, names } = head;
  const set = (at, name, file, place) => { functions[at] = [names.indexOf(name), names.push(file) - 1, functions[at][2], place]; };
  const shown = () => { const model = new Model(made); return [0, 1, 2, 3].map((f) => model.name(f)); };
  set(0, "a", "src/x.c", 7); set(1, "a", "src/y.c", 7); set(2, "b", "", -0x1150); set(3, "b", "", -0x1400);
  assert.deepEqual(shown(), ["a (x.c)", "a (y.c)", "b (0x1150)", "b (0x1400)"]);
  set(1, "a", "src/x.c", 9); set(2, "c", "", -0x1150);
  assert.deepEqual(shown(), ["a (x.c:7)", "a (x.c:9)", "c", "b"]);
  set(1, "a", "lib/x.c", 7);
  assert.deepEqual(shown().slice(0, 2), ["a (src/x.c:7)", "a (lib/x.c:7)"]);
});

test("parts are charged to their functions", () => {
  const stacks = ["parse", "parse.cold", "parse.part.0.isra.0", "sort.cold", "f(int) [clone .cold]", "f(int)"];
  const model = looked({ filters: [{ kind: "parts" }] }, stacks.map((name) => ({ stack: ["main", name] })));
  assert.deepEqual(foldedStacks(model), { "main;parse": 3, "main;sort.cold": 1, "main;f(int)": 2 });
});

test("a line of another file has that file", () => {
  const made = tables([{ stack: ["a"] }]);
  made.head.elsewhere = [[made.head.names.push("frag.inc") - 1, 3]];
  const model = new Model(made);
  assert.deepEqual([model.lineOf(0, 5), model.lineOf(0, 0x80000000)], [{ file: "a.c", line: 5 }, { file: "frag.inc", line: 3 }]);
});

test("an empty recording is no error", () => {
  for (const group of ["none", "thread", "event"]) {
    const model = new Model(tables([]));
    model.look({ ...VIEW, group, truncated: "apart" });
    assert.equal(model.costs.all, 0);
    model.functionCosts();
  }
});
