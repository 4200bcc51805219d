// Benchmark of the engine for typical interactions, on the tables of a page: node benches/speed.mjs PAGE. Each line
// shows the minimum processor time of five runs, and the minimum and median elapsed time, in milliseconds. Each run
// starts from a different view, so that caches do not help.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { readParts, readTables } from "../src/data/columns.js";
import { NONE } from "../src/data/columns.js";
import { linesOf } from "../src/data/listing/lines.js";
import { sandwich } from "../src/data/tree/around.js";
import { addressesOf } from "../src/data/code.js";
import { heatCells, heatShape } from "../src/data/samples/heat.js";
import { layout } from "../src/data/tree/layout.js";
import { Model } from "../src/data/model.js";
import { folded } from "../src/data/names.js";
import { bottomUp, callersOf, topDown } from "../src/data/tree/treerows.js";

const page = readFileSync(process.argv[2], "latin1"), from = page.lastIndexOf('octet-stream">\n') + 'octet-stream">\n'.length;
const bytes = gunzipSync(Buffer.from(page.slice(from, page.indexOf("\n</script>", from)), "base64"));
const begun = performance.now(), tables = readTables(readParts(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))), read = performance.now();
const model = new Model(tables), made = performance.now();
const START = { event: Math.max(0, tables.event[0]), weight: "samples", truncated: "apart", group: "none", filters: [] };
model.look(START);
const looked = performance.now();
const busiest = (key) => { const { own } = model.functionCosts(); return [...own.keys()].filter((f) => f < model.functions).sort((a, b) => own[b] - own[a])[key]; };
console.log(`${tables.samples} samples, ${tables.lines.n} nodes of lines, ${model.tree.n} of functions, ${tables.leafNode.length} leaves`);
console.log(`tables ${Math.round(read - begun)}, model ${Math.round(made - read)}, first look ${Math.round(looked - made)} ms`);

const f = busiest(0), module = model.moduleOf()[f], { span } = tables, comm = folded(tables.head.threads[0][2]);
const shown = (patch) => { model.look({ ...START, ...patch }); return model.picture([]); };
function time(name, act, reset = () => shown({})) {
  const times = [], used = [];
  for (let at = 0; at < 5; at++) {
    reset();
    const start = performance.now(), before = process.cpuUsage();
    act();
    times.push(performance.now() - start);
    const { user, system } = process.cpuUsage(before);
    used.push((user + system) / 1000);
  }
  times.sort((a, b) => a - b);
  console.log(`${name.padEnd(34)} ${Math.min(...used).toFixed(0).padStart(6)} ${times[0].toFixed(0).padStart(6)} ${times[2].toFixed(0).padStart(6)}`);
}
const look = (patch) => () => layout(shown(patch), NONE, 1400);
for (const kind of ["focus", "keep", "drop", "hide", "charge", "fold"]) time(kind, look({ filters: [{ kind, at: f }] }));
for (const kind of ["recursion", "merge"]) time(`${kind}, all`, look({ filters: [{ kind }] }));
time("recursion of one", look({ filters: [{ kind: "recursion", at: f }] }));
for (const kind of ["module", "hideModule", "merge"]) time(kind, look({ filters: [{ kind, at: module }] }));
time("hide, then focus", look({ filters: [{ kind: "hide", at: busiest(1) }, { kind: "focus", at: f }] }));
for (const group of ["process", "thread", "comm", "event"]) time(`group by ${group}`, look({ group }));
time("hide, grouped by thread", look({ group: "thread", filters: [{ kind: "hide", at: f }] }), () => shown({ group: "thread" }));
for (const truncated of ["together", "hidden"]) time(`truncated ${truncated}`, look({ truncated }));
time("time", look({ filters: [{ kind: "time", from: Math.floor(span / 4), to: Math.floor(span / 2) }] }));
time("thread", look({ filters: [{ kind: "threads", ids: [0] }] }));
time("comm", look({ filters: [{ kind: "comm", comm }] }));
time("period", look({ weight: "period" }));
time("functions", () => { model.made.delete("functionCosts"); model.functionCosts(); });
time("search", () => model.find((name) => name.toLowerCase().includes("f")));
time("sandwich", () => sandwich(model, f));
time("bottom-up", () => bottomUp(model));
const inThreads = () => { shown({}); shown({ group: "thread" }); };
time("functions, grouped by thread", () => { model.made.delete("functionCosts"); model.functionCosts(); }, inThreads);
time("sandwich, grouped by thread", () => sandwich(model, f), inThreads);
time("bottom-up, grouped by thread", () => bottomUp(model).slice(0, 3).map((row) => callersOf(model, row)), inThreads);
time("top-down, grouped by thread", () => topDown(model)[0].inside().map((row) => row.inside()), inThreads);
time("search, grouped by thread", () => model.find((name) => name.toLowerCase().includes("worker1")), inThreads);
time("zoom, grouped by thread", () => layout(model.picture([model.firstGroup]), NONE, 1400), inThreads);
time("lines", () => linesOf(model, f));
time("addresses", () => addressesOf(model, f));
time("heat map", () => heatCells(model, heatShape(span, tables.head.unit, tables.samples, 0), null));
