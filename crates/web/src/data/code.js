// @ts-check
// Machine code: the instructions of a function, and what was sampled at each of them.
import { INLINED, NONE } from "./columns.js";
import { GONE } from "./tree/transform.js";

/** @typedef {import("./model.js").Model} Model */
/** A function's machine code: the row of its module, where it begins there, and its instructions, each behind the one
 * before: their lengths in bytes, and their texts as lines.
 * @typedef {{ module: number, start: number, lengths: number[], text: string }} CodeBlock */
/** An instruction with its samples: all that were taken there, and those in the function that was asked for, which may
 * be inlined there.
 * @typedef {{ address: number, text: string, all: number, own: number }} CodeLine */
/** Where samples of a function were taken: the address and the number.
 * @typedef {{ address: number, n: number }} Place */

/** The address of a place as a number; those above 2 to the 53rd are not exact, and no file has such.
 * @param {import("./columns.js").Tables} tables @param {number} place */
const addressAt = (tables, place) => tables.placeHigh[place] * 0x100000000 + tables.placeLow[place];

/** Calls `each` for what was sampled in a module: the leaf's node, its address, and how many.
 * @param {Model} model @param {number} module @param {(node: number, address: number, n: number) => void} each */
function inModule(model, module, each) {
  const { tables } = model, { lines, leafNode, leafPlace } = tables, costs = /** @type {any} */ (model.costs);
  const to = /** @type {Uint32Array} */ (model.to), of = model.moduleOf();
  for (let leaf = 0; leaf < to.length; leaf++) {
    const count = costs.leaf[leaf], node = leafNode[leaf];
    if (count === 0 || to[leaf] === GONE || node === NONE || leafPlace[leaf] === NONE || of[lines.func[node]] !== module) continue;
    each(node, addressAt(tables, leafPlace[leaf]), count);
  }
}

/** Where samples of a function were taken, those of most samples first.
 * @param {Model} model @param {number} f @returns {Place[]} */
export function placesOf(model, f) {
  /** @type {Map<number, number>} */
  const by = new Map(), { func } = model.tables.lines;
  inModule(model, model.moduleOf()[f], (node, address, n) => { if (func[node] === f) by.set(address, (by.get(address) || 0) + n); });
  return [...by].map(([address, n]) => ({ address, n })).sort((a, b) => b.n - a.n || a.address - b.address);
}

/** Where a function's machine code ends.
 * @param {CodeBlock} block */
export const endOf = (block) => block.lengths.reduce((sum, length) => sum + length, block.start);

/** The instructions of a block with what was sampled there.
 * @param {Model} model @param {number} f the function that was asked for @param {CodeBlock} block
 * @returns {{ lines: CodeLine[], name: string, all: number }} with the name of the function that is not inlined there */
export function codeLines(model, f, block) {
  const { lines: { func, parent, flags } } = model.tables, end = endOf(block), texts = block.text.split("\n");
  /** @type {CodeLine[]} */
  const lines = [];
  let at = block.start;
  block.lengths.forEach((length, index) => { lines.push({ address: at, text: texts[index] ?? "", all: 0, own: 0 }); at += length; });
  const starts = Float64Array.from(lines, (line) => line.address);
  let name = "", all = 0;
  inModule(model, block.module, (node, address, n) => {
    if (address < block.start || address >= end) return;
    let low = 0, high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= address) low = middle + 1; else high = middle;
    }
    const line = lines[low - 1];
    line.all += n;
    all += n;
    if (func[node] === f) line.own += n;
    if (name) return;
    let outer = node;
    while (flags[outer] & INLINED && parent[outer] !== NONE) outer = parent[outer];
    name = model.name(func[outer]);
  });
  return { lines, name, all };
}

/** An address in hexadecimal digits.
 * @param {number} address */
export const hex = (address) => "0x" + address.toString(16);
