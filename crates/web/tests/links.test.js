// References in an address: by name, so that a link fits another recording.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cutAt, fitted, shortened } from "../src/data/cut.js";
import { hash } from "../src/data/hash.js";
import { addressOf, stateOf } from "../src/data/links.js";
import { Model } from "../src/data/model.js";
import { START, toFragment } from "../src/data/state.js";
import { tables } from "./tables.js";

const MODULES = { work: "/lib/liba.so", alloc: "/lib/liba.so" };
const THREADS = [[7, 7, "main", "prog"], [7, 8, "pool-1", "prog"], [7, 9, "pool-2", "prog"], [7, 10, "io", "prog"], [7, 11, "io", "prog"]];
const one = (stacks, options) => new Model(tables(stacks.map((stack) => ({ stack: stack.split(" ") })), { modules: MODULES, threads: THREADS, ...options }));
/** The same program in two recordings: functions, modules and threads have other numbers. */
const first = one(["main work alloc", "main idle"]);
const second = one(["_start main aside work alloc", "_start main idle"], { threads: [[90, 92, "pool-2", "prog"], [90, 90, "main", "prog"], [90, 93, "io", "prog"], [90, 94, "io", "prog"], [91, 91, "make", "make"]] });
const f = (model, name) => model.names.indexOf(name), module = (model, path) => model.named.modules.findIndex((each) => each.path === path);

test("a link fits another recording of the same program", () => {
  const of = (model) => ({ ...START, func: f(model, "alloc"), thread: model.threads.findIndex((row) => row[2] === "main"), zoom: ["main", "work"].map((name) => f(model, name)),
    filters: [{ kind: "focus", at: f(model, "main") }, { kind: "recursion" }, { kind: "recursion", at: f(model, "idle") }, { kind: "module", at: module(model, "/lib/liba.so") },
      { kind: "threads", ids: model.threads.flatMap((row, id) => row[2] === "pool-2" ? [id] : []) }, { kind: "process", pid: model.threads.find((row) => row[2] === "main")[0] }] });
  const link = addressOf(first, of(first));
  assert.equal(link, "func=alloc&thread=7/7/main&filter=focus:main&filter=recursion&filter=recursion:idle&filter=module:liba.so&filter=threads:7/9/pool-2&filter=process:7/prog&zoom=main&zoom=work");
  assert.deepEqual(stateOf(first, link), { state: of(first), missing: [] });
  assert.notDeepEqual(of(first), of(second));
  assert.deepEqual(stateOf(second, link), { state: of(second), missing: [] });
});

test("links with numbers still work", () => {
  const state = { ...START, func: 2, thread: 1, zoom: [2, 3], filters: [{ kind: "focus", at: 3 }, { kind: "merge", at: 1 }, { kind: "notThreads", ids: [1, 2] }, { kind: "process", pid: 7 }] };
  assert.deepEqual(stateOf(first, toFragment(state)), { state, missing: [] });
  assert.deepEqual(stateOf(first, "func=99&filter=focus:99&filter=module:9&filter=threads:1.50&filter=process:8&zoom=1.99").missing, [
    "This recording has no function 99; the link's selection is omitted.", "This recording has no function 99; the link's filter is omitted.",
    "This recording has no module 9; the link's filter is omitted.", "This recording has no thread number 50; the link's filter is omitted.",
    "This recording has no process 8; the link's filter is omitted.", "This recording has no function 99; the link's zoom is omitted."]);
});

test("names that the recording lacks are reported", () => {
  const { state, missing } = stateOf(second, "func=gone&filter=focus:gone&filter=hide:idle&filter=hideModule:libz.so&filter=threads:7/8/pool-1&filter=process:7/other&zoom=main&zoom=gone");
  assert.deepEqual(state, { ...START, filters: [{ kind: "hide", at: f(second, "idle") }] });
  assert.deepEqual(missing, ["selection", "filter"].map((part) => `This recording has no function gone; the link's ${part} is omitted.`).concat(
    "This recording has no module libz.so; the link's filter is omitted.", "This recording has no thread pool-1 7/8; the link's filter is omitted.",
    "This recording has no process other 7; the link's filter is omitted.", "This recording has no function gone; the link's zoom is omitted."));
  // One of two threads of a name cannot be told in another recording; both can.
  assert.equal(stateOf(second, "filter=threads:7/10/io").missing.length, 1);
  assert.deepEqual(stateOf(second, "filter=threads:7/10.11/io").state.filters, [{ kind: "threads", ids: [2, 3] }]);
});

