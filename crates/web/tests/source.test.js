// Source view: lines with their costs, inlined lines, the bounds of functions.
import assert from "node:assert/strict";
import { test } from "node:test";
import { codeLines, hex } from "../src/data/code.js";
import { Model } from "../src/data/model.js";
import { extentOf } from "../src/data/listing/extent.js";
import { functionsAt, jumpsOf, shortTarget, targetOf } from "../src/data/listing/jumps.js";
import { linesOf } from "../src/data/listing/lines.js";
import { START, fromFragment, toFragment } from "../src/data/state.js";
import { Arrows } from "../src/views/tables/arrows.js";
import { VIEW, tables } from "./tables.js";

/** A loop with an inlined helper, a helper inlined into that, and a call. */
const ROWS = [
  { stack: ["main@50", "shade@40"], n: 3 }, { stack: ["main@50", "shade@40", "mix@14"], n: 7 },
  { stack: ["main@50", "shade@40", "mix@13", "clamp@7"], n: 5 }, { stack: ["main@50", "shade@40", "mix@13", "clamp@8"], n: 2 },
  { stack: ["main@50", "shade@42", "clamp@8"], n: 4 }, { stack: ["main@50", "shade@42", "sqrt@1"], n: 6 }, { stack: ["main@50", "shade@45"], n: 1 },
  { stack: ["main@51", "clamp@7"], n: 9 },
];
const model = new Model(tables(ROWS, { inlined: ["mix", "clamp"] }));
model.look(VIEW);
const f = (name) => model.names.indexOf(name);
const shown = (rows) => rows.map(({ func, number, own, total, inner }) => [`${model.name(func)}:${number}`, own, total, ...inner ? [shown(inner)] : []]);

test("the lines of inlined functions have their costs in place", () => {
  const lines = linesOf(model, f("shade"));
  assert.deepEqual([...lines].map(([line, { own, total, inner }]) => [line, own, total, shown(inner || [])]), [
    [40, 3, 17, [["mix:14", 7, 7], ["mix:13", 0, 7, [["clamp:7", 5, 5], ["clamp:8", 2, 2]]]]],
    [42, 0, 10, [["clamp:8", 4, 4]]],
    [45, 1, 1, []],
  ]);
  assert.deepEqual(lines.get(40).inner[1].inner[0].key, `40 ${f("mix")}:13 ${f("clamp")}:7`);
});

test("the inclusive costs of a function's lines are its own", () => {
  const { own, total } = model.functionCosts(), sum = (name, which) => [...linesOf(model, f(name)).values()].reduce((sum, row) => sum + row[which], 0);
  for (const name of ["main", "shade", "mix", "clamp", "sqrt"]) assert.deepEqual([sum(name, "own"), sum(name, "total")], [own[f(name)], total[f(name)]], name);
  assert.deepEqual([total[f("shade")], total[f("clamp")]], [28, 20]);
});

test("a recursive function that is inlined into itself counts once", () => {
  const model = new Model(tables([{ stack: ["walk@1", "step@5", "walk@2"], n: 4 }, { stack: ["walk@1"], n: 1 }], { inlined: ["step"] }));
  model.look(VIEW);
  const lines = linesOf(model, model.names.indexOf("walk"));
  assert.deepEqual([...lines].map(([line, { own, total, inner }]) => [line, own, total, inner?.map((one) => [one.number, one.own, one.total])]),
    [[1, 1, 5, [[5, 0, 4]]], [2, 4, 0, undefined]]);
});

