// @ts-check
// Where the tables come from: out of the document, or from a server. Both give the same bytes.

/** @typedef {() => Promise<ArrayBuffer>} Source */

/** The tables that lie in the document: base64 of a gzip stream.
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
