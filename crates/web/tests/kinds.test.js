// References in an address to kinds of wait and events, and texts that a link keeps.
import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, stateOf } from "../src/data/links.js";
import { Model } from "../src/data/model.js";
import { START } from "../src/data/state.js";
import { diffOf } from "./difftables.js";
import { VIEW, foldedStacks, tables } from "./tables.js";

const EVENTS = ["cpu-clock", "off-cpu", "off-cpu", "123"].map((name) => ({ name, unit: "nanoseconds", period: null, rate: 1, frequency: 0 }));
const WAITS = ["futex", "sleep", "preempted"];
const rows = [{ stack: ["main", "lock"], event: 1, wait: 0 }, { stack: ["main", "idle"], event: 1, wait: 1 }];
const model = new Model(tables(rows, { events: EVENTS, offCpu: 1, waits: WAITS })), plain = new Model(tables([{ stack: ["main", "lock"], n: 3 }]));

test("a kind of wait has its name in a link, and a number is accepted", () => {
  const state = { ...START, filters: [{ kind: "wait", at: 1 }] };
  assert.equal(addressOf(model, state), "filter=wait:sleep");
  for (const text of ["filter=wait:sleep", "filter=wait:1"]) assert.deepEqual(stateOf(model, text), { state, missing: [] });
  assert.deepEqual(stateOf(model, "filter=wait:disk&filter=wait:3"), { state: START, missing: [
    "This recording has no kind of wait disk; the link's filter is omitted.", "This recording has no kind of wait 3; the link's filter is omitted."] });
});

test("a kind of wait is refused without times off the processor", () => {
  assert.deepEqual(stateOf(plain, "filter=wait:0"), { state: START, missing: ["This recording has no kind of wait 0; the link's filter is omitted."] });
  assert.deepEqual(stateOf(diffOf([[["main", "old"], 3, 2]]), "filter=wait:futex").missing, ["This comparison has no kind of wait futex; the link's filter is omitted."]);
});

test("a kind of wait merges no module of a comparison", () => {
  const made = diffOf([[["main", "old"], 3, 2]]), names = () => [...made.tree.func].map((f) => made.name(f));
  assert.deepEqual(names(), ["worker-N", "main", "old"]);
  made.look({ filters: [{ kind: "wait", at: 0 }], side: "both" });
  assert.deepEqual(names(), ["worker-N", "main", "old"]);
});

test("an event has its name in a link, and a number is accepted", () => {
  assert.deepEqual([0, 1, 2, 3].map((event) => addressOf(model, { ...START, event })), ["event=cpu-clock", "event=off-cpu", "event=2", "event=%3D123"]);
  for (const event of [0, 1, 2, 3]) assert.deepEqual(stateOf(model, addressOf(model, { ...START, event })), { state: { ...START, event }, missing: [] });
  assert.equal(stateOf(model, "event=1").state.event, 1);
  assert.deepEqual(stateOf(plain, "event=off-cpu&filter=wait:0"), { state: START, missing: ["This recording has no event off-cpu; the link's event is omitted.", "This recording has no kind of wait 0; the link's filter is omitted."] });
  assert.deepEqual(stateOf(plain, "event=7").missing, ["This recording has no event 7; the link's event is omitted."]);
});

test("a negative thread id survives", () => {
  const made = new Model(tables([{ stack: ["main"] }], { threads: [[-1, -1, "swapper", "swapper"], [0, -1, "swapper", "swapper"]] }));
  const link = addressOf(made, { ...START, thread: 1 });
  assert.equal(link, "thread=0/-1/swapper");
  assert.deepEqual(stateOf(made, link), { state: { ...START, thread: 1 }, missing: [] });
  assert.deepEqual(stateOf(made, "filter=threads:x/1/main").missing, ["This recording has no thread x/1/main; the link's filter is omitted."]);
});

test("a cut name has no half of a character", () => {
  const name = `${"a".repeat(59)}😀${"b".repeat(200)}`, made = new Model(tables([{ stack: [name] }])), state = { ...START, zoom: [0] };
  made.look({ ...VIEW });
  assert.deepEqual(foldedStacks(made), { [name]: 1 });
  const link = addressOf(made, state);
  assert.match(link, /^zoom=a{59}~[0-9a-z]{11}$/);
  assert.deepEqual(stateOf(made, link), { state, missing: [] });
});