test("the inlined lines of a recursive function have the own cost of all calls", () => {
  const of = (stacks, inlined) => {
    const made = new Model(tables(stacks, { inlined }));
    made.look(VIEW);
    return [...linesOf(made, made.names.indexOf("qsort"))].map(([line, { own, total, inner }]) => [line, own, total, ...(inner ?? []).map((one) => [one.number, one.own, one.total])]);
  };
  const direct = [{ stack: ["main", "qsort@2", "qsort@2", "swap@9"], n: 10 }, { stack: ["main", "qsort@2", "swap@9"], n: 1 }];
  assert.deepEqual(of(direct, ["swap"]), [[2, 0, 11, [9, 11, 1]]]);
  // Through another function, into which the inner call is inlined.
  const through = [{ stack: ["main", "qsort@2", "sort@4", "qsort@3", "swap@9"], n: 5 }];
  assert.deepEqual(of(through, ["swap"]), [[2, 0, 5], [3, 0, 0, [9, 5, 0]]]);
});

test("an instruction belongs to the lines of all functions that are inlined around it", () => {
  const block = { module: model.moduleOf()[f("shade")], start: 0x1000, lengths: Array(8).fill(1), text: Array(8).fill("nop").join("\n") };
  const { lines } = codeLines(model, f("shade"), block);
  assert.deepEqual(lines.map((line) => [line.own, line.all, line.of]), [
    [3, 3, ["40"]], [0, 7, ["40", `40 ${f("mix")}:14`]], [0, 5, ["40", `40 ${f("mix")}:13`, `40 ${f("mix")}:13 ${f("clamp")}:7`]],
    [0, 2, ["40", `40 ${f("mix")}:13`, `40 ${f("mix")}:13 ${f("clamp")}:8`]], [0, 4, ["42", `42 ${f("clamp")}:8`]], [0, 6, []], [1, 1, ["45"]], [0, 9, []],
  ]);
});

test("a function is shown from its heading to its end", () => {
  const of = (text, first, last, declared) => { const found = extentOf(text.split("\n"), first, last, declared); return [found.first, found.last]; };
  const c = "int x;\n\ntemplate <typename T>\nstatic float\nmix(float a,\n    float b)\n{\n  for (;;) {\n    if (a) {\n      f(a,\n        b);\n    }\n  }\n\n  return a;\n}\n\nint y;";
  assert.deepEqual([of(c, 11, 11), of(c, 7, 15), of(c, 5, 16), of(c, 16, 16), of(c, 9, 9, 5)], Array(5).fill([3, 16]));
  const rust = "impl A {\n    #[inline]\n    pub fn f(\n        &self,\n    ) -> Vec<u8> {\n        let x = self.all.iter().map(|one| {\n            one + 1\n        });\n        x.collect()\n    }\n\n    fn g() {}\n}";
  assert.deepEqual([of(rust, 6, 9), of(rust, 9, 9), of(rust, 9, 9, 3), of(rust, 12, 12)], [[2, 10], [2, 10], [2, 10], [12, 12]]);
  assert.deepEqual(of(rust, 7, 7), [6, 8], "a closure");
  const python = "import x\n\nclass A:\n  @cached\n  def f(self, a):\n    for x in a:\n      y(x)\n\n    return 2\n\n  def g(self):\n    pass";
  assert.deepEqual([of(python, 7, 7), of(python, 12, 12)], [[4, 9], [11, 12]]);
  assert.deepEqual(of(Array(30).fill("x").join("\n"), 10, 12), [4, 18], "no heading");
  assert.deepEqual(of("f() {\n}", 5, 6), [1, 6], "a text of another version");
});

test("the targets of jumps and calls are read", () => {
  const of = (text) => { const found = targetOf(text); return found && [found.address, found.isCall]; };
  assert.deepEqual(["je 0x1478", "jmp 0x13f8", "bnd jmp 0x10", "jne,pt 0x20", "loop 0x30", "call 0x40", "callq 0x50", "notrack jmp *%rax", "call *%rax", "jmp *0x2038(%rip)", "mov $0x10,%eax", "call *0x40"].map(of),
    [[0x1478, false], [0x13f8, false], [0x10, false], [0x20, false], [0x30, false], [0x40, true], [0x50, true], null, null, null, null, null]);
});

