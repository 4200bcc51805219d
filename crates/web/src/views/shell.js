// @ts-check
// Common part of the pages of profiles and comparisons: state and history, names, colours, and search results.
import { kindColour, moduleColour, shadeOf } from "../data/colour.js";
import { shortened } from "../data/cut.js";
import { GAP, GUESSED, JOINED, NONE } from "../data/columns.js";
import { baseName, matcher } from "../data/names.js";
import { addressOf, stateOf } from "../data/links.js";

/** @typedef {import("../data/state.js").State} State */
/** @typedef {import("../data/model.js").Filter} Filter */
/** @typedef {import("../data/tree/labels.js").Labels} Labels */
/** @typedef {import("../data/tree/around.js").CostPicture} CostPicture */
/** View: its panel, and a function that draws it. `next` selects the next match of a search, `outside` counts matches
 * outside of the zoomed part. `key` runs a key that was pressed elsewhere on the page, false if it has no action;
 * `isHovered` is true if the mouse is over a frame. `graphs` are the columns of graphs for a picture.
 * @typedef {{ id: string, title: string, panel: HTMLElement, draw: () => void, resize?: () => void,
 *   next?: (step: number) => void, outside?: () => number, key?: (event: KeyboardEvent) => boolean,
 *   isHovered?: () => boolean, graphs?: () => import("./graphs/graph.js").Graph[][] }} ViewPart */

/** Parts of the state that undo does not change. */
const ELSEWHERE = /** @type {const} */ (["view", "func", "thread", "sort", "names", "group", "colour", "lanes", "open", "tall", "wide", "rows"]);

export class Shell {
  /** @param {Labels} model */
  constructor(model) {
    /** @type {Labels} */
    this.model = model;
    /** @type {string[]} Reports of references in the address that the recording lacks. */
    this.missing = [];
    this.state = this.read(location.hash);
    /** @type {string[]} States for undo. */
    this.past = [];
    /** @type {(() => void)[]} */
    this.listeners = [];
    /** @type {ReturnType<Labels["find"]>} */
    this.found = null;
    this.theme = /** @type {"light" | "dark"} */ ("light");
    /** By module: its rank in cost, which determines its colour. */
    this.ranks = new Int32Array(model.named.modules.length);
    /** @type {string[]} Ids of the views. */
    this.views = [];
    /** Returns the name of the recording, for exported files; empty if the page's file has it. */
    this.recordingName = async () => "";
  }

  /** State of an address.
   * @param {string} address */
  read(address) {
    const { state, missing } = stateOf(this.model, address);
    this.missing = missing;
    return state;
  }

  /** Address of a state. */
  address(state = this.state) { return addressOf(this.model, state); }

  /** Shows the state of the window's address. */
  reopen() {
    this.state = this.read(location.hash);
    this.refresh();
  }

  /** Computes the data for the state. */
  count() {}

  /** Shown stacks, for export.
   * @returns {import("../data/export/stacks.js").Stacks} */
  stacks() { throw new Error("there are no stacks"); }

  /** Total cost of the shown data. */
  get all() { return /** @type {any} */ (this.model.costs).all; }

  /** Changes the state and shows it. Undo returns to the previous state, unless `quiet`.
   * @param {Partial<State>} patch @param {boolean} [quiet] */
  change(patch, quiet) {
    const old = this.state, before = this.address();
    this.state = { ...old, ...patch };
    const after = this.address();
    if (after === before) return;
    this.missing = [];
    if (quiet) history.replaceState(null, "", "#" + after);
    else {
      // Undo reverts filters and zooms; the browser's history covers the rest.
      if (this.address(this.withNow(old)) !== after) this.past.push(before);
      history.pushState(null, "", "#" + after);
    }
    this.refresh();
  }

  /** State with the parts of the current one that undo does not change. A zoom belongs to its groups.
   * @param {State} state @returns {State} */
  withNow(state) {
    const now = Object.fromEntries(ELSEWHERE.map((key) => [key, this.state[key]]));
    return { ...state, ...now, zoom: state.group === this.state.group ? state.zoom : this.state.zoom };
  }

  /** Changes parts of the state that concern no view: nothing is drawn, and undo keeps them.
   * @param {Partial<State>} patch */
  keep(patch) {
    this.state = { ...this.state, ...patch };
    history.replaceState(null, "", "#" + this.address());
  }

  /** Reverts the last change to a part of the state that undo changes. */
  undo() {
    const now = this.address();
    for (let before = this.past.pop(); before !== undefined; before = this.past.pop()) {
      const state = this.withNow(this.read(before)), address = this.address(state);
      if (address === now) continue;
      this.state = state;
      history.replaceState(null, "", "#" + address);
      this.refresh();
      return;
    }
  }