test("functions of one name are told apart by their modules", () => {
  const model = one(["run run2 run3 run4 12 =x"]), { functions, names } = model.named;
  // Four functions called run, two of them in modules of one name.
  names.forEach((name, at) => { if (/^run\d$/.test(name)) names[at] = "run"; });
  model.named.modules.push({ path: "/lib/libb.so" }, { path: "/other/libb.so" });
  ["", "2", "3", "4"].forEach((_, at) => { functions[2 + at][2] = [0, 1, 2, 0][at]; });
  functions[5][0] = functions[4][0];
  const changed = new Model({ ...model.tables, head: { ...model.tables.head, functions: functions.map((row, at) => at >= 2 ? [row[0], -1, [0, 1, 2, 1][at - 2]] : row) } });
  const links = changed.names.map((_, at) => addressOf(changed, { ...START, func: at }));
  assert.deepEqual(links, ["func=%3D12", "func=%3D%3Dx", "func=run%7Cprogram", "func=run%7Clibb.so", "func=run%7Clibb.so%232", "func=run%7Clibb.so%233"]);
  assert.deepEqual(links.map((link) => stateOf(changed, link).state.func), [0, 1, 2, 3, 4, 5]);
  assert.equal(stateOf(changed, "func=run").state.func, 2, "the first one if the link does not say");
  assert.deepEqual(stateOf(changed, "func=run%7Clibz.so").missing, ["This recording has no function run in libz.so; the link's selection is omitted."]);
});

test("long names and paths are short in a link", () => {
  const long = Array.from({ length: 40 }, (_, at) => `app::Part${at}<${"std::vector<int>,".repeat(20)}>::run(int)`);
  const model = one([long.join(" ").replaceAll("> ", ">_"), "main"]), path = [...long.map((name) => f(model, name.replaceAll("> ", ">_"))), ...Array(500).fill(f(model, "main"))];
  const state = { ...START, func: path[3], zoom: path }, link = addressOf(model, state);
  assert.match(link, /^func=app::Part3%3C%3E::run~[0-9a-z]{11}&zoom=~[0-9a-z]{11}\.[0-9a-z.]+\*500&zoom=main$/);
  assert.ok(link.length < 700, String(link.length));
  assert.deepEqual(stateOf(model, link), { state, missing: [] });
  assert.deepEqual(stateOf(first, link).missing, ["This recording has no function app::Part3<>::run…; the link's selection is omitted.", "This recording has no function that calls main there; the link's zoom is omitted."]);
});

test("groups and modules are part of a zoom", () => {
  const state = { ...START, group: "thread", zoom: [first.firstGroup + 2, first.firstGroup + 5, first.functions + 1, f(first, "main")] }, link = addressOf(first, state);
  assert.equal(link, "group=thread&zoom=group:pool-2+%28thread+9%29&zoom=%5Btruncated%5D&zoom=module:/bin/program&zoom=main");
  assert.deepEqual(stateOf(first, link), { state, missing: [] });
  assert.deepEqual(stateOf(second, link).missing, ["This recording has no group pool-2 (thread 9); the link's zoom is omitted."]);
});

test("a hash has 53 bits", () => {
  assert.deepEqual(["", "a", "main"].map(hash), ["0wvjl67o803", "262p94epp1d", "1ee3xi90u25"]);
});

test("texts are cut in the middle", () => {
  const cut = (text, width) => fitted(text, width, () => 1);
  assert.deepEqual([5, 8, 10, 12].map((width) => cut("std::sort<…>", width)), ["st…rt", "std:…ort", "std::sort…", "std::sort<…>"]);
  assert.deepEqual([20, 30].map((width) => cut("app::spin<…>(char const&, int)", width)), ["app::spin…st&, int)", "app::spin<…>(char const&, int)"]);
  assert.deepEqual([3, 4, 7].map((width) => cut("operator", width)), ["", "op…r", "ope…tor"]);
  // Pairs of surrogates stay together.
  assert.deepEqual([8, 10].map((width) => cut("a😀b😀c😀d😀e", width)), ["a😀b…😀e", "a😀b…d😀e"]);
  assert.equal(cutAt("main", 4, () => 1), null);
  assert.equal(shortened("x".repeat(500), 400).length, 400);
});
