// @ts-check
// Shown stacks with their own costs, for export; and their folded text.
import { NONE } from "../columns.js";
import { drawn } from "../tree/picture.js";

/** @typedef {import("../tree/tree.js").Tree} Tree */
/** @typedef {import("../tree/labels.js").Labels} Labels */
/** @typedef {import("../model.js").Model} Model */
/** @typedef {import("../compare/diff.js").DiffModel} DiffModel */
/** Weights of one side: samples and costs that end at each node, and those without a frame.
 * @typedef {{ n: Float64Array, cost: Float64Array, bareN: number, bare: number }} Side */
/** Stacks as a tree: one side, or the baseline and the candidate of a comparison. `event` is null if costs are samples.
 * `line` returns the line of a node in the file of its function, 0 if it is unknown. `notes` describe the stacks.
 * @typedef {{ model: Labels, tree: Tree, sides: Side[], event: { name: string, unit: string } | null,
 *   line: (node: number) => number, duration: number, notes: string[] }} Stacks */

/** Frame of samples without frames. */
export const BARE = "[no frames]";

/** Stacks of the samples of a profile that pass the filters.
 * @param {Model} model @returns {Omit<Stacks, "notes">} */
export function stacksOf(model) {
  const blocks = model.blocks(), costs = /** @type {import("../model.js").Costs} */ (model.costs), { head, span } = model.tables;
  const view = /** @type {import("../model.js").View} */ (model.view), chosen = /** @type {import("../samples/select.js").Selection} */ (model.chosen);
  /** @type {{ tree: Tree, own: { n: Float64Array, cost: Float64Array }, total: { n: Float64Array, cost: Float64Array } }} */
  let shown;
  if (blocks.isPlain) shown = { tree: /** @type {Tree} */ (model.tree), own: { n: costs.ownN, cost: costs.own }, total: { n: costs.n, cost: costs.total } };
  else {
    const { tree, drawn: [weights] } = drawn(blocks, 1, [], 0);
    shown = { tree, ...weights };
  }
  const { tree, own, total } = shown, { events, unit } = head;
  const line = (/** @type {number} */ node) => {
    const f = tree.func[node], src = tree.src[node];
    if (f >= model.functions || src === NONE) return 0;
    const found = model.lineOf(f, /** @type {any} */ (model.baseLine)[src]);
    return found.file === model.file(f) ? found.line : 0;
  };
  return {
    model, tree, line, event: view.weight === "period" ? { name: events[view.event].name, unit: events[view.event].unit } : null,
    sides: [{ ...own, bareN: costs.allN - sumOfRoots(tree, total.n), bare: costs.all - sumOfRoots(tree, total.cost) }],
    duration: Math.max(0, Math.min(chosen.to, span) - chosen.from) * unit,
  };
}

/** Stacks of a comparison, with the costs of the baseline on the scale of the candidate.
 * @param {DiffModel} model @returns {Omit<Stacks, "notes">} */
export function stacksOfDiff(model) {
  const compared = /** @type {import("../compare/compare.js").Comparison} */ (model.compared), { head } = model.tables, { tree } = compared;
  const candidate = compared.sides[1].reduce((sum, run) => sum + run.all.cost, 0), scale = compared.all.after > 0 ? candidate / compared.all.after : 0;
  const sides = compared.sides.map((runs, side) => {
    const cost = compared.values(side, runs.map((run) => run.own)).map((value) => value * scale), n = new Float64Array(tree.n), raw = new Float64Array(tree.n);
    for (const { own } of runs) for (let i = 0; i < tree.n; i++) { n[i] += own.n[i]; raw[i] += own.cost[i]; }
    for (let i = 0; i < tree.n; i++) n[i] = raw[i] > 0 ? n[i] * cost[i] / raw[i] : 0;
    const all = (side ? compared.all.after : compared.all.before) * scale, bare = all - cost.reduce((sum, value) => sum + value, 0);
    return { n, cost, bareN: 0, bare: Math.round(bare) > 0 ? bare : 0 };
  });
  const event = head.unit === "samples" ? null : { name: head.event, unit: head.unit };
  return { model, tree, sides, event, line: () => 0, duration: 0 };
}

/** @param {Tree} tree @param {Float64Array} total */
function sumOfRoots(tree, total) {
  let sum = 0;
  for (let i = 0; i < tree.n; i++) if (tree.parent[i] === NONE) sum += total[i];
  return sum;
}

/** Whole numbers with the sum of the exact ones: each carries the rounding error of those before it. */
class Whole {
  /** @param {number} sides */
  constructor(sides) { this.error = Array(sides).fill(0); }

  /** @param {number[]} exact a number of each side */
  of(exact) {
    return exact.map((one, side) => {
      const wanted = one + this.error[side], made = Math.max(0, Math.round(wanted));
      this.error[side] = wanted - made;
      return made;
    });
  }
}

/** Calls `each` for the stacks with a cost or samples: the node of the leaf (NONE for samples without frames), and the
 * costs and samples of each side as whole numbers, whose sums are those of the exact ones.
 * @param {Stacks} stacks @param {(node: number, costs: number[], samples: number[]) => void} each */
export function eachStack(stacks, each) {
  const { tree, sides } = stacks, wholeCost = new Whole(sides.length), wholeN = new Whole(sides.length);
  const add = (/** @type {number} */ node, /** @type {number[]} */ cost, /** @type {number[]} */ n) => {
    const costs = wholeCost.of(cost), samples = wholeN.of(n);
    if (costs.some((one) => one > 0) || samples.some((one) => one > 0)) each(node, costs, samples);
  };
  for (let node = 0; node < tree.n; node++) add(node, sides.map((side) => side.cost[node]), sides.map((side) => side.n[node]));
  add(NONE, sides.map((side) => side.bare), sides.map((side) => side.bareN));
}

/** Folded stacks, a line for each: `outermost;…;innermost cost`, with two costs for a comparison. Stacks with equal names
 * are one line.
 * @param {Stacks} stacks */
export function foldedText(stacks) {
  const { tree, model } = stacks, texts = /** @type {string[]} */ ([]);
  const name = (/** @type {number} */ f) => model.name(f).replaceAll(";", ":").replace(/[\r\n]+/g, " ");
  for (let node = 0; node < tree.n; node++) {
    const p = tree.parent[node];
    texts.push(p === NONE ? name(tree.func[node]) : `${texts[p]};${name(tree.func[node])}`);
  }
  /** @type {Map<string, number[]>} */
  const lines = new Map();
  eachStack(stacks, (node, costs) => {
    if (costs.every((cost) => cost === 0)) return;
    const text = node === NONE ? BARE : texts[node], known = lines.get(text);
    lines.set(text, known ? known.map((cost, at) => cost + costs[at]) : costs);
  });
  return [...lines].map(([text, costs]) => `${text} ${costs.join(" ")}\n`).sort().join("");
}
