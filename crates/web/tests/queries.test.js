// Comparison of the page's engine with the expected numbers that also test the engine of the command and the service:
// `testdata/queries.json`. The other test is `crates/profile/tests/it/query.rs`.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Model } from "../src/data/model.js";
import { VIEW, foldedStacks, tables } from "./tables.js";

const expected = JSON.parse(readFileSync(new URL("../../../testdata/queries.json", import.meta.url), "utf8"));

test("answers are those of the table", () => {
  const model = new Model(tables(expected.samples, { modules: expected.modules }));
  const at = ({ kind, function: name, module }) => {
    if (name) return { kind, at: model.names.indexOf(name) };
    return module ? { kind, at: model.named.modules.findIndex((one) => one.path === module) } : { kind };
  };
  for (const { filter, page, top, stacks } of expected.questions) {
    model.look({ ...VIEW, filters: page.map(at) });
    assert.deepEqual(foldedStacks(model), stacks, JSON.stringify(filter));
    const { own, total } = model.functionCosts();
    const rows = Array.from(total, (cost, f) => [model.name(f), own[f], cost]).filter((row) => row[2] > 0);
    const byName = (left, right) => left[0] < right[0] ? -1 : 1;
    assert.deepEqual(rows.sort(byName), [...top].sort(byName), JSON.stringify(filter));
  }
});
