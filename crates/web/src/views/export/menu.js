// @ts-check
// Export of the shown data as files, and a link to the view.
import { foldedText } from "../../data/export/stacks.js";
import { pprofBytes } from "../../data/export/pprof.js";
import { percent } from "../../data/numbers.js";
import { byId, input, make } from "../elements/element.js";
import { openMenu } from "../elements/menu.js";
import { pictureOf, toPng, toSvg } from "./picture.js";

/** @typedef {import("../shell.js").Shell} Shell */
/** @typedef {import("../shell.js").ViewPart} ViewPart */

/** Time until the address of a written file is given up, in milliseconds. */
const WRITING = 60000;

/** Time until a message is drawn, in milliseconds. */
const DRAWING = 40;

/** @param {Shell} app @param {() => ViewPart | null} open returns the open view */
export function startExport(app, open) {
  const button = byId("export");
  button.addEventListener("click", () => {
    const area = button.getBoundingClientRect();
    openMenu(entries(app, open()), area.left, area.bottom);
  });
  byId("copy-link").addEventListener("click", () => { void copyLink(); });
  app.listeners.push(() => tell(""));
  input("link").addEventListener("blur", () => { input("link").hidden = true; });
  input("link").addEventListener("keydown", (event) => { if (event.key === "Escape") byId("copy-link").focus(); });
}

/** @param {Shell} app @param {ViewPart | null} view @returns {import("../elements/menu.js").Entry[]} */
function entries(app, view) {
  const graphs = view?.graphs?.();
  const run = (/** @type {() => Blob | Promise<Blob>} */ make, /** @type {string} */ ending) => () => {
    tell("Exporting…");
    // The message is drawn first, since large exports take seconds.
    new Promise((resolve) => { setTimeout(resolve, DRAWING); }).then(make).then(async (blob) => save(blob, fileName(await app.recordingName()) + ending)).catch((error) => tell(`The export failed. ${error.message}`));
  };
  const picture = () => pictureOf(app, graphs || [], notesOf(app));
  /** @type {import("../elements/menu.js").Entry[]} */
  const pictures = graphs ? [
    { text: "SVG", key: "s", run: run(() => new Blob([toSvg(picture())], { type: "image/svg+xml" }), ".svg") },
    { text: "PNG", key: "p", run: run(() => toPng(picture()), ".png") },
  ] : [];
  return [
    { title: graphs ? `Picture: ${view?.title}` : "Pictures are available in views with a graph." }, ...pictures,
    { title: "Stacks that pass the filters" },
    { text: "Folded stacks", key: "f", run: run(() => new Blob([foldedText(app.stacks())], { type: "text/plain" }), ".folded") },
    { text: "pprof profile", key: "g", run: run(() => compressed(pprofBytes(app.stacks())), ".pb.gz") },
  ];
}

/** Lines below the title of a picture: the filters, the zoomed path, and the search.
 * @param {Shell} app @returns {string[]} */
function notesOf(app) {
  const { filters, zoom, search } = app.state, notes = [filters.length ? `Filters: ${filters.map((filter) => app.filterName(filter)).join(", ")}` : "No filters"];
  if (zoom.length) notes.push(`Zoomed to ${app.label(zoom[zoom.length - 1])}`);
  if (search && app.found) notes.push(`Search: ${search}, ${percent(app.found.found, app.all)} of the stacks match`);
  return notes;
}

/** @param {Uint8Array<ArrayBuffer>} bytes @returns {Promise<Blob>} */
const compressed = (bytes) => new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))).blob();

/** File name without ending: from the name of the recording, the page's file, or the title.
 * @param {string} name */
function fileName(name) {
  const of = name ? name : location.protocol === "file:" ? decodeURIComponent(location.pathname.split("/").at(-1) || "").replace(/\.html?$/, "") : "";
  return (of || document.title).replace(/[^\p{L}\p{N}._+-]+/gu, "_").replace(/^[._]+|_+$/g, "").slice(0, 80) || "profile";
}

/** @param {Blob} blob @param {string} name */
function save(blob, name) {
  const url = URL.createObjectURL(blob), link = /** @type {HTMLAnchorElement} */ (make("a", { href: url, download: name }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), WRITING);
  tell(`Exported ${name}.`);
}

/** Copies the address with the state. Without the clipboard, the address is shown and selected. */
async function copyLink() {
  const field = input("link"), note = location.protocol === "file:" ? " It opens this file; its part from # on also fits pages of other recordings." : "";
  let isCopied = false;
  try {
    await navigator.clipboard.writeText(location.href);
    isCopied = true;
  } catch {
    field.value = location.href;
    field.hidden = false;
    field.select();
    isCopied = document.execCommand("copy");
  }
  if (isCopied && !field.hidden) { field.hidden = true; byId("copy-link").focus(); }
  tell(isCopied ? `Link copied.${note}` : `Press Ctrl+C to copy the link.${note}`);
}

/** @param {string} text */
function tell(text) { byId("said").textContent = text; }
