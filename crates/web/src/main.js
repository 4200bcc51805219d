// @ts-check
// Starts the page with the tables that lie in it.
import { readTables } from "./data/columns.js";
import { App } from "./views/app.js";
import { byId } from "./views/element.js";
import { startPage } from "./views/page.js";
import { fromDocument } from "./views/source.js";

async function start() {
  const app = new App(readTables(await fromDocument()));
  startPage(app);
  // For those who look at the page from outside: its checks, and the console.
  Object.assign(globalThis, { profile: app });
  document.documentElement.dataset.ready = "yes";
}
start().catch((error) => {
  byId("title").textContent = "This page cannot be shown: " + error;
  console.error(error);
});
