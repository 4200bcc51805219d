// @ts-check
// Timeline: one lane for all threads, one per group of threads with equal names, and one per thread, all on one scale.
// Dragging selects a time; names select threads. Only visible lanes are counted and drawn.
import { NONE } from "../../data/columns.js";
import { folded, groupName } from "../../data/names.js";
import { amount, axisStep } from "../../data/numbers.js";
import { busyThreads, samplesByThread } from "../../data/samples/order.js";
import { threadMenu } from "../actions.js";
import { byId, input, make, sized, styled } from "../elements/element.js";

/** @typedef {import("../app.js").App} App */
/** Lane: its threads, and the lanes into which it expands.
 * @typedef {{ name: string, ids: number[], count: number, level: number, inside: ThreadGroup[], isOpen: boolean }} ThreadGroup */

const HEIGHT = 22;

export class Timeline {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.tables = app.tables;
    this.whole = this.all();
    this.scroll = make("div", { class: "lanes", tabindex: 0, role: "group", "aria-label": "Lanes of threads", scroll: () => this.draw() });
    this.space = make("div", { class: "space" });
    this.scroll.append(this.space);
    this.axis = /** @type {HTMLCanvasElement} */ (make("canvas", { "aria-hidden": "true" }));
    this.ruler = make("i", { class: "ruler", hidden: "" });
    byId("lanes").append(make("div", { class: "axis" }, make("span"), this.axis), this.scroll, this.ruler);
    /** @type {{ start: Uint32Array, list: Uint32Array } | null} */
    this.byThread = null;
    /** @type {Map<string, { whole: Uint32Array, cut: Uint32Array }>} */
    this.bins = new Map();
    this.binsKey = "";
    /** @type {number | null} */
    this.drag = null;
    for (const id of ["from", "to"]) byId(id).addEventListener("change", () => this.typed());
    new ResizeObserver(() => this.draw()).observe(this.scroll);
  }

  /** Lane of all threads. @returns {ThreadGroup} */
  all() {
    const all = busyThreads(this.app.model).filter((one) => one.count > 0);
    const total = all.reduce((sum, one) => sum + one.count, 0);
    return { name: `all ${amount(all.length)} threads`, ids: all.map((one) => one.id), count: total, level: 0, inside: this.groups(all), isOpen: true };
  }

  /** Recounts a recording that has grown; expanded lanes stay expanded. */
  renew() {
    if (this.tables === this.app.tables) return;
    this.tables = this.app.tables;
    const open = new Map(this.whole.inside.map((lane) => [lane.ids[0], lane.isOpen]));
    this.whole = this.all();
    for (const lane of this.whole.inside) lane.isOpen = open.get(lane.ids[0]) ?? lane.isOpen;
    this.byThread = null;
    this.bins.clear();
    this.most = 0;
  }

  /** Groups threads by their names without trailing numbers; a thread with a unique name has its own lane.
   * @param {{ id: number, count: number }[]} all @returns {ThreadGroup[]} */
  groups(all) {
    /** @type {Map<string, { id: number, count: number }[]>} */
    const by = new Map();
    for (const one of all) {
      const name = folded(this.app.tables.head.threads[one.id][2]), list = by.get(name);
      if (list) list.push(one); else by.set(name, [one]);
    }
    const lane = (/** @type {{ id: number, count: number }} */ one, /** @type {number} */ level) =>
      ({ name: this.app.threadName(one.id), ids: [one.id], count: one.count, level, inside: [], isOpen: false });
    return [...by.values()].map((list) => list.length === 1 ? lane(list[0], 1)
      : { name: `${groupName(list.map((one) => this.app.tables.head.threads[one.id][2]))} (${amount(list.length)})`, ids: list.map((one) => one.id), count: list.reduce((sum, one) => sum + one.count, 0),
        level: 1, inside: list.map((one) => lane(one, 2)), isOpen: list.length <= 4 && by.size <= 4 }).sort((a, b) => b.count - a.count);
  }

  /** @returns {ThreadGroup[]} The visible lanes. */
  open() {
    if (this.whole.ids.length === 1) return [this.whole.inside[0]];
    const [only] = this.whole.inside;
    if (this.whole.inside.length === 1) return [this.whole, ...only.inside];
    return [this.whole, ...this.whole.inside.flatMap((lane) => lane.isOpen ? [lane, ...lane.inside] : [lane])];
  }

  draw() {
    this.renew();
    const { app, scroll } = this, lanes = this.open();
    if (!scroll.clientWidth || !lanes[0]) return;
    this.space.style.height = lanes.length * HEIGHT + "px";
    const nameWidth = Math.min(220, scroll.clientWidth * 0.3);
    byId("lanes").style.setProperty("--lane-name", nameWidth + "px");
    this.left = nameWidth;
    this.width = Math.max(40, Math.floor(scroll.clientWidth - nameWidth));
    const key = `${this.width}/${app.event}`;
    if (key !== this.binsKey) { this.bins.clear(); this.binsKey = key; this.most = 0; }
    this.scale();
    const first = Math.floor(scroll.scrollTop / HEIGHT), last = Math.min(lanes.length, first + Math.ceil(scroll.clientHeight / HEIGHT) + 1);
    const made = [];
    for (let index = first; index < last; index++) made.push(this.drawLane(lanes[index], index));
    const focused = document.activeElement?.closest(".lane")?.getAttribute("data-lane");
    this.space.replaceChildren(...made.map((one) => one.row));
    for (const one of made) one.paint();
    if (focused) /** @type {HTMLElement | null} */ (this.space.querySelector(`[data-lane="${focused}"] button.pick`))?.focus();
    this.drawAxis();
  }

  /** Sets one scale for all lanes of threads: the maximum number of samples per bin among the busiest. Lanes of several
   * threads may use a larger one. */
  scale() {
    if (this.most) return;
    this.most = 1;
    for (const id of this.whole.ids.slice(0, 40)) {
      const { whole } = this.count([id]);
      for (let x = 0; x < whole.length; x++) this.most = Math.max(this.most, whole[x]);
    }
  }

  /** Samples of threads per pixel, and those with truncated stacks.
   * @param {number[]} ids */
  count(ids) {
    const key = ids.length === this.whole.ids.length ? "all" : ids.length === 1 ? String(ids[0]) : ids[0] + "+" + ids.length;
    const known = this.bins.get(key);
    if (known) return known;
    const { tables } = this.app, { time, event, leaf, leafEnd, head } = tables, width = /** @type {number} */ (this.width);
    const made = { whole: new Uint32Array(width), cut: new Uint32Array(width) }, scale = width / (tables.span + 1), wanted = this.app.event;
    const one = head.events.length < 2, { rooted } = head;
    const add = (/** @type {number} */ i) => {
      if (!one && event[i] !== wanted) return;
      const bin = Math.floor(time[i] * scale);
      made.whole[bin]++;
      if (!rooted[leafEnd[leaf[i]]]) made.cut[bin]++;
    };
    if (key === "all") for (let i = 0; i < tables.samples; i++) add(i);
    else {
      this.byThread ||= samplesByThread(tables);
      const { start, list } = this.byThread;
      for (const id of ids) for (let k = start[id]; k < start[id + 1]; k++) add(list[k]);
    }
    this.bins.set(key, made);
    return made;
  }

  /** @param {ThreadGroup} lane @param {number} index */
  drawLane(lane, index) {
    const { app } = this, canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { role: "img", "aria-label": `Samples of ${lane.name} over time` }));
    const chosen = app.model.chosen?.threads, isOn = !chosen || lane.ids.some((id) => chosen[id]);
    const comm = folded(app.tables.head.threads[lane.ids[0]][2]);
    const pick = make("button", { type: "button", class: "pick" + (isOn ? "" : " off"), title: `${lane.name}: ${amount(lane.count)} samples`, text: lane.name,
      click: (/** @type {MouseEvent} */ event) => this.pick(lane, event.ctrlKey || event.metaKey || event.shiftKey),
      keydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "m" && event.key !== "t") return;
        const area = pick.getBoundingClientRect();
        if (event.key === "t") app.addFilter({ kind: "threads", ids: lane.ids }); else threadMenu(app, lane.ids, comm, area.left + 20, area.bottom);
        event.preventDefault();
        event.stopPropagation();
      } });
    const name = make("div", { class: "name" }, pick);
    name.style.paddingLeft = lane.level * 8 + "px";
    if (lane.inside.length && lane !== this.whole) {
      name.prepend(make("button", { type: "button", class: "twist", "aria-expanded": String(lane.isOpen), "aria-label": `Threads of ${lane.name}`, text: lane.isOpen ? "▾" : "▸", click: () => { lane.isOpen = !lane.isOpen; this.draw(); } }));
    }
    const row = make("div", { class: "lane", "data-lane": index, contextmenu: (/** @type {MouseEvent} */ event) => {
      event.preventDefault();
      threadMenu(app, lane.ids, comm, event.clientX, event.clientY);
    } }, name, canvas);
    row.style.top = index * HEIGHT + "px";
    this.listen(canvas);
    return { row, paint: () => this.paint(canvas, lane) };
  }

  /** @param {HTMLCanvasElement} canvas @param {ThreadGroup} lane */
  paint(canvas, lane) {
    const { app } = this, { whole, cut } = this.count(lane.ids), height = HEIGHT - 3, width = /** @type {number} */ (this.width);
    const pen = sized(canvas, width, height), bar = styled("--bar"), grey = styled("--cut");
    let most = /** @type {number} */ (this.most);
    if (lane.ids.length > 1) for (let x = 0; x < width; x++) most = Math.max(most, whole[x]);
    for (let x = 0; x < width; x++) {
      const sum = whole[x] / most * height, part = cut[x] / most * height;
      pen.fillStyle = bar;
      if (sum > 0) pen.fillRect(x, height - Math.max(sum, 1), 1, Math.max(sum, 1));
      pen.fillStyle = grey;
      if (part > 0) pen.fillRect(x, height - part, 1, part);
    }
    const scale = width / (app.tables.span + 1), mark = (/** @type {number} */ from, /** @type {number} */ to, /** @type {string} */ colour) => {
      pen.fillStyle = colour;
      pen.fillRect(from * scale, 0, Math.max((Math.min(to, app.tables.span) - from) * scale, 1), height);
    };
    for (const [from, to] of app.baseTimes()) mark(from, to, styled("--pick-base"));
    for (const time of app.state.marks) mark(time, time, styled("--fore"));
    const { from, to } = this.shownTime();
    if (to !== NONE || from > 0) mark(from, to, styled("--pick"));
  }

  shownTime() {
    if (this.drag !== null && this.now !== undefined) return { from: Math.min(this.drag, this.now), to: Math.max(this.drag, this.now) };
    const { chosen } = this.app.model;
    return chosen ? { from: chosen.from, to: chosen.to } : { from: 0, to: NONE };
  }

  drawAxis() {
    const width = /** @type {number} */ (this.width), pen = sized(this.axis, width, 16), seconds = this.app.seconds(this.app.tables.span);
    pen.fillStyle = styled("--fore");
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "top";
    const step = axisStep(seconds, width / 80);
    for (let tick = 0; tick <= seconds && seconds > 0; tick += step) {
      const x = tick / seconds * (width - 1);
      pen.fillRect(x, 11, 1, 5);
      const text = `${Number(tick.toPrecision(6))} s`;
      if (x + pen.measureText(text).width < width) pen.fillText(text, x + 3, 1);
    }
  }

  /** @param {HTMLCanvasElement} canvas */
  listen(canvas) {
    const timeAt = (/** @type {PointerEvent} */ event) => {
      const area = canvas.getBoundingClientRect();
      return Math.round(Math.min(Math.max((event.clientX - area.left) / area.width, 0), 1) * this.app.tables.span);
    };
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.drag = this.now = timeAt(event);
      this.isBase = event.ctrlKey || event.metaKey;
    });
    canvas.addEventListener("pointermove", (event) => {
      byId("under").textContent = `${this.app.seconds(timeAt(event)).toFixed(6)} s`;
      const outer = byId("lanes").getBoundingClientRect();
      this.ruler.hidden = false;
      this.ruler.style.left = event.clientX - outer.left + "px";
      if (this.drag === null) return;
      this.now = timeAt(event);
      for (const one of this.space.children) {
        const lane = this.open()[Number(one.getAttribute("data-lane"))];
        this.paint(/** @type {HTMLCanvasElement} */ (one.querySelector("canvas")), lane);
      }
    });
    canvas.addEventListener("pointerleave", () => { byId("under").textContent = ""; this.ruler.hidden = true; });
    canvas.addEventListener("pointerup", (event) => {
      const start = this.drag, end = timeAt(event);
      this.drag = null;
      if (start === null) return;
      // A click without dragging removes the time selection.
      if (Math.abs(end - start) * canvas.clientWidth < 3 * this.app.tables.span) {
        this.app.change({ filters: this.app.state.filters.filter((filter) => filter.kind !== "time") });
        this.draw();
      } else if (this.isBase) this.app.change({ base: [Math.min(start, end), Math.max(start, end)], view: this.app.state.filters.some((filter) => filter.kind === "time") ? "compare" : this.app.state.view });
      else this.app.addFilter({ kind: "time", from: Math.min(start, end), to: Math.max(start, end) });
    });
  }

  /** Selects the threads of a lane; with `more`, in addition to the selected ones.
   * @param {ThreadGroup} lane @param {boolean} more */
  pick(lane, more) {
    const { app } = this, others = app.state.filters.filter((filter) => filter.kind !== "threads");
    const before = app.state.filters.find((filter) => filter.kind === "threads");
    if (lane === this.whole) { app.change({ filters: others }); return; }
    const known = new Set(more && before?.kind === "threads" ? before.ids : []), has = lane.ids.every((id) => known.has(id));
    for (const id of lane.ids) if (has) known.delete(id); else known.add(id);
    const isSame = !more && before?.kind === "threads" && before.ids.join() === lane.ids.join();
    app.change({ filters: isSame || !known.size ? others : [...others, { kind: "threads", ids: [...known].sort((a, b) => a - b) }] });
  }

  /** Applies typed times. An unchanged field stands for the exact time, not for its rounded digits. */
  typed() {
    const { shownTimes } = this, span = this.app.tables.span;
    const read = (/** @type {"from" | "to"} */ id, /** @type {number} */ otherwise) => {
      const value = input(id).value;
      if (value === "") return otherwise;
      if (shownTimes && value === shownTimes[id].text) return shownTimes[id].time;
      return Math.max(0, Math.round(Number(value) * 1e9 / this.app.tables.head.unit));
    };
    this.app.addFilter({ kind: "time", from: read("from", 0), to: read("to", span) });
  }

  /** Shows the selected time in the fields of the bar. */
  tell() {
    const { from, to } = this.shownTime(), whole = to === NONE && from === 0, { span } = this.app.tables;
    const tell = (/** @type {number} */ time) => ({ time, text: whole ? "" : this.app.seconds(time).toFixed(6) });
    this.shownTimes = { from: tell(from), to: tell(Math.min(to, span)) };
    input("from").value = this.shownTimes.from.text;
    input("to").value = this.shownTimes.to.text;
  }
}
