// @ts-check
// Tables of functions or modules with costs before and after; descriptions and colours of differences.
import { leanColour } from "../../data/colour.js";
import { NONE } from "../../data/columns.js";
import { lean, ranked } from "../../data/compare/compare.js";
import { amount, percent, ratio, scaled } from "../../data/numbers.js";
import { Rows } from "../elements/rows.js";

/** @typedef {import("../shell.js").Shell} Shell */
/** @typedef {import("../../data/compare/compare.js").Row} Row */
/** @typedef {import("../../data/compare/compare.js").Comparison} Comparison */
/** @typedef {[number, number, string]} Scale */

/** Reasons for rows that are not compared, by number. */
export const REASONS = ["", "not compared: its module has no counterpart on the other side", "not compared: it has no name on one side"];

/** Names of the sides of a comparison of recordings. */
export const BEFORE_AFTER = /** @type {const} */ (["before", "after"]);

/** Bounds of an interval, as text.
 * @param {import("../../data/compare/change.js").Change} change @param {Scale} scale */
export function range({ low, high }, [divisor, digits]) {
  if (Number.isNaN(low)) return "";
  return [low, high].map((value) => scaled(value, [divisor, digits, ""], true)).join(" … ");
}

/** Significant changes of a row, as words: of both costs, or with the name of the one.
 * @param {Row} row */
export function changedWords({ own, total }) {
  const word = (/** @type {import("../../data/compare/change.js").Change} */ { delta }) => delta > 0 ? "more" : "less";
  if (own.marked && total.marked) return word(own) === word(total) ? word(own) : `own ${word(own)}, inclusive ${word(total)}`;
  return own.marked ? `own ${word(own)}` : total.marked ? `inclusive ${word(total)}` : "";
}

/** Numbers of functions with significant changes, as a sentence.
 * @param {Row[]} rows @param {[number, number]} tested */
export function changedText(rows, [own, total]) {
  const marked = (/** @type {"own" | "total"} */ which) => amount(rows.filter((row) => row[which].marked).length);
  return `Own cost: ${marked("own")} of ${amount(own)} functions changed significantly; inclusive cost: ${marked("total")} of ${amount(total)}.`;
}

/** Cost that determines the order of rows; intervals and ratios refer to it.
 * @param {Shell} app @returns {"own" | "total"} */
const chosen = (app) => app.state.sort === "total" ? "total" : "own";

/** Table of changes.
 * @param {Shell} app
 * @param {{ label: string, what: string, name: (key: number) => string, full: (key: number) => string, module?: (key: number) => string,
 *   scale: () => Scale, notCompared?: (key: number) => number, act: (row: Row) => void, menu: (row: Row, x: number, y: number) => void, hit?: (key: number) => boolean,
 *   isNarrow?: boolean, sides?: readonly [string, string] }} options
 * @returns {Rows<Row>} */
export function changeRows(app, { label, what, name, full, module, scale, notCompared, act, menu, hit, isNarrow, sides = BEFORE_AFTER }) {
  const words = { own: "own", total: "inclusive" }, brief = { own: "own", total: "incl." };
  const cost = (/** @type {"own" | "total"} */ which, /** @type {"before" | "after"} */ side) => (/** @type {Row} */ row) => row[which][side] ? scaled(row[which][side], scale()) : "";
  const delta = (/** @type {"own" | "total"} */ which) => (/** @type {Row} */ row) => row[which].delta && !notCompared?.(row.key) ? scaled(row[which].delta, scale(), true) : "";
  const mark = (/** @type {"own" | "total"} */ which) => (/** @type {Row} */ row) => row[which].marked ? (row[which].delta > 0 ? "more" : "less") : "";
  const anyMark = (/** @type {Row} */ row) => mark("own")(row) || mark("total")(row);
  const interval = (/** @type {"own" | "total"} */ which) => (/** @type {Row} */ row) => {
    const text = notCompared?.(row.key) ? "" : range(row[which], scale());
    return text && `${words[which]} cost: ${scaled(row[which].delta, scale(), true)}, 95 % interval ${text}`;
  };
  /** @type {import("../elements/rows.js").Column<Row>[]} */
  const columns = [
    { title: "Changed", width: isNarrow ? "7em" : "8em", kind: "name", text: (row) => notCompared?.(row.key) ? "not compared" : changedWords(row).replace("inclusive", "incl."), mark: anyMark, hint: (row) => REASONS[notCompared?.(row.key) ?? 0] || (changedWords(row) ? `${changedWords(row)}, significantly` : "not significant") },
    { title: what, width: "minmax(12em, 1fr)", kind: "name", sort: "name", text: (row) => name(row.key), hint: (row) => full(row.key), mark: (row) => hit?.(row.key) ? "hit" : "" },
  ];
  if (module && !isNarrow) columns.push({ title: "Module", width: "minmax(5em, 8em)", kind: "where", text: (row) => module(row.key), drop: 2 });
  for (const which of /** @type {const} */ (["own", "total"])) {
    const word = which === "own" ? "Own" : "Inclusive";
    if (!isNarrow) {
      columns.push({ title: `${word} ${sides[0]}`, width: which === "own" ? "8.5em" : "11.5em", kind: "number", text: cost(which, "before"), drop: 3 }, { title: sides[1], width: "8em", kind: "number", text: cost(which, "after"), drop: 3 });
    }
    columns.push({ title: isNarrow ? word : `${brief[which]} change`, width: isNarrow ? "7.5em" : "9.5em", kind: "number", sort: which, drop: which === "own" ? undefined : 4, text: delta(which), mark: mark(which), hint: interval(which) });
  }
  if (!isNarrow) {
    columns.push(
      { get title() { return `${brief[chosen(app)]} 95 %`; }, width: "10em", kind: "where", drop: 1, text: (row) => notCompared?.(row.key) ? "" : range(row[chosen(app)], scale()), hint: (row) => interval(chosen(app))(row) },
      { get title() { return `${brief[chosen(app)]} ratio`; }, width: "6.5em", kind: "where", drop: 2, text: (row) => !notCompared?.(row.key) && row[chosen(app)].before + row[chosen(app)].after > 0 ? ratio(row[chosen(app)].before, row[chosen(app)].after) : "", hint: () => `of the ${words[chosen(app)]} cost` });
  }
  const rows = new Rows({ label, columns, act, menu, least: isNarrow ? undefined : 84, sorted: () => app.state.sort, sort: (by) => app.change({ sort: by }, true) });
  return rows;
}

