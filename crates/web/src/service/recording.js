// @ts-check
// Starts the page of a recording: the tables come from the service.
import { readTables } from "../data/columns.js";
import { App } from "../views/app.js";
import { byId } from "../views/element.js";
import { startPage } from "../views/page.js";
import { RequestError, analyze, ask, openSession, progressText } from "./api.js";

/** The id of the recording that the address names. */
const id = location.pathname.split("/")[2] || "";

/** The tables, for which the recording is analysed where it is not yet.
 * @param {(text: string) => void} tell @returns {Promise<ArrayBuffer>} */
async function tables(tell) {
  const path = "/api/v1/recordings/" + id + "/columns";
  try {
    return await (await ask(path)).arrayBuffer();
  } catch (error) {
    if (!(error instanceof RequestError) || error.problem.status !== 410) throw error;
  }
  await analyze({ id }, (job) => tell(progressText(job)));
  return (await ask(path)).arrayBuffer();
}

/** A link back to the list. */
function addLink() {
  const link = document.createElement("a");
  link.href = "/";
  link.textContent = "Recordings";
  byId("tools").prepend(link);
}

async function start() {
  await openSession();
  addLink();
  const title = byId("title");
  const app = new App(readTables(await tables((text) => (title.textContent = "Analysing: " + text))));
  startPage(app);
  Object.assign(globalThis, { profile: app });
  document.documentElement.dataset.ready = "yes";
}
start().catch((error) => {
  byId("title").textContent = "This recording cannot be shown. " + error.message;
  document.documentElement.dataset.failed = "yes";
  console.error(error);
});
