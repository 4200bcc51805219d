// @ts-check
// Times off the processor: their kinds of wait, and leaves without the kernel's frames.
import { KERNEL, NONE } from "./columns.js";
import { GONE, ROOT } from "./tree/transform.js";

/** @typedef {import("./model.js").Model} Model */
/** Own costs of functions by kind of wait: the kind of most of a function's cost (-1 for none),
 * and by kind the cost of all and the sum of the squared costs.
 * @typedef {{ kind: Int8Array, all: Float64Array, squares: Float64Array }} WaitCosts */

/** Value of a leaf that is no time off the processor. */
export const RUNNING = 0xff;

/** By node of a tree: the innermost node on its path whose frame is not the kernel's, or NONE.
 * @param {{ n: number, parent: Uint32Array, flags: Uint8Array }} tree */
function userNodes({ n, parent, flags }) {
  const user = new Uint32Array(n);
  for (let i = 0; i < n; i++) user[i] = !(flags[i] & KERNEL) ? i : parent[i] === NONE ? NONE : user[parent[i]];
  return user;
}

/** Nodes of leaves; those of times off the processor without the innermost frames of the kernel. Stacks of the kernel
 * alone are unchanged.
 * @param {{ n: number, parent: Uint32Array, flags: Uint8Array }} tree @param {Uint32Array} nodes by leaf
 * @param {Uint8Array} waits by leaf @returns {Uint32Array} */
export function withoutKernel(tree, nodes, waits) {
  const user = userNodes(tree);
  return nodes.map((node, leaf) => node === NONE || waits[leaf] === RUNNING || user[node] === NONE ? node : user[node]);
}

/** Costs of the times off the processor in the current view.
 * @param {Model} model @returns {WaitCosts | null} null if the shown event has none */
export function waitCosts(model) {
  const { head, leafWait } = model.tables;
  if (!leafWait || head.offCpu === undefined || model.view?.event !== head.offCpu) return null;
  return model.once("waitCosts", model.costsKey || "", () => countWaits(model, leafWait, (head.waits || []).length));
}

/** @param {Model} model @param {Uint8Array} leafWait @param {number} kinds @returns {WaitCosts} */
function countWaits(model, leafWait, kinds) {
  const to = /** @type {Uint32Array} */ (model.to), { func } = /** @type {any} */ (model.tree);
  const { weights, factor } = /** @type {any} */ (model.byLeaf), functions = model.truncatedFunction() + 1;
  const own = new Float64Array(functions * kinds), all = new Float64Array(kinds), squares = new Float64Array(kinds), kind = new Int8Array(functions).fill(-1);
  for (let leaf = 0; leaf < to.length; leaf++) {
    const cost = weights.cost[leaf] * factor, wait = leafWait[leaf];
    if (cost === 0 || wait === RUNNING || to[leaf] === GONE) continue;
    all[wait] += cost;
    squares[wait] += weights.squares[leaf] * factor * factor;
    if (to[leaf] !== ROOT) own[func[to[leaf]] * kinds + wait] += cost;
  }
  for (let f = 0; f < functions; f++) {
    let most = 0;
    for (let wait = 0; wait < kinds; wait++) {
      const cost = own[f * kinds + wait];
      if (cost > most) { most = cost; kind[f] = wait; }
    }
  }
  return { kind, all, squares };
}