  /** @param {Filter} filter */
  addFilter(filter) {
    const filters = this.state.filters.filter((old) => !(filter.kind === "time" && old.kind === "time"));
    this.change({ filters: [...filters, filter], zoom: [] });
  }

  /** Computes the data for the state, and notifies the listeners. */
  refresh() {
    this.count();
    this.found = this.model.find(matcher(this.state.search), this.state.names === "short");
    for (const listener of this.listeners) listener();
  }

  /** @param {number} f */
  label(f) { return this.model.name(f, this.state.names === "short"); }

  /** Shows the whole name of a function below its heading, if that has another one.
   * @param {HTMLElement} element @param {number} f */
  showWhole(element, f) {
    const name = this.model.name(f);
    element.hidden = [this.label(f), `${this.label(f)}()`].includes(name);
    element.textContent = shortened(name, 400);
    element.title = name;
  }

  /** Description of a node: a title, and lines.
   * @param {CostPicture} picture @param {number} node @param {number} zoom @returns {string[]} */
  describe(picture, node, zoom) { return [node === NONE ? "all" : this.model.name(picture.tree.func[node])]; }

  /** Marks of a node.
   * @param {import("../data/tree/tree.js").Tree} tree @param {number} node */
  marks(tree, node) {
    const f = tree.func[node], flags = tree.flags[node], marks = [], kind = this.model.kind(flags, f);
    if (kind === "jit") marks.push("compiled at run time");
    else if (kind === "anonymous") marks.push("code without a file");
    else if (kind !== "user" && kind !== "group") marks.push(kind);
    if (flags & GUESSED) marks.push("guessed from the frame pointer or a stack word");
    if (flags & GAP) {
      const left = this.model.name(f) === "[tail calls]";
      marks.push(left ? "stands for functions that ended in tail calls" : "stands for frames that no sample has");
    }
    else if (flags & JOINED) marks.push("taken from other samples in most of these stacks");
    return marks;
  }

  /** Colour of a node.
   * @param {import("../data/tree/tree.js").Tree} tree @param {number} node */
  colour(tree, node) {
    if (node === NONE) return kindColour("group", 2, this.theme);
    const f = tree.func[node], flags = tree.flags[node];
    if (flags & GAP || f === this.model.truncatedFunction()) return moduleColour(-1, 0, this.theme);
    const kind = this.model.kind(flags, f);
    if (kind === "group") return kindColour("group", 1, this.theme);
    const shade = shadeOf(this.model.name(f));
    if (this.state.colour === "kind") return kindColour(kind, shade, this.theme);
    const module = this.model.moduleOf()[f];
    return moduleColour(module < 0 ? -1 : this.ranks[module], shade, this.theme);
  }

  /** Colour of a function in tables.
   * @param {number} f */
  swatch(f) {
    const module = this.model.moduleOf()[f];
    if (f >= this.model.firstGroup) return kindColour("group", 1, this.theme);
    return moduleColour(module === undefined || module < 0 ? -1 : this.ranks[module], shadeOf(this.model.name(f)), this.theme);
  }

  /** Name of a kind of wait.
   * @param {number} at */
  waitName(at) { return /** @type {any} */ (this.model).tables?.head.waits?.[at] ?? "?"; }

  /** Text of a filter's chip.
   * @param {Filter} filter @returns {string} */
  filterName(filter) {
    const at = "at" in filter && filter.at !== undefined ? filter.at : -1, { modules } = this.model.named;
    const f = at >= 0 && at <= this.model.truncatedFunction() ? this.label(at) : "?";
    const module = at >= 0 && modules[at] ? baseName(modules[at].path) : "?";
    switch (filter.kind) {
      case "focus": return `focus on ${f}`;
      case "keep": return `only stacks with ${f}`;
      case "drop": return `no stacks with ${f}`;
      case "hide": return `without ${f}`;
      case "charge": return `${f} charged to its callers`;
      case "fold": return `${f} with its callees folded into it`;
      case "recursion": return at < 0 ? "recursion collapsed" : `recursion of ${f} collapsed`;
      case "module": return `only ${module}`;
      case "wait": return `kind of wait ${this.waitName(at)}`;
      case "hideModule": return `without ${module}`;
      case "parts": return "parts charged to their functions";
      case "merge": return at < 0 ? "modules merged" : `${module} merged`;
      default: return filter.kind;
    }
  }
}
