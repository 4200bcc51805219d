// @ts-check
// Page of a comparison: its state, the engine, and descriptions and colours of changes.
import { NONE } from "../../data/columns.js";
import { DiffModel } from "../../data/compare/diff.js";
import { stacksOfDiff } from "../../data/export/stacks.js";
import { changeColour, describeChange, isOneSided } from "./changes.js";
import { Shell } from "../shell.js";

/** @typedef {import("../../data/compare/diff.js").DiffTables} DiffTables */
/** @typedef {import("../../data/compare/compare.js").Comparison} Comparison */
/** @typedef {import("../../data/compare/compare.js").Row} Row */
/** @typedef {import("../../data/tree/tree.js").Tree} Tree */

export class DiffApp extends Shell {
  /** @param {DiffTables} tables */
  constructor(tables) {
    const model = new DiffModel(tables);
    super(model);
    this.tables = tables;
    /** @type {DiffModel} */
    this.model = model;
  }

  get scale() { return this.tables.head.scale; }

  /** Comparison in the current view. */
  get compared() { return /** @type {Comparison} */ (this.model.compared); }

  /** Functions with their changes.
   * @returns {Row[]} */
  get rows() { return /** @type {Row[]} */ (this.model.functionRows).filter((row) => row.key < this.model.firstGroup); }

  count() { this.model.look({ filters: this.state.filters, side: this.state.side }); }

  /** @returns {import("../../data/export/stacks.js").Stacks} */
  stacks() {
    const { before, after, normalized } = this.tables.head, names = (/** @type {{ name: string }[]} */ runs) => runs.map((run) => run.name).join(" ");
    const notes = [`before: ${names(before)}`, `after: ${names(after)}`, normalized, ...this.state.filters.map((filter) => `filter: ${this.filterName(filter)}`)];
    return { ...stacksOfDiff(this.model), notes };
  }

  /** @param {import("../../data/tree/around.js").CostPicture} picture @param {number} node @param {number} zoom @returns {string[]} */
  describe(picture, node, zoom) {
    const name = node === NONE ? "all" : this.model.name(picture.tree.func[node]), sure = /** @type {Uint8Array} */ (this.model.sure);
    const notCompared = node === NONE ? 0 : this.model.notCompared(picture.tree.func[node]);
    const lines = describeChange(this.compared, node, name, this.scale, sure, notCompared);
    if (node !== NONE && this.model.module(picture.tree.func[node])) lines.splice(1, 0, `in ${this.model.module(picture.tree.func[node])}`);
    return lines;
  }

  /** @param {Tree} tree @param {number} node */
  colour(tree, node) { return changeColour(this.compared, node, /** @type {Uint8Array} */ (this.model.sure), this.theme); }

  /** @param {number} node */
  hatched(node) { return isOneSided(this.compared, node) && !this.model.notCompared(this.compared.tree.func[node]); }
}
