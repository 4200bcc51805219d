// @ts-check
// List of recordings with their metadata and completeness, and the selection of two for a comparison.
import { eventName } from "../data/names.js";
import { dateText } from "../data/numbers.js";
import { analyze, request, follow, openSession, progressText } from "./api.js";
import { showFailure } from "./refused.js";
import { COLUMNS, commandText, completeShare, pressed, readFilter, readOrder, sorted, writeFragment } from "./rows.js";
import { startTheme } from "./theme.js";

/** @typedef {import("./rows.js").Row} Row */
/** @typedef {{ recordings: Row[], next?: string, total: number }} List */

/** @param {string} id @returns {HTMLElement} */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const status = byId("status");
/** @type {Row[]} */
let rows = [];
/** Recordings selected for a comparison, in order of selection. @type {string[]} */
let chosen = [];
let order = readOrder("");
const filter = () => /** @type {HTMLInputElement} */ (byId("filter"));

/** @param {string} name @param {string} [text] @param {string} [kind] */
function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

/** @param {number} bytes */
function size(bytes) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let at = 0;
  while (bytes >= 1000 && at < units.length - 1) {
    bytes /= 1000;
    at++;
  }
  return (at ? bytes.toFixed(1) : bytes) + " " + units[at];
}

/** @param {Row} row */
function searchText(row) {
  const about = row.about;
  return [row.name, about?.host, about?.command_line.join(" "), about?.events.join(" ")].join(" ").toLowerCase();
}

/** @param {Row} row */
function complete(row) {
  const share = completeShare(row);
  if (share !== undefined) return (100 * share).toFixed(1) + " %";
  return row.about?.samples === 0 ? "no samples" : "";
}

/** The recorded program and its arguments on one line; the tooltip has the recorder's whole command line.
 * @param {Row} row */
function command({ about }) {
  const cell = element("td", about && commandText(about), "command");
  if (about) cell.title = about.command_line.join(" ");
  return cell;
}

/** @param {Row} row @returns {HTMLElement} */
function line(row) {
  const tr = element("tr");
  tr.dataset.id = row.id;
  const pick = element("td");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = chosen.includes(row.id);
  box.setAttribute("aria-label", "Compare " + row.name);
  box.addEventListener("change", () => choose(row.id, box.checked));
  pick.append(box);
  const name = element("td", undefined, "name");
  const link = document.createElement("a");
  link.href = "/r/" + row.id;
  link.textContent = row.name;
  name.append(link);
  if (row.foreign) name.append(" ", element("span", "uploaded", "note"));
  const about = row.about;
  const state = element("td", row.state);
  if (row.job) state.textContent = progressText(row.job);
  if (row.problem) {
    state.textContent = row.problem.detail || row.problem.title;
    state.className = "problem";
  } else if (row.state === "new") {
    const button = element("button", "Analyse");
    button.setAttribute("aria-label", "Analyse " + row.name);
    button.addEventListener("click", () => run(row, state));
    state.replaceChildren(button);
  }
  const samples = about?.samples === undefined ? "" : about.samples.toLocaleString("en");
  tr.append(pick, name, element("td", row.written ? dateText(row.written) : "", "date"), element("td", about?.host || ""));
  tr.append(command(row), element("td", about?.events.filter((name) => !/^dummy(:|$)/.test(name)).map(eventName).join(", ") || ""), element("td", size(row.size), "number"));
  tr.append(element("td", samples, "number"), element("td", complete(row), "number"), state);
  return tr;
}

/** @param {Row} row @param {HTMLElement} state */
async function run(row, state) {
  try {
    await analyze({ id: row.id }, (job) => (state.textContent = progressText(job)));
    await load();
  } catch (error) {
    showFailure(error, (text) => (state.textContent = text));
    state.className = "problem";
  }
}

/** @param {string} id @param {boolean} on */
function choose(id, on) {
  chosen = chosen.filter((other) => other !== id);
  if (on) chosen = [...chosen.slice(-1), id];
  draw();
}

/** Head of the table: a button per column orders the rows. */
function head() {
  const line = element("tr");
  const compared = element("th", "Compare");
  compared.setAttribute("scope", "col");
  line.append(compared);
  for (const { key, title } of COLUMNS) {
    const th = element("th", undefined, ["size", "samples", "complete"].includes(key) ? "number" : undefined), button = element("button", title);
    th.setAttribute("scope", "col");
    if (key === order.key) th.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
    button.id = "sort-" + key;
    button.addEventListener("click", () => {
      order = pressed(order, key);
      draw();
      byId(button.id).focus();
    });
    th.append(button);
    line.append(th);
  }
  const top = element("thead");
  top.append(line);
  return top;
}

function draw() {
  const wanted = filter().value.toLowerCase();
  const shown = sorted(rows.filter((row) => searchText(row).includes(wanted)), order);
  const fragment = writeFragment(order, filter().value);
  history.replaceState(null, "", location.pathname + location.search + (fragment && "#" + fragment));
  const table = element("table");
  const body = element("tbody");
  body.append(...shown.map(line));
  table.append(head(), body);
  byId("table").replaceChildren(table);
  const button = /** @type {HTMLButtonElement} */ (byId("compare"));
  button.disabled = chosen.length !== 2;
  status.textContent = rows.length ? `${shown.length} of ${rows.length} recordings` : "No recordings here.";
}

/** Takes the order and the filter from the address. */
function restore() {
  order = readOrder(location.hash);
  filter().value = readFilter(location.hash);
}

async function load() {
  /** @type {Row[]} */
  const all = [];
  let after = "";
  for (;;) {
    const path = "/api/v1/recordings" + (after ? "?after=" + encodeURIComponent(after) : "");
    /** @type {List} */
    const list = await (await request(path)).json();
    all.push(...list.recordings);
    if (!list.next) break;
    after = list.next;
  }
  rows = all;
  draw();
}

/** Compares the two selected recordings; the first one is the baseline. */
function compare() {
  const [a, b] = chosen;
  location.assign("/diff?" + new URLSearchParams({ a, b }));
}

/** @param {File | undefined} file */
async function upload(file) {
  if (!file) return;
  status.textContent = "Uploading " + file.name + "…";
  try {
    const path = "/api/v1/recordings?name=" + encodeURIComponent(file.name);
    const response = await request(path, { method: "POST", raw: file });
    if (response.status === 202) await follow(await response.json(), (job) => (status.textContent = progressText(job)));
    await load();
  } catch (error) {
    fail(error);
  }
}

function startUploads() {
  const drop = byId("drop");
  drop.hidden = false;
  const input = /** @type {HTMLInputElement} */ (byId("file"));
  input.addEventListener("change", () => upload(input.files?.[0]));
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    upload(event.dataTransfer?.files[0]);
  });
}

async function start() {
  startTheme();
  await openSession();
  restore();
  addEventListener("hashchange", () => {
    restore();
    draw();
  });
  filter().addEventListener("input", draw);
  byId("reload").addEventListener("click", () => load().catch(fail));
  byId("compare").addEventListener("click", compare);
  await load();
  const about = await (await request("/api/v1/status")).json();
  if (about.uploads) startUploads();
  if (about.live) {
    const link = document.createElement("a");
    link.href = "/live";
    link.textContent = "The live recording";
    byId("reload").before(link);
  }
  document.documentElement.dataset.ready = "yes";
}

/** @param {unknown} error */
function fail(error) {
  showFailure(error, (text) => (status.textContent = text));
}
start().catch((error) => {
  fail(error);
  document.documentElement.dataset.failed = "yes";
});
