// Filters and groups on random stacks, compared with a stack-by-stack model.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Model } from "../src/data/model.js";
import { VIEW, foldedStacks, tables } from "./tables.js";

/** Deterministic pseudo-random numbers. */
function drawn(seed) {
  let state = seed;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

/** Result of a filter on a stack of functions; null if the sample is removed. */
function left(stack, { kind, at = -1 }, moduleOf, functions) {
  const first = stack.indexOf(at), of = (one) => one < functions ? moduleOf[one] : one - functions;
  switch (kind) {
    case "focus": return first < 0 ? null : stack.slice(first);
    case "keep": return first < 0 ? null : stack;
    case "drop": return first < 0 ? stack : null;
    case "hide": return stack.filter((one) => one !== at);
    case "charge": return first < 0 ? stack : stack.slice(0, first);
    case "fold": return first < 0 ? stack : stack.slice(0, first + 1);
    case "recursion": {
      const path = [];
      for (const one of stack) {
        const again = at < 0 || one === at ? path.lastIndexOf(one) : -1;
        if (again < 0) path.push(one); else path.length = again + 1;
      }
      return path;
    }
    case "module": {
      const inside = stack.filter((one) => of(one) === at);
      return inside.length ? inside : null;
    }
    case "hideModule": return stack.filter((one) => of(one) !== at);
    default: return stack.flatMap((one, index) => {
      const here = of(one);
      if (at >= 0 && here !== at) return [one];
      return index > 0 && of(stack[index - 1]) === here ? [] : [functions + here];
    });
  }
}

const KINDS = ["focus", "keep", "drop", "hide", "charge", "fold", "recursion", "recursion all", "module", "hideModule", "merge", "merge all"];

test("filters and groups leave of each stack what they mean", () => {
  for (let seed = 1; seed <= 120; seed++) {
    const draw = drawn(seed * 7919), threads = [[1, 1, "main"], [1, 2, "worker-1"], [2, 2, "worker-2"]], modules = { a: "/m/one", b: "/m/one", c: "/m/two", d: "/m/two", e: "/m/three" };
    const rows = Array.from({ length: 30 }, (_, time) => ({ stack: Array.from({ length: 1 + draw(7) }, () => "abcde"[draw(5)]), n: 1 + draw(3), time, thread: draw(3), cut: draw(4) === 0 }));
    const model = new Model(tables(rows, { modules, threads })), { functions } = model, moduleOf = Array.from(model.moduleOf());
    const filters = Array.from({ length: 1 + draw(3) }, () => {
      const kind = KINDS[draw(KINDS.length)];
      if (kind.endsWith(" all")) return { kind: kind.slice(0, -4) };
      return { kind, at: draw(["module", "hideModule", "merge"].includes(kind) ? model.named.modules.length : functions) };
    });
    const group = ["none", "thread", "process"][draw(3)], truncated = ["apart", "together", "hidden"][draw(3)];
    model.look({ ...VIEW, filters, group, truncated });
    const expected = {};
    for (const row of rows) {
      if (row.cut && truncated === "hidden") continue;
      let stack = row.stack.map((name) => model.names.indexOf(name));
      for (const filter of filters) stack = stack && left(stack, filter, moduleOf, functions);
      if (!stack) continue;
      const label = group === "none" ? [] : [model.groupLabels[group === "thread" ? row.thread : threads[row.thread][0] - 1]];
      // Groups are numbered by first occurrence of their thread, which is their order here.
      const path = [...label, ...(row.cut && truncated === "apart" ? ["[truncated]"] : []), ...stack.map((f) => model.name(f))];
      if (path.length) expected[path.join(";")] = (expected[path.join(";")] || 0) + row.n;
    }
    assert.deepEqual(foldedStacks(model), expected, `seed ${seed}: ${JSON.stringify({ filters, group, truncated })}`);
    for (let i = 0; i < model.tree.n; i++) assert.ok(model.tree.parent[i] > 0xfffffff0 || model.tree.parent[i] < i, "callers come first");
  }
});
