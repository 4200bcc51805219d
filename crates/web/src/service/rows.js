// @ts-check
// Rows of the list: their texts, and their order by a column, which the fragment of the address keeps.

/** @typedef {import("./api.js").Job} Job */
/** @typedef {{ command_line: string[], command?: string[], host?: string, events: string[], samples?: number, complete?: number, seconds?: number }} About */
/** @typedef {{ id: string, name: string, size: number, written?: number, foreign: boolean, state: string, about?: About, problem?: { title: string, detail?: string }, job?: Job }} Row */
/** @typedef {{ key: string, title: string, value: (row: Row) => string | number | undefined }} Column */
/** @typedef {{ key: string, descending: boolean }} Order */

/** The recorded program and its arguments; the recorder's command line if it recorded others.
 * @param {About} about @returns {string} */
export function commandText(about) {
  if (!about.command) return about.command_line.join(" ");
  const [program, ...words] = about.command;
  return [program.slice(program.lastIndexOf("/") + 1), ...words].join(" ");
}

/** Share of complete stacks; undefined for a recording without samples, or one that is not analysed.
 * @param {Row} row @returns {number | undefined} */
export const completeShare = ({ about }) => (about?.samples ? (about.complete || 0) / about.samples : undefined);

/** Columns that order the list.
 * @type {Column[]} */
export const COLUMNS = [
  { key: "name", title: "Name", value: (row) => row.name },
  { key: "written", title: "Written", value: (row) => row.written },
  { key: "host", title: "Host", value: (row) => row.about?.host },
  { key: "command", title: "Command", value: (row) => row.about && commandText(row.about) },
  { key: "events", title: "Events", value: (row) => row.about?.events.join(", ") },
  { key: "size", title: "Size", value: (row) => row.size },
  { key: "samples", title: "Samples", value: (row) => row.about?.samples },
  { key: "complete", title: "Complete", value: completeShare },
  { key: "state", title: "State", value: (row) => (row.problem ? "problem" : row.state) },
];

/** Newest first. @type {Order} */
const NEWEST = { key: "written", descending: true };

/** Columns of numbers begin with the largest, texts with the first.
 * @param {string} key */
const startsDescending = (key) => ["written", "size", "samples", "complete"].includes(key);

/** Order after a press on the head of a column.
 * @param {Order} order @param {string} key @returns {Order} */
export function pressed(order, key) {
  return { key, descending: order.key === key ? !order.descending : startsDescending(key) };
}

/** @param {string} fragment @returns {Order} */
export function readOrder(fragment) {
  const text = new URLSearchParams(fragment.replace(/^#/, "")).get("sort") || "";
  const key = text.replace(/^-/, "");
  return COLUMNS.some((column) => column.key === key) ? { key, descending: text.startsWith("-") } : NEWEST;
}

/** Fragment with an order and a filter; empty for those of the start.
 * @param {Order} order @param {string} filter @returns {string} */
export function writeFragment(order, filter) {
  const parts = new URLSearchParams();
  if (order.key !== NEWEST.key || order.descending !== NEWEST.descending) parts.set("sort", (order.descending ? "-" : "") + order.key);
  if (filter) parts.set("filter", filter);
  return parts.toString();
}

/** @param {string} fragment @returns {string} */
export const readFilter = (fragment) => new URLSearchParams(fragment.replace(/^#/, "")).get("filter") || "";

const collator = new Intl.Collator("en", { numeric: true });

/** Rows in an order; rows without a value are last, equal ones are ordered by name.
 * @param {Row[]} rows @param {Order} order @returns {Row[]} */
export function sorted(rows, order) {
  const value = (COLUMNS.find((column) => column.key === order.key) || COLUMNS[0]).value;
  const sign = order.descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    const names = () => collator.compare(a.name, b.name);
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined) || names();
    const compared = typeof x === "number" && typeof y === "number" ? x - y : collator.compare(String(x), String(y));
    return sign * compared || names();
  });
}
