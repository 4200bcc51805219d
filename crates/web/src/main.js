// @ts-check
// Start of the page with the tables in its document: of a profile, or of a comparison.
import { readParts, readTables } from "./data/columns.js";
import { readDiff } from "./data/compare/diff.js";
import { App } from "./views/app.js";
import { DiffApp } from "./views/compare/diffapp.js";
import { startDiffPage } from "./views/compare/diffpage.js";
import { byId } from "./views/elements/element.js";
import { startPage } from "./views/page.js";
import { codeOfDocument, fromDocument, textOfDocument } from "./views/source.js";

async function start() {
  const parts = readParts(await fromDocument());
  // For checks and the console.
  const show = (/** @type {import("./views/shell.js").Shell} */ profile) => Object.assign(globalThis, { profile });
  if (parts.head.kind === "diff") {
    const app = new DiffApp(readDiff(parts));
    show(app);
    startDiffPage(app);
  } else {
    const tables = readTables(parts), app = new App(tables, codeOfDocument(tables.head), textOfDocument(tables.head));
    show(app);
    startPage(app);
  }
  document.documentElement.dataset.ready = "yes";
}
start().catch((error) => {
  byId("title").textContent = "Cannot show this page: " + error;
  console.error(error);
});
