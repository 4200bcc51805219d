// @ts-check
// Sources of tables and instructions: the document, or a server. Tables have the same bytes in both. Instructions are
// numerous, so a server provides them per function on demand.
import { endOf } from "../data/code.js";

/** @typedef {() => Promise<ArrayBuffer>} Source */
/** Machine code of the function at an address of a module; null if it is unavailable, for the reason in `why`.
 * @typedef {{ at: (module: number, address: number) => Promise<import("../data/code.js").CodeBlock | null>, why: string,
 *   blocks: () => import("../data/code.js").CodeBlock[], nameAt?: (module: number, address: number) => string }} CodeSource
 * `blocks` are those at hand. `nameAt` is the name of code that other code jumps to or calls; empty if it is unknown; a page of
 * `report` has such names. */

/** Texts of source files: `known` is immediate, `ask` requests them; null if a text is unavailable.
 * @typedef {{ known: (file: string) => string[] | null | undefined, ask: (file: string) => Promise<string[] | null>, why: string }} TextSource */

/** Source of the texts in the document.
 * @param {import("../data/columns.js").Head} head @returns {TextSource} */
export function textOfDocument(head) {
  const texts = new Map(head.sources.map((source) => [source.file, source.text.split("\n")]));
  const known = (/** @type {string} */ file) => texts.get(file) || null;
  const why = "The source text is not in this page. A page has source files by default only if the recording is the user's own, is of the same host, and the file is below the directory of its compilation. " +
    "To embed any file, run unwind-perf report --embed-sources on a host with it.";
  return { known, ask: async (file) => known(file), why };
}

/** Source of the instructions in the document.
 * @param {import("../data/columns.js").Head} head @returns {CodeSource} */
export function codeOfDocument(head) {
  const blocks = (head.code || []).map((block) => ({ block, end: endOf(block) })), out = head.codeLeftOut || 0;
  const why = !blocks.length ? "This page has no instructions." : `This page has the instructions of the ${blocks.length.toLocaleString("en")} costliest functions` +
    (out ? `, but not of ${out.toLocaleString("en")} more, which exceed its size limit` : "") + "; the kernel, code without a file, and processors other than x86-64 and aarch64 have none.";
  /** @type {Map<number, Map<number, string>>} */
  const names = new Map();
  for (const [module, address, name] of head.targets || []) {
    const known = names.get(module);
    if (known) known.set(address, name); else names.set(module, new Map([[address, name]]));
  }
  return {
    blocks: () => head.code || [],
    nameAt: (module, address) => names.get(module)?.get(address) ?? "",
    at: async (module, address) => blocks.find(({ block, end }) => block.module === module && address >= block.start && address < end)?.block || null,
    why: `${why} unwind-perf annotate FUNCTION shows those of any function.`,
  };
}

/** Reads the tables in the document: base64 of a gzip stream.
 * @returns {Promise<ArrayBuffer>} */
export async function fromDocument() {
  const element = /** @type {HTMLElement} */ (document.getElementById("data"));
  const text = (element.textContent || "").trim();
  element.textContent = "";
  /** @type {Uint8Array<ArrayBuffer>} */
  let bytes;
  if ("fromBase64" in Uint8Array) bytes = /** @type {any} */ (Uint8Array).fromBase64(text);
  else {
    const raw = atob(text);
    bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}
