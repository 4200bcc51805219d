// @ts-check
// Failures of a page of the service. Without a session, the page has no tools, only the way to a new link.
import { RequestError } from "./api.js";

/** Shows a failure: replaces the page if its session is missing, else calls `tell` with the text.
 * @param {unknown} error @param {(text: string) => void} tell */
export function showFailure(error, tell) {
  if (!(error instanceof RequestError) || error.problem.status !== 401) {
    tell(error instanceof Error ? error.message : String(error));
    return;
  }
  const main = document.createElement("main"), title = document.createElement("h1"), text = document.createElement("p");
  const command = document.createElement("code");
  title.textContent = "This link does not work";
  command.textContent = location.pathname === "/live" ? "unwind-perf live" : "unwind-perf serve";
  text.append("This link has expired or belongs to another start of the service. Open the address that ", command, " printed at its start.");
  main.className = "refused";
  main.append(title, text);
  document.title = title.textContent;
  document.body.replaceChildren(main);
}
