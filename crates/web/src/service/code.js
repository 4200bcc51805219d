// @ts-check
// Instructions of functions and texts of source files, requested from the service on demand.
import { endOf } from "../data/code.js";
import { request } from "./api.js";

/** @typedef {import("../data/code.js").CodeBlock} CodeBlock */

/** Source of a recording's instructions.
 * @param {string} id @param {import("../data/columns.js").Head} head @returns {import("../views/source.js").CodeSource} */
export function codeOfService(id, head) {
  /** @type {CodeBlock[]} */
  const known = [];
  return {
    blocks: () => known,
    at: async (module, address) => {
      const found = known.find((block) => block.module === module && address >= block.start && address < endOf(block));
      if (found) return found;
      const { buildId, path } = head.modules[module];
      const query = new URLSearchParams({ module: buildId || path, address: address.toString(16) });
      const answer = await (await request(`/api/v1/recordings/${id}/asm?${query}`)).json();
      /** @type {{ address: number, length: number, text: string }[]} */
      const rows = answer.instructions;
      if (!rows.length) return null;
      const text = rows.map((row) => row.text).join("\n");
      const block = { module, start: rows[0].address, lengths: rows.map((row) => row.length), text };
      known.push(block);
      return block;
    },
    why: "Instructions are shown for x86-64 and aarch64 code in files; the kernel and code without a file have none.",
  };
}

/** Source of the texts of a recording's source files.
 * @param {string} id @returns {import("../views/source.js").TextSource} */
export function textOfService(id) {
  /** @type {Map<string, string[] | null>} */
  const known = new Map();
  return {
    known: (file) => known.get(file),
    ask: async (file) => {
      const path = `/api/v1/recordings/${id}/source?${new URLSearchParams({ file })}`;
      /** @type {string[] | null} */
      const text = await request(path).then((response) => response.json()).then((found) => found.text.split("\n"), () => null);
      known.set(file, text);
      return text;
    },
    why: "The source file is not available on this host.",
  };
}
