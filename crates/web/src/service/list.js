// @ts-check
// List of recordings with their metadata and completeness, and the selection of two for a comparison.
import { analyze, request, follow, openSession, progressText } from "./api.js";
import { startTheme } from "./theme.js";

/** @typedef {import("./api.js").Job} Job */
/** @typedef {{ command_line: string[], host?: string, events: string[], samples?: number, complete?: number, seconds?: number }} About */
/** @typedef {{ id: string, name: string, size: number, written?: number, foreign: boolean, state: string, about?: About, problem?: { title: string, detail?: string }, job?: Job }} Row */
/** @typedef {{ recordings: Row[], next?: string, total: number }} List */

/** @param {string} id @returns {HTMLElement} */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const status = byId("status");
/** @type {Row[]} */
let rows = [];
/** Recordings selected for a comparison, in order of selection. @type {string[]} */
let chosen = [];

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
  const about = row.about;
  if (about?.samples === undefined) return "";
  if (!about.samples) return "no samples";
  return ((100 * (about.complete || 0)) / about.samples).toFixed(1) + " %";
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
  const written = row.written ? new Date(row.written).toLocaleString() : "";
  const samples = about?.samples === undefined ? "" : about.samples.toLocaleString("en");
  tr.append(pick, name, element("td", written), element("td", about?.host || ""));
  tr.append(element("td", about?.command_line.join(" ") || "", "command"));
  tr.append(element("td", about?.events.join(", ") || ""), element("td", size(row.size), "number"));
  tr.append(element("td", samples, "number"), element("td", complete(row), "number"), state);
  return tr;
}

/** @param {Row} row @param {HTMLElement} state */
async function run(row, state) {
  try {
    await analyze({ id: row.id }, (job) => (state.textContent = progressText(job)));
    await load();
  } catch (error) {
    state.textContent = String(error instanceof Error ? error.message : error);
    state.className = "problem";
  }
}

/** @param {string} id @param {boolean} on */
function choose(id, on) {
  chosen = chosen.filter((other) => other !== id);
  if (on) chosen = [...chosen.slice(-1), id];
  draw();
}

function draw() {
  const wanted = /** @type {HTMLInputElement} */ (byId("filter")).value.toLowerCase();
  const shown = rows.filter((row) => searchText(row).includes(wanted));
  const table = element("table");
  const head = element("tr");
  for (const title of ["Compare", "Name", "Written", "Host", "Command", "Events", "Size", "Samples", "Complete", "State"]) {
    const th = element("th", title);
    th.setAttribute("scope", "col");
    head.append(th);
  }
  const body = element("tbody");
  body.append(...shown.map(line));
  const top = element("thead");
  top.append(head);
  table.append(top, body);
  byId("table").replaceChildren(table);
  const button = /** @type {HTMLButtonElement} */ (byId("compare"));
  button.disabled = chosen.length !== 2;
  status.textContent = rows.length ? `${shown.length} of ${rows.length} recordings` : "No recordings here.";
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
    status.textContent = String(error instanceof Error ? error.message : error);
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
  byId("filter").addEventListener("input", draw);
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
  status.textContent = String(error instanceof Error ? error.message : error);
  document.documentElement.dataset.failed = "yes";
}
start().catch(fail);
