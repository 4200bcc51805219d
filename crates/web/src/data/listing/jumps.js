// @ts-check
// Direct jumps inside a function's machine code, and the names of its calls' targets.
import { INLINED, NONE } from "../columns.js";
import { addressAt, endOf } from "../code.js";
import { shortName } from "../short.js";

/** Jump between two instructions, by index, in a lane of the drawing; `lane` is -1 if there is no free lane.
 * @typedef {{ from: number, to: number, lane: number }} Jump */

/** Maximum number of lanes, so that the drawing remains narrow. */
export const LANES = 6;
/** Jump or call with a direct target, with its prefixes and the prediction after its name. */
const DIRECT = /^(?:(?:notrack|bnd|data16|addr32|xacquire|xrelease|repz?) )*(j\w+|loop\w*|xbegin|call\w?)(?:,p[nt])? (?:[a-z]+ )?(0x[0-9a-f]+)$/;
/** The same of aarch64. */
const DIRECT_AARCH64 = /^(bl?|bc?\.[a-z]{2}|cbn?z \w+,|tbn?z \w+, #\w+,) (0x[0-9a-f]+)$/;

/** Target of a direct jump or call.
 * @param {string} text @returns {{ address: number, isCall: boolean } | null} */
export function targetOf(text) {
  const found = DIRECT.exec(text) || DIRECT_AARCH64.exec(text);
  return found ? { address: Number(found[2]), isCall: found[1].startsWith("call") || found[1] === "bl" } : null;
}

/** Jumps inside the code. Short ones have the lanes beside the instructions. Jumps to one target share a
 * lane; other jumps in a lane do not overlap.
 * @param {{ address: number, text: string }[]} lines in ascending order @returns {Jump[]} in the order of their instructions */
export function jumpsOf(lines) {
  const at = new Map(lines.map(({ address }, index) => [address, index]));
  /** @type {Jump[]} */
  const jumps = [];
  lines.forEach(({ text }, from) => {
    const target = targetOf(text), to = target && !target.isCall ? at.get(target.address) : undefined;
    if (to !== undefined) jumps.push({ from, to, lane: -1 });
  });
  /** By target: its jumps, and the rows that they cross. @type {Map<number, { first: number, end: number, jumps: Jump[] }>} */
  const groups = new Map();
  for (const jump of jumps) {
    let group = groups.get(jump.to);
    if (!group) groups.set(jump.to, group = { first: jump.to, end: jump.to + 1, jumps: [] });
    group.first = Math.min(group.first, jump.from);
    group.end = Math.max(group.end, jump.from + 1);
    group.jumps.push(jump);
  }
  const taken = Array.from({ length: LANES }, () => new Uint8Array(lines.length));
  for (const { first, end, jumps } of [...groups.values()].sort((a, b) => a.end - a.first - b.end + b.first || a.first - b.first)) {
    const lane = taken.findIndex((lane) => lane.subarray(first, end).every((one) => one === 0));
    if (lane >= 0) taken[lane].fill(1, first, end);
    for (const jump of jumps) jump.lane = lane;
  }
  return jumps;
}

/** Names of the functions at the starts of blocks in a module, from the samples in them; functions without samples or
 * code have none.
 * @param {import("../model.js").Model} model @param {number} module @param {import("../code.js").CodeBlock[]} blocks
 * @returns {Map<number, number>} functions by address */
export function functionsAt(model, module, blocks) {
  const { tables } = model, { lines: { func, flags, parent }, leafNode, leafPlace } = tables, of = model.moduleOf();
  const own = blocks.filter((block) => block.module === module).map((block) => ({ start: block.start, end: endOf(block) })).sort((a, b) => a.start - b.start);
  /** @type {Map<number, number>} */
  const found = new Map();
  for (let leaf = 0; leaf < leafNode.length && own.length; leaf++) {
    let node = leafNode[leaf];
    if (node === NONE || leafPlace[leaf] === NONE || of[func[node]] !== module) continue;
    const address = addressAt(tables, leafPlace[leaf]);
    let low = 0, high = own.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (own[middle].start <= address) low = middle + 1; else high = middle;
    }
    const block = own[low - 1];
    if (!block || address >= block.end || found.has(block.start)) continue;
    while (flags[node] & INLINED && parent[node] !== NONE) node = parent[node];
    found.set(block.start, func[node]);
  }
  return found;
}

/** End of a target's name that is not part of the function's name. */
const AFTER_NAME = /(?:@plt)?(?:\+0x[0-9a-f]+)?$/;

/** Name of a target with the short name of its function.
 * @param {string} name */
export function shortTarget(name) {
  const at = name.search(AFTER_NAME);
  return shortName(name.slice(0, at)) + name.slice(at);
}
