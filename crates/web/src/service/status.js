// @ts-check
// Status of the service: version, load and limits; updated while the page is visible.
import { request, openSession } from "./api.js";
import { showFailure } from "./refused.js";
import { startTheme } from "./theme.js";

/** Interval of updates, in milliseconds. */
const PAUSE = 2000;

/** @typedef {{ runs: boolean, starts: number }} Worker */
/** @typedef {{ version: string, seconds: number, uploads: boolean, firefox: boolean, debuginfod: boolean,
 * jobs: Record<string, number>, background: { enabled: boolean, analyzed: number, waiting: number }, results: { count: number, bytes: number },
 * workers: { local: Worker, foreign: Worker, ended: number }, limits: Record<string, number> }} Status */

/** @param {string} id @returns {HTMLElement} */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const number = (/** @type {number} */ value) => value.toLocaleString("en");
const megabytes = (/** @type {number} */ bytes) => (bytes / 1e6).toLocaleString("en", { maximumFractionDigits: 1 }) + " MB";

/** @param {number} seconds */
function duration(seconds) {
  const parts = [[86400, "d"], [3600, "h"], [60, "min"]].map(([length, unit]) => {
    const count = Math.floor(seconds / Number(length));
    seconds -= count * Number(length);
    return count ? count + " " + unit : "";
  });
  const rest = seconds || parts.every((part) => !part) ? seconds + " s" : "";
  return [...parts, rest].filter(Boolean).slice(0, 2).join(" ");
}

/** @param {Worker} worker */
const ofWorker = (worker) => `${worker.runs ? "runs" : "does not run"}, starts: ${number(worker.starts)}`;

/** @param {Status} status @returns {[string, string, string][]} */
function rows(status) {
  const { background, jobs, results, workers, limits } = status;
  const onOff = (/** @type {boolean} */ on) => (on ? "on" : "off");
  return [
    ["Version", status.version, ""],
    ["Runs for", duration(status.seconds), ""],
    ["Running jobs", number(jobs.running), `one at a time, ${duration(limits.job_seconds)} each`],
    ["Waiting jobs", number(jobs.queued), number(limits.waiting_jobs)],
    ["Finished jobs", `${number(jobs.done)} done, ${number(jobs.failed)} failed, ${number(jobs.refused)} refused`, ""],
    ["Recordings analysed without a request", background.enabled ? `${number(background.analyzed)}, waiting: ${number(background.waiting)}` : "off", number(limits.background_jobs)],
    ["Results on disk", `${number(results.count)}, ${megabytes(results.bytes)}`, megabytes(limits.results_bytes)],
    ["Worker for recordings of this host", ofWorker(workers.local), ""],
    ["Worker for untrusted recordings", ofWorker(workers.foreign), ""],
    ["Worker crashes", number(workers.ended), ""],
    ["Concurrent queries", "", number(limits.questions)],
    ["Connections, event listeners", "", `${number(limits.connections)}, ${number(limits.listeners)}`],
    ["Uploads", onOff(status.uploads), ""],
    ["Symbol server for the Firefox Profiler", onOff(status.firefox), ""],
    ["debuginfod server", onOff(status.debuginfod), ""],
  ];
}

/** @param {string[]} texts @param {string} scope */
function line(texts, scope) {
  const tr = document.createElement("tr");
  tr.append(...texts.map((text, at) => {
    const cell = document.createElement(scope === "col" || at === 0 ? "th" : "td");
    if (cell.tagName === "TH") cell.setAttribute("scope", scope);
    cell.textContent = text;
    return cell;
  }));
  return tr;
}

async function load() {
  /** @type {Status} */
  const status = await (await request("/api/v1/status")).json();
  const table = document.createElement("table"), head = document.createElement("thead"), body = document.createElement("tbody");
  head.append(line(["What", "Now", "At most"], "col"));
  body.append(...rows(status).map((texts) => line(texts, "row")));
  table.append(head, body);
  byId("table").replaceChildren(table);
  const say = status.jobs.running + status.jobs.queued ? "Busy." : "Idle.";
  if (byId("status").textContent !== say) byId("status").textContent = say;
}

/** Updates the page repeatedly; a hidden page sends no requests. */
async function again() {
  if (!document.hidden) {
    try {
      await load();
    } catch (error) {
      fail(error);
      // Without a session there is no page to update.
      if (!document.getElementById("status")) return;
    }
  }
  setTimeout(again, PAUSE);
}

async function start() {
  startTheme();
  await openSession();
  await load();
  setTimeout(again, PAUSE);
  document.documentElement.dataset.ready = "yes";
}
/** @param {unknown} error */
function fail(error) {
  showFailure(error, (text) => (byId("status").textContent = text));
}
start().catch((error) => {
  fail(error);
  document.documentElement.dataset.failed = "yes";
});
