// @ts-check
// Machine code: the instructions of a function, with their samples.
import { INLINED, NONE } from "./columns.js";
import { keyOf } from "./listing/lines.js";
import { GONE } from "./tree/transform.js";

/** @typedef {import("./model.js").Model} Model */
/** Machine code of a function: module row, start address in the module, and consecutive instructions. `lengths` are in
 * bytes; `text` has one line per instruction.
 * @typedef {{ module: number, start: number, lengths: number[], text: string }} CodeBlock */
/** Instruction with its costs: of all samples, and of those of the selected function, which may be inlined there; and the
 * keys of the function's lines in its samples, with the lines inlined there.
 * @typedef {{ address: number, text: string, all: number, own: number, of: string[] }} CodeLine */
/** Sampled address of a function, with its cost.
 * @typedef {{ address: number, n: number }} Place */

/** Address of a place as a number. Addresses above 2 to the 53rd would be inexact, but no file has them.
 * @param {import("./columns.js").Tables} tables @param {number} place */
export const addressAt = (tables, place) => tables.placeHigh[place] * 0x100000000 + tables.placeLow[place];

/** Calls `each` with the node, the address and the cost of each leaf in a module.
 * @param {Model} model @param {number} module @param {(node: number, address: number, n: number) => void} each */
function inModule(model, module, each) {
  const { tables } = model, { lines, leafNode, leafPlace } = tables, costs = /** @type {any} */ (model.costs), { leafLine } = model;
  const to = /** @type {Uint32Array} */ (model.to), of = model.moduleOf();
  for (let leaf = 0; leaf < to.length; leaf++) {
    const count = costs.leaf[leaf], node = leafNode[leaf];
    // Leaves have the address of their innermost frame only.
    if (leafLine && leafLine[leaf] !== node) continue;
    if (count === 0 || to[leaf] === GONE || node === NONE || leafPlace[leaf] === NONE || of[lines.func[node]] !== module) continue;
    each(node, addressAt(tables, leafPlace[leaf]), count);
  }
}

/** Sampled addresses of a function, in descending order of costs.
 * @param {Model} model @param {number} f @returns {Place[]} */
export function addressesOf(model, f) {
  /** @type {Map<number, number>} */
  const by = new Map(), { func } = model.tables.lines;
  inModule(model, model.moduleOf()[f], (node, address, n) => { if (func[node] === f) by.set(address, (by.get(address) || 0) + n); });
  return [...by].map(([address, n]) => ({ address, n })).sort((a, b) => b.n - a.n || a.address - b.address);
}

/** Cost of a function in kernel frames which are folded into it; it has no addresses of them.
 * @param {Model} model @param {number} f */
export function foldedInto(model, f) {
  const { tables: { lines: { func }, leafNode }, leafLine } = model, to = /** @type {Uint32Array} */ (model.to), costs = /** @type {any} */ (model.costs);
  let n = 0;
  if (leafLine) leafLine.forEach((node, leaf) => { if (node !== leafNode[leaf] && func[node] === f && to[leaf] !== GONE) n += costs.leaf[leaf]; });
  return n;
}

/** Reason why a function without sampled addresses has none.
 * @param {Model} model @param {number} f */
export const whyNoAddress = (model, f) => foldedInto(model, f) ? "Its time is in folded kernel frames, which have the addresses." : "It has no samples.";

/** End address of a function's machine code.
 * @param {CodeBlock} block */
export const endOf = (block) => block.lengths.reduce((sum, length) => sum + length, block.start);

/** Instructions of a block, with their costs.
 * @param {Model} model @param {number} f the selected function @param {CodeBlock} block
 * @returns {{ lines: CodeLine[], whole: number, all: number }} `whole` is the function that is not inlined, -1 if unknown */
export function codeLines(model, f, block) {
  const { lines: { func, parent, flags, line: numbers } } = model.tables, end = endOf(block), texts = block.text.split("\n");
  /** @type {CodeLine[]} */
  const lines = [];
  let at = block.start;
  block.lengths.forEach((length, index) => { lines.push({ address: at, text: texts[index] ?? "", all: 0, own: 0, of: [] }); at += length; });
  const starts = Float64Array.from(lines, (line) => line.address);
  let whole = -1, all = 0;
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
    const nodes = [node];
    while (flags[nodes[0]] & INLINED && parent[nodes[0]] !== NONE) nodes.unshift(parent[nodes[0]]);
    if (whole < 0) whole = func[nodes[0]];
    const first = nodes.findIndex((one) => func[one] === f);
    if (first < 0 || !numbers[nodes[first]]) return;
    let key = "";
    for (const one of nodes.slice(first)) {
      key = key ? keyOf(key, func[one], numbers[one]) : String(numbers[one]);
      if (!line.of.includes(key)) line.of.push(key);
    }
  });
  return { lines, whole, all };
}

/** An address in hexadecimal digits.
 * @param {number} address */
export const hex = (address) => "0x" + address.toString(16);