/** Sorts rows by the selected column; rows that are not compared come last, by cost.
 * @param {Shell} app @param {Row[]} rows @param {(key: number) => string} name @param {(key: number) => number} [notCompared]
 * @returns {Row[]} */
export function inOrder(app, rows, name, notCompared) {
  if (notCompared) {
    const cost = (/** @type {Row} */ row) => Math.max(row[chosen(app)].before, row[chosen(app)].after);
    const compared = inOrder(app, rows.filter((row) => !notCompared(row.key)), name), others = rows.filter((row) => notCompared(row.key));
    return [...compared, ...others.sort((a, b) => app.state.sort === "name" ? (name(a.key) < name(b.key) ? -1 : 1) : cost(b) - cost(a))];
  }
  if (app.state.sort === "name") return rows.filter((row) => row.own.delta || row.total.delta).sort((a, b) => name(a.key) < name(b.key) ? -1 : 1);
  return ranked(rows, chosen(app));
}

/** Cost with its share of the total; costs that are shares need no other.
 * @param {number} value @param {number} all @param {Scale} scale */
export const withShare = (value, all, scale) => scaled(value, scale) + (scale[2].endsWith("%") ? " of all" : `, ${percent(value, all)} of all`);

/** Description of a node: its costs on both sides, and whether the difference is significant.
 * @param {Comparison} compared @param {number} node @param {string} name @param {Scale} scale @param {Uint8Array} sure
 * @param {number} [notCompared] @param {readonly [string, string]} [sides] */
export function describeChange(compared, node, name, scale, sure, notCompared = 0, sides = BEFORE_AFTER) {
  const { before, after } = node === NONE ? compared.all : { before: compared.before[node], after: compared.after[node] };
  const samples = compared.totals.map((side, at) => side.reduce((sum, weights, run) => sum + (node === NONE ? compared.sides[at][run].all.n : weights.n[node]), 0));
  const part = (/** @type {number} */ value, /** @type {number} */ all) => withShare(value, all, scale);
  const lines = [name, `${sides[0]} ${part(before, compared.all.before)}, ${samples[0].toLocaleString("en")} samples`, `${sides[1]} ${part(after, compared.all.after)}, ${samples[1].toLocaleString("en")} samples`];
  if (notCompared) return [...lines, REASONS[notCompared]];
  const many = before === after ? "no difference" : `difference ${scaled(after - before, scale, true)}, ${ratio(before, after)}`;
  lines.push(many + (node !== NONE && before !== after && !sure[node] ? "; not significant" : ""));
  return lines;
}

/** Colour of a node; grey if the difference is not significant.
 * @param {Comparison} compared @param {number} node @param {Uint8Array} sure @param {"light" | "dark"} theme */
export function changeColour(compared, node, sure, theme) {
  if (node === NONE) return leanColour(0, false, theme);
  return leanColour(lean(compared.before[node], compared.after[node]), sure[node] === 1, theme);
}

/** Returns true if a node exists on one side only.
 * @param {Comparison} compared @param {number} node */
export const isOneSided = (compared, node) => node !== NONE && (compared.before[node] === 0) !== (compared.after[node] === 0);
