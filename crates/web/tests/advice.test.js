// Advice on the modules whose missing files cost most.
import assert from "node:assert/strict";
import { test } from "node:test";
import { adviceOf } from "../src/data/advice.js";

const SUMMARY = `9,276 samples, 225,398 frames.
40.4 % of the frames have no name:
   40.2 %  /usr/lib/gcc/cc1plus: it has exported symbols only: install its debug package (build-id 68b3), or add --debuginfod
    0.2 %  /opt/a: b/lib.so: add --module FILE
    0.1 %  //anon: it has no file: record with -k mono
   <0.1 %  2 others
not-covered: /usr/lib/gcc/cc1plus: addresses have no names
   99.0 %  /usr/bin/make: not part of the list
`;
const MODULES = ["/usr/bin/make", "/usr/lib/gcc/cc1plus", "/opt/a: b/lib.so", "/x/gone", "[anonymous]"].map((path) => ({ path, kind: "elf", count: 1 }));
const LOSSES = [
  { module: 3, samples: 25, reason: "file not found", help: "add --module FILE" },
  { module: 1, samples: 99, reason: "the code has no unwind information", help: "build it with -g" },
  { module: 0, samples: 50, reason: "no remedy", help: "" },
  { module: -1, samples: 70, reason: "no module", help: "x" },
];

test("the costliest modules come first, with their remedies", () => {
  assert.deepEqual(adviceOf({ summary: SUMMARY, losses: LOSSES, modules: MODULES }, 100), [
    { module: 1, share: 0.402, isNameless: true, text: "40.2 % of the frames have no name, since it has exported symbols only. Install its debug package (build-id 68b3), or add --debuginfod.", brief: "install its debug package" },
    { module: 3, share: 0.25, isNameless: false, text: "25.0 % of the stacks end there early: file not found. Add --module FILE.", brief: "add --module FILE" },
    { module: 2, share: 0.002, isNameless: true, text: "0.2 % of the frames have no name. Add --module FILE.", brief: "add --module FILE" },
    { module: 4, share: 0.001, isNameless: true, text: "0.1 % of the frames have no name, since it has no file. Record with -k mono.", brief: "record with -k mono" },
  ]);
});

test("without missing files there is none", () => {
  assert.deepEqual(adviceOf({ summary: "5 samples, 9 frames.\n", losses: [], modules: MODULES }, 5), []);
  assert.deepEqual(adviceOf({ summary: "", losses: LOSSES.slice(2), modules: MODULES }, 0), []);
});
