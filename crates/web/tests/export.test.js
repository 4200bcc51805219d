// Export: folded stacks, and profiles of pprof.
import assert from "node:assert/strict";
import { test } from "node:test";
import { pprofBytes } from "../src/data/export/pprof.js";
import { Message } from "../src/data/export/protobuf.js";
import { eachStack, foldedText, stacksOf } from "../src/data/export/stacks.js";
import { Model } from "../src/data/model.js";
import { hotPath, topDown } from "../src/data/tree/treerows.js";
import { VIEW, tables } from "./tables.js";

const ROWS = [
  { stack: ["main@3", "work@7", "alloc@9"], n: 5, period: 10 }, { stack: ["main@3", "work@8"], n: 2, period: 20 },
  { stack: ["main@4", "a;b@1"], n: 1, period: 5 }, { stack: ["work@8"], n: 4, period: 1, cut: true },
];

function shown(view, inlined = []) {
  const made = tables(ROWS, { modules: { main: "/bin/app", alloc: "/lib/libc.so.6" } });
  made.head.events = [{ name: "cycles", unit: "count", period: null, rate: 1, frequency: 0 }];
  for (let node = 0; node < made.lines.n; node++) if (inlined.includes(made.head.names[made.head.functions[made.lines.func[node]][0]])) made.lines.flags[node] = 1;
  const model = new Model(made);
  model.look({ ...VIEW, ...view });
  return { ...stacksOf(model), notes: ["a note"] };
}

/** Fields of a message: numbers, and bytes by field. */
function fields(bytes) {
  const found = [];
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return Number(BigInt.asIntN(64, value));
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    if (tag % 8 === 0) found.push([tag >> 3, varint()]);
    else {
      const length = varint();
      found.push([tag >> 3, bytes.subarray(at, at + length)]);
      at += length;
    }
  }
  return found;
}
const numbers = (bytes) => fields(Uint8Array.from([...bytes].flatMap((byte, at) => at === 0 || bytes[at - 1] < 128 ? [8, byte] : [byte]))).map(([, value]) => value);

/** Decoded profile, with samples as texts of frames from the innermost one outwards. */
function decoded(bytes) {
  const all = fields(bytes), of = (field) => all.filter(([one]) => one === field).map(([, value]) => value);
  const texts = of(6).map((text) => new TextDecoder().decode(text)), get = (list, field) => list.find(([one]) => one === field)?.[1] ?? 0;
  const functions = new Map(of(5).map(fields).map((one) => [get(one, 1), { name: texts[get(one, 2)], file: texts[get(one, 4)] }]));
  const mappings = new Map(of(3).map(fields).map((one) => [get(one, 1), texts[get(one, 5)]]));
  const locations = new Map(of(4).map(fields).map((one) => [get(one, 1), {
    module: mappings.get(get(one, 2)), lines: one.filter(([field]) => field === 4).map(([, line]) => fields(line)).map((line) => `${functions.get(get(line, 1)).name}:${get(line, 2)}`),
  }]));
  const samples = of(2).map(fields).map((one) => ({ stack: numbers(get(one, 1)).map((id) => locations.get(id).lines.join("+")), values: numbers(get(one, 2)), labels: one.filter(([field]) => field === 3).length }));
  return { samples, mappings: [...mappings.values()], types: of(1).map(fields).map((one) => `${texts[get(one, 1)]}/${texts[get(one, 2)]}`), locations, functions, first: texts[0] };
}

test("folded stacks are the shown ones, with their weights", () => {
  assert.equal(foldedText(shown({})), "main;a:b 1\nmain;work 2\nmain;work;alloc 5\nwork 4\n");
  assert.equal(foldedText(shown({ weight: "period" })), "main;a:b 5\nmain;work 40\nmain;work;alloc 50\nwork 4\n");
  assert.equal(foldedText(shown({ truncated: "apart", group: "comm" })), "main;[truncated];work 4\nmain;main;a:b 1\nmain;main;work 2\nmain;main;work;alloc 5\n");
  const main = shown({}).model.names.indexOf("main"), work = shown({}).model.names.indexOf("work");
  assert.equal(foldedText(shown({ filters: [{ kind: "focus", at: work }] })), "work 6\nwork;alloc 5\n");
  // The only frame of a stack may be hidden.
  assert.equal(foldedText(shown({ filters: [{ kind: "hide", at: work }, { kind: "hide", at: main }] })), "[no frames] 6\na:b 1\nalloc 5\n");
});

