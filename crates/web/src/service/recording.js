// @ts-check
// Start of the page of a recording or a comparison, with tables from the service.
import { readParts, readTables } from "../data/columns.js";
import { readDiff } from "../data/compare/diff.js";
import { App } from "../views/app.js";
import { DiffApp } from "../views/compare/diffapp.js";
import { startDiffPage } from "../views/compare/diffpage.js";
import { byId } from "../views/elements/element.js";
import { startPage } from "../views/page.js";
import { RequestError, analyze, request, openSession, progressText, runOptions } from "./api.js";
import { codeOfService, textOfService } from "./code.js";
import { showFailure } from "./refused.js";

/** Loads the tables of a recording, with the options of the run in the address; analyses it first if necessary.
 * @param {string} id @param {(text: string) => void} tell @returns {Promise<ArrayBuffer>} */
async function tables(id, tell) {
  const path = "/api/v1/recordings/" + id + "/columns" + location.search;
  try {
    return await (await request(path)).arrayBuffer();
  } catch (error) {
    if (!(error instanceof RequestError) || error.problem.status !== 410) throw error;
  }
  await analyze({ id, options: runOptions(location.search) }, (job) => tell(progressText(job)));
  return (await request(path)).arrayBuffer();
}

/** Loads the tables of a comparison, for the recordings in the address.
 * @returns {Promise<ArrayBuffer>} */
async function difference() {
  const names = new URLSearchParams(location.search);
  const body = { a: names.getAll("a"), b: names.getAll("b"), format: "columns" };
  const response = await request("/api/v1/diff", { method: "POST", body });
  const unpacked = /** @type {ReadableStream} */ (response.body).pipeThrough(new DecompressionStream("gzip"));
  return new Response(unpacked).arrayBuffer();
}

/** Adds a link to the list. */
function addLink() {
  const link = document.createElement("a");
  link.href = "/";
  link.textContent = "Recordings";
  byId("tools").prepend(link);
}

async function start() {
  await openSession();
  addLink();
  const title = byId("title"), show = (/** @type {import("../views/shell.js").Shell} */ profile) => Object.assign(globalThis, { profile });
  if (location.pathname === "/diff") {
    title.textContent = "Comparing…";
    const app = new DiffApp(readDiff(readParts(await difference())));
    show(app);
    startDiffPage(app);
  } else {
    const id = location.pathname.split("/")[2] || "";
    const read = readTables(readParts(await tables(id, (text) => (title.textContent = "Analysing: " + text))));
    const app = new App(read, codeOfService(id, read.head), textOfService(id));
    app.recordingName = async () => (await (await request("/api/v1/recordings/" + id)).json()).name;
    show(app);
    startPage(app);
  }
  document.documentElement.dataset.ready = "yes";
}
start().catch((error) => {
  showFailure(error, (text) => (byId("title").textContent = "Cannot show this page. " + text));
  document.documentElement.dataset.failed = "yes";
  console.error(error);
});
