// Comparison of the page's engine with the expected numbers that also test the engine of the command and the service:
// `testdata/queries.json`. The other test is `crates/profile/tests/it/query.rs`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Model } from "../src/data/model.js";
import { costRows } from "../src/data/samples/threads.js";
import { VIEW, foldedStacks, tables } from "./tables.js";

const expected = JSON.parse(readFileSync(new URL("../../../testdata/queries.json", import.meta.url), "utf8"));

const samples = expected.samples.map(({ size, ...row }) => ({ ...row, values: size === undefined ? {} : { size: String(size) } }));
const model = new Model(tables(samples, { modules: expected.modules, values: { size: "field" } }));
const at = ({ kind, function: name, module }) => {
  if (name) return { kind, at: model.names.indexOf(name) };
  return module ? { kind, at: model.named.modules.findIndex((one) => one.path === module) } : { kind };
};

test("answers are those of the table", () => {
  for (const { filter, page, top, stacks } of expected.questions) {
    model.look({ ...VIEW, filters: page.map(at) });
    assert.deepEqual(foldedStacks(model), stacks, JSON.stringify(filter));
    const { own, total } = model.functionCosts();
    const rows = Array.from(total, (cost, f) => [model.name(f), own[f], cost]).filter((row) => row[2] > 0);
    const byName = (left, right) => left[0] < right[0] ? -1 : 1;
    assert.deepEqual(rows.sort(byName), [...top].sort(byName), JSON.stringify(filter));
  }
});

test("costs by the values of a field are those of the table", () => {
  for (const { filter, page, rows } of expected.values) {
    model.look({ ...VIEW, filters: page.map(at) });
    assert.deepEqual(costRows(model, "value:size").map(({ name, cost }) => [name, cost]), rows, JSON.stringify(filter));
    model.look({ ...VIEW, group: "value:size", filters: page.map(at) });
    const found = new Map();
    for (const [stack, cost] of Object.entries(foldedStacks(model))) {
      const [root] = stack.split(";");
      found.set(root, (found.get(root) ?? 0) + cost);
    }
    assert.deepEqual([...found].sort((a, b) => b[1] - a[1]), rows, JSON.stringify(filter));
  }
});