test("rounded stacks have the sums of the exact ones", () => {
  const model = new Model(tables(ROWS)), exact = [0.4, 0.4, 0.4, 0, 0.4, 2.3], bare = 0.4;
  model.look(VIEW);
  const tree = { n: exact.length, parent: Uint32Array.from(exact, () => 0xffffffff) }, found = [];
  const side = (scale) => ({ cost: Float64Array.from(exact, (one) => one * scale), n: Float64Array.from(exact, (_, at) => at < 4 ? 1 : 0), bare: bare * scale, bareN: 0 });
  eachStack({ model, tree, sides: [side(1), side(0.5)] }, (...stack) => { found.push(stack); });
  assert.deepEqual(found, [[0, [0, 0], [1, 1]], [1, [1, 0], [1, 1]], [2, [0, 1], [1, 1]], [3, [0, 0], [1, 1]], [4, [1, 0], [0, 0]], [5, [2, 1], [0, 0]]]);
  const sum = (at) => found.reduce((total, [, costs]) => total + costs[at], 0);
  // 4.3 and 2.15 without rounding.
  assert.deepEqual([sum(0), sum(1)], [4, 2]);
});

test("a profile of pprof has the same stacks", () => {
  const made = decoded(pprofBytes(shown({ weight: "period" })));
  assert.deepEqual(made.types, ["samples/count", "cycles/count"]);
  assert.deepEqual(made.mappings, ["/bin/program", "/bin/app", "/lib/libc.so.6"], "the costliest program is first");
  assert.equal(made.first, "");
  const by = Object.fromEntries(made.samples.map(({ stack, values }) => [stack.join(" "), values]));
  assert.deepEqual(by, { "alloc:9 work:7 main:3": [5, 50], "work:7 main:3": [2, 40], "a;b:1 main:3": [1, 5], "work:8": [4, 4] });
  assert.deepEqual([...made.functions.values()].find((one) => one.name === "alloc"), { name: "alloc", file: "alloc.c" });
});

test("inlined functions share the location of their caller", () => {
  const made = decoded(pprofBytes(shown({}, ["alloc"])));
  assert.deepEqual(made.samples.map(({ stack }) => stack.join(" ")).sort(), ["a;b:1 main:3", "alloc:9+work:7 main:3", "work:7 main:3", "work:8"]);
  assert.deepEqual(made.samples.reduce((sum, { values }) => sum + values[0], 0), 12);
});

test("numbers are encoded as varints", () => {
  const message = new Message();
  message.number(1, 300);
  message.number(2, -1);
  message.number(3, 0);
  message.number(4, 2 ** 50 + 1);
  message.packed(5, [1, 128]);
  assert.deepEqual([...message.bytes.subarray(0, 3)], [8, 0xac, 2]);
  assert.deepEqual(fields(message.bytes).map(([field, value]) => [field, typeof value === "number" ? value : numbers(value)]), [[1, 300], [2, -1], [4, 2 ** 50 + 1], [5, [1, 128]]]);
});

test("the hot path ends at a row with less than a tenth of the first row's cost", () => {
  const items = (rows, path) => rows.map((row) => ({ path: `${path}.${row.name}`, total: row.total, more: !!row.inside, inside: () => items(row.inside, `${path}.${row.name}`) }));
  const tree = [{ name: "a", total: 100, inside: [{ name: "b", total: 30, inside: [{ name: "c", total: 9, inside: [{ name: "d", total: 9 }] }, { name: "e", total: 1 }] }, { name: "f", total: 20 }] }];
  assert.deepEqual(hotPath(items(tree, "")[0]), [".a", ".a.b"]);
  assert.deepEqual(hotPath(undefined), []);
  const model = shown({}).model;
  assert.deepEqual(topDown(model).map((row) => row.total), [8, 4]);
});
