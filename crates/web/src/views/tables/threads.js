// @ts-check
// Table of processes, threads or processors. Its costs follow the event, the weight, the time and the filters.
import { folded } from "../../data/names.js";
import { amount, percent, spread } from "../../data/numbers.js";
import { ROWS, costRows, filterOfRow, hasProcessors } from "../../data/samples/threads.js";
import { valuesAt, wordOf } from "../../data/samples/values.js";
import { threadMenu } from "../actions.js";
import { make } from "../elements/element.js";
import { openMenu } from "../elements/menu.js";
import { Rows } from "../elements/rows.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../../data/samples/threads.js").CostRow} CostRow */
/** @typedef {import("../../data/samples/threads.js").RowKind} Kind */

/** @type {Record<string, string>} */
const WORDS = { process: "process", thread: "thread", cpu: "processor" };
/** @type {Record<string, string>} */
const TITLES = { process: "Processes", thread: "Threads", cpu: "Processors" };

/** Name of a kind of rows.
 * @param {App} app @param {Kind} by */
const wordOfRows = (app, by) => WORDS[by] ?? app.tables.head.values?.[valuesAt(app.tables.head, by)].name ?? by;

/** @param {App} app @returns {import("../app.js").ViewPart} */
export function threadsView(app) {
  const kinds = /** @type {Kind[]} */ ([...ROWS, ...(app.tables.head.values ?? []).map(wordOf)]);
  const buttons = kinds.map((by) => make("button", { type: "button", "data-rows": by, text: wordOfRows(app, by), click: () => app.change({ rows: by }, true) }));
  const bar = make("div", { class: "bar" }, make("span", { class: "bar", role: "group", "aria-label": "Rows" }, "Rows:", ...buttons), make("span", { class: "note", text: "A click or Enter shows only a row's samples." }));
  const tables = Object.fromEntries(kinds.map((by) => [by, tableOf(app, by)]));
  const panel = make("section", { class: "panel column" }, bar);
  const chosen = () => kindOf(app);
  const draw = () => {
    const by = chosen(), rows = tables[by];
    for (const button of buttons) {
      button.hidden = button.dataset.rows === "cpu" && !hasProcessors(app.model, app.event);
      button.setAttribute("aria-pressed", String(button.dataset.rows === by));
    }
    if (rows.element.parentElement !== panel) panel.replaceChildren(bar, rows.element);
    rows.show(sortedRows(app, by), true);
  };
  return { id: "threads", title: "Threads", panel, draw, resize: () => tables[chosen()].draw() };
}

/** Kind of the shown rows; processes by default if there are several.
 * @param {App} app @returns {Kind} */
function kindOf(app) {
  const { rows } = app.state, { head } = app.tables;
  const isKnown = rows && (WORDS[rows] || valuesAt(head, rows) >= 0);
  if (isKnown && (rows !== "cpu" || hasProcessors(app.model, app.event))) return rows;
  return head.threads.some(([pid]) => pid !== head.threads[0][0]) ? "process" : "thread";
}

/** Order of the rows: by cost, by name, or by the number of samples if that is not the cost.
 * @param {App} app @returns {string} */
const orderOf = ({ state: { sort, weight } }) => sort === "name" || (sort === "samples" && weight !== "samples") ? sort : "own";

/** @param {App} app @param {Kind} by */
function sortedRows(app, by) {
  const rows = costRows(app.model, by), order = orderOf(app);
  if (order === "samples") rows.sort((a, b) => b.n - a.n);
  if (order === "name") rows.sort((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }));
  return rows;
}

/** @param {App} app @param {Kind} by @returns {Rows<CostRow>} */
function tableOf(app, by) {
  const threads = () => app.tables.head.threads;
  /** @type {import("../elements/rows.js").Column<CostRow>[]} */
  const columns = [
    { title: "Cost", width: "var(--cost)", kind: "number", sort: "own", text: ({ cost }) => `${app.cost(cost)}  ${percent(cost, app.costs.all)}`,
      bar: ({ cost }) => app.costs.all ? cost / app.costs.all : 0, brief: { width: "5.5em", text: ({ cost }) => percent(cost, app.costs.all) } },
    { title: "95 %", width: "8.5em", kind: "where", text: ({ cost, squares }) => spread(cost, app.costs.all, squares, app.costs.allSquares), drop: 1 },
    { title: "Samples", width: "7em", kind: "number", sort: "samples", text: ({ n }) => amount(n), hidden: () => app.state.weight === "samples", drop: 2 },
    { title: ({ process: "Process", thread: "Thread", cpu: "Processor" })[/** @type {string} */ (by)] ?? wordOfRows(app, by), width: "minmax(12em, 1fr)", kind: "name", sort: "name", text: ({ name }) => name },
  ];
  if (by === "process") columns.splice(3, 0, { title: "Threads", width: "6em", kind: "number", text: ({ ids }) => amount(ids.length), drop: 3 });
  if (by === "thread") columns.push({ title: "Process", width: "minmax(6em, 16em)", kind: "where", text: ({ ids: [id] }) => threads()[id][3] || threads()[id][2], drop: 3 });
  const only = (/** @type {CostRow} */ row) => {
    const filter = filterOfRow(app.model, by, row);
    if (filter) app.addFilter(filter);
  };
  const menu = (/** @type {CostRow} */ row, /** @type {number} */ x, /** @type {number} */ y) => {
    if (by === "thread") threadMenu(app, row.ids, folded(threads()[row.ids[0]][2]), x, y);
    else if (filterOfRow(app.model, by, row)) {
      openMenu([{ title: row.name }, { text: `Only this ${WORDS[by] ?? "value"}`, key: "p", run: () => only(row) },
        ...(by === "process" ? [{ text: "Hide this process", key: "x", run: () => app.addFilter({ kind: "notThreads", ids: row.ids }) }] : [])], x, y);
    }
  };
  return new Rows({ label: TITLES[by] ?? wordOfRows(app, by), columns, act: only, menu, sorted: () => orderOf(app), sort: (sort) => app.change({ sort }, true) });
}