test("jumps inside a function have lanes without overlaps, short ones first", () => {
  const code = (...texts) => texts.map((text, at) => ({ address: 0x10 + at, text }));
  assert.deepEqual(jumpsOf(code("jmp 0x15", "je 0x13", "nop", "jne 0x11", "jmp 0x99", "jmp 0x15", "call 0x10", "jmp 0x17")), [
    { from: 0, to: 5, lane: 2 }, { from: 1, to: 3, lane: 0 }, { from: 3, to: 1, lane: 1 }, { from: 5, to: 5, lane: 2 }, { from: 7, to: 7, lane: 0 },
  ]);
  const all = jumpsOf(code(...Array.from({ length: 8 }, (_, at) => `jmp ${hex(0x10 + 15 - at)}`), ...Array(8).fill("nop")));
  assert.deepEqual(all.map((jump) => jump.lane), [-1, -1, 5, 4, 3, 2, 1, 0]);
});

test("the jumps that cross a row are found when it is drawn", () => {
  const arrows = new Arrows(), jumps = [[0, 5], [1, 3], [3, 1], [5, 5], [200, 40]].map(([from, to]) => ({ from, to, lane: 0 }));
  arrows.show(jumps);
  const crossing = (...rows) => rows.map((row) => arrows.crossing(row).map((jump) => jumps.indexOf(jump)));
  assert.deepEqual(crossing(-1, 0, 2, 4, 5, 6), [[], [0], [0, 1, 2], [0], [0, 3], []]);
  assert.deepEqual(crossing(39, 40, 100, 200, 201), [[], [4], [4], [4], []]);
  arrows.at = 200;
  assert.deepEqual([40, 100, 200, 5].map((row) => [arrows.hasEnd(row), arrows.isEnd(row)]), [[true, true], [false, false], [true, true], [true, false]]);
  // A list for each row would have 1,600,000,000 entries.
  const many = Array.from({ length: 40_000 }, (_, row) => ({ from: row, to: 39_999 - row, lane: -1 }));
  arrows.show(many);
  assert.equal(arrows.crossing(20_000).length, 40_000);
  assert.deepEqual(arrows.crossing(0), [many[0], many[39_999]]);
  assert.equal(arrows.blocks.size, 2);
});

test("a call's target has the name of the function that has samples in the code there", () => {
  const module = model.moduleOf()[f("shade")], block = (start, length) => ({ module, start, lengths: [length], text: "nop" });
  const found = functionsAt(model, module, [block(0x1000, 4), block(0x1007, 2), block(0x2000, 4), { ...block(0x1004, 3), module: module + 1 }]);
  assert.deepEqual([...found], [[0x1000, f("shade")], [0x1007, f("main")]]);
});

test("targets of aarch64 code are read from its text", () => {
  const of = (text) => { const found = targetOf(text); return found && [found.address, found.isCall]; };
  for (const [text, address, isCall] of [["bl 0x400684", 0x400684, true], ["b 0x10", 0x10, false], ["b.hs 0x10", 0x10, false],
    ["cbz x0, 0x10", 0x10, false], ["cbnz w19, 0x10", 0x10, false], ["tbz w0, #0x3, 0x10", 0x10, false]]) {
    assert.deepEqual(of(text), [address, isCall], text);
  }
  for (const text of ["br x17", "blr x1", "adrp x16, 0x490000", "ldr x0, 0x10", "bti c", "bic x0, x1, x2"]) assert.equal(of(text), null, text);
});

test("names of targets are short, with their ends", () => {
  assert.deepEqual(["memcpy@plt", "main", "a::b<int>::c(int)+0x10", "std::vector<int>::push(int)@plt"].map(shortTarget),
    ["memcpy@plt", "main", "a::b<…>::c+0x10", "std::vector<…>::push@plt"]);
});

test("the width of the lines is in the address", () => {
  assert.equal(toFragment({ ...START, view: "source", wide: 420 }), "view=source&wide=420");
  assert.deepEqual([fromFragment("wide=420").wide, fromFragment("wide=-1").wide], [420, 0]);
});
