// State of the page: events and their weights, undo, and the matches of a search.
import assert from "node:assert/strict";
import { test } from "node:test";
import { NONE } from "../src/data/columns.js";
import { nodeAt } from "../src/data/tree/around.js";
import { layout } from "../src/data/tree/layout.js";
import { App } from "../src/views/app.js";
import { nextMatch } from "../src/views/graphs/matches.js";
import { Timeline } from "../src/views/graphs/timeline.js";
import { tables } from "./tables.js";

Object.assign(globalThis, { location: { hash: "" }, history: { pushState() {}, replaceState() {} } });
const EVENTS = ["cpu-clock", "off-cpu", "faults"].map((name) => ({ name, unit: "nanoseconds", period: null, rate: 1, frequency: 0 }));
const ROWS = [{ stack: ["main", "lock"], event: 1, period: 70, wait: 0 }, { stack: ["main", "work"], event: 0, period: 9 }, { stack: ["main", "work"], event: 2, period: 1 }];
/** Page of a profile without its views. */
const appOf = (rows, options) => {
  const app = new App(tables(rows, options), /** @type {any} */ (null), /** @type {any} */ (null));
  app.refresh();
  return app;
};

test("a click on the lane of an event shows it with its weight", () => {
  const app = appOf(ROWS, { events: EVENTS, offCpu: 1, waits: ["futex"] }), pick = (at) => {
    Timeline.prototype.pick.call({ app }, { kind: "event", at }, false);
    return [app.event, app.state.weight, app.costs.all];
  };
  assert.deepEqual([app.event, app.state.weight, app.costs.all], [1, "period", 70]);
  assert.deepEqual(pick(0), [0, "samples", 1]);
  assert.deepEqual(pick(1), [1, "period", 70]);
  app.change({ event: 0, weight: "period" });
  assert.deepEqual(pick(2), [2, "period", 1]);
});

test("undo omits states that differ only in parts that it keeps", () => {
  const app = appOf([{ stack: ["main", "work"] }]), filters = [{ kind: "recursion" }];
  app.change({ filters });
  app.change({ names: "full" });
  app.change({ filters: [] });
  app.change({ filters });
  app.keep({ names: "short" });
  app.change({ filters: [] }, true);
  // The last state for undo has no filters either.
  assert.equal(app.past.length, 3);
  app.undo();
  assert.deepEqual([app.state.filters, app.state.names, app.past.length], [filters, "short", 1]);
  app.undo();
  app.undo();
  assert.deepEqual([app.state.filters, app.past.length], [[], 0]);
});

test("the outermost frame is a match like others", () => {
  const app = appOf([{ stack: ["a_1", "b"], n: 5 }, { stack: ["a_1", "a_2"], n: 3 }, { stack: ["a_3"], n: 4 }]), node = (...names) => nodeAt(app.model.picture([]), names.map((name) => app.model.names.indexOf(name)));
  app.change({ zoom: [app.model.names.indexOf("a_1")], search: "a_" });
  const picture = app.model.picture(app.state.zoom), picked = [];
  const graph = { picture, rows: layout(picture, node("a_1"), 800), at: NONE, width: 800, canvas: { focus() {} }, pick(at) { picked.push(at); this.at = at; } };
  assert.equal(node("a_1"), 0);
  graph.at = node("a_1", "a_2");
  nextMatch(app, graph, -1);
  assert.deepEqual([picked, app.state.zoom.length], [[0], 1], "inside of the zoomed part");
  nextMatch(app, graph, -1);
  assert.deepEqual([picked, app.state.zoom], [[0, node("a_3")], []], "then outside of it");
});
