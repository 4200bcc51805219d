// Order of the service's list, and its place in the address.
import assert from "node:assert/strict";
import { test } from "node:test";
import { COLUMNS, commandText, pressed, readFilter, readOrder, sorted, writeFragment } from "../src/service/rows.js";

const row = (name, written, about) => ({ id: name, name, size: name.length, written, foreign: false, state: "new", about });
const about = (command, samples, complete) => ({ command_line: ["perf", "record", "-a"], command, events: ["cycles"], samples, complete });
const rows = [
  row("run10.data", 3000, about(["/opt/bin/zip", "-9"], 10, 9)),
  row("run2.data", 1000, about(undefined, 200, 100)),
  row("folder", undefined, about(["./app", "60"])),
  row("new.data", 9000),
];
const names = (sort) => sorted(rows, readOrder("#sort=" + sort)).map((one) => one.name);

test("the newest recording is first, those without a time are last", () => {
  assert.deepEqual(readOrder(""), { key: "written", descending: true });
  assert.deepEqual(readOrder("#sort=none"), { key: "written", descending: true });
  assert.deepEqual(names(""), ["new.data", "run10.data", "run2.data", "folder"]);
  assert.deepEqual(names("written"), ["run2.data", "run10.data", "new.data", "folder"]);
});

test("each column orders the list", () => {
  assert.deepEqual(names("name"), ["folder", "new.data", "run2.data", "run10.data"]);
  assert.deepEqual(names("-name"), ["run10.data", "run2.data", "new.data", "folder"]);
  assert.deepEqual(names("command"), ["folder", "run2.data", "run10.data", "new.data"]);
  assert.deepEqual(names("-samples"), ["run2.data", "run10.data", "folder", "new.data"]);
  assert.deepEqual(names("-complete"), ["run10.data", "run2.data", "folder", "new.data"]);
  assert.deepEqual(names("size"), ["folder", "new.data", "run2.data", "run10.data"]);
  for (const { key } of COLUMNS) assert.equal(sorted(rows, { key, descending: false }).length, 4);
});

test("a press on a head selects or turns an order, and the fragment keeps it", () => {
  const newest = readOrder("");
  assert.deepEqual(pressed(newest, "name"), { key: "name", descending: false });
  assert.deepEqual(pressed(newest, "samples"), { key: "samples", descending: true });
  assert.deepEqual(pressed(newest, "written"), { key: "written", descending: false });
  assert.equal(writeFragment(newest, ""), "");
  assert.equal(writeFragment({ key: "samples", descending: true }, "a b"), "sort=-samples&filter=a+b");
  assert.equal(readFilter("#sort=-samples&filter=a+b"), "a b");
  for (const { key } of COLUMNS) {
    for (const descending of [false, true]) assert.deepEqual(readOrder("#" + writeFragment({ key, descending }, "x")), { key, descending });
  }
});

test("the command is the program and its arguments", () => {
  assert.equal(commandText(rows[0].about), "zip -9");
  assert.equal(commandText(rows[1].about), "perf record -a");
});
