// @ts-check
// Timeline: one lane for all samples, which expands into lanes of threads or processors. Dragging selects a time; names
// select threads, processors or events. Only visible lanes are counted and drawn.
import { NONE } from "../../data/columns.js";
import { folded } from "../../data/names.js";
import { amount } from "../../data/numbers.js";
import { hasProcessors } from "../../data/samples/threads.js";
import { threadMenu } from "../actions.js";
import { byId, input, make, sized, styled } from "../elements/element.js";
import { hideTip, showTip } from "../elements/tip.js";
import { LaneBars } from "./lanebars.js";
import { ALL, EVENTS, SPANS, lanesOf, otherEvents, toggled, visible } from "./lanes.js";
import { addRuler, drawAxis } from "./plot.js";
import { SpanLanes, isInterval, spanLanes } from "./spanlanes.js";
import { showSplitter, startSplitter } from "./splitter.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("./lanes.js").Lane} Lane */

/** Height of a lane, of a single one, and the maximum. */
const HEIGHT = 22, SINGLE = 34, TALL = 120;
/** Lanes in sight by default, and the share of the window that the timeline may take: by default, and by the splitter. */
const LANES = 10, SHARE = 0.4, MOST = 0.7;
/** Height of the timeline without its lanes. */
const REST = 66;
/** Width of the lanes' names: at most, and as a share. */
const NAME = 180, NAME_SHARE = 0.28;

export class Timeline {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.bars = new LaneBars(app);
    this.intervals = new SpanLanes(app);
    this.spans = spanLanes(app);
    this.tables = app.tables;
    this.lanesKey = "";
    this.scroll = make("div", { class: "lanes", tabindex: 0, role: "group", "aria-label": "Lanes", scroll: () => this.draw() });
    this.space = make("div", { class: "space" });
    this.scroll.append(this.space);
    this.axis = /** @type {HTMLCanvasElement} */ (make("canvas", { "aria-hidden": "true" }));
    byId("lanes").append(make("div", { class: "axis" }, make("span"), this.axis), this.scroll);
    addRuler(app, byId("lanes"), (time) => this.left + time / (app.tables.span + 1) * this.width);
    this.left = this.width = this.high = 0;
    /** @type {Lane[]} */
    this.shown = [];
    /** @type {number | null} */
    this.drag = null;
    for (const id of ["from", "to"]) byId(id).addEventListener("change", () => this.typed());
    for (const by of /** @type {const} */ (["thread", "cpu"])) byId(`by-${by}`).addEventListener("click", () => this.keep({ lanes: by, open: [...new Set([...app.state.open, ALL])] }));
    for (const [id, key] of [["others", EVENTS], ["spans", SPANS]]) byId(id).addEventListener("click", () => this.keep({ open: app.state.open.includes(key) ? app.state.open.filter((one) => one !== key) : [...app.state.open, key] }));
    startSplitter(byId("split"), { size: () => this.scroll.clientHeight, most: () => this.most(), set: (tall, isMoving) => this.resize(tall, isMoving) });
    new ResizeObserver(() => this.draw()).observe(this.scroll);
    addEventListener("resize", () => this.draw());
  }

  /** Changes the look of the timeline, which concerns no view.
   * @param {Partial<import("../../data/state.js").State>} patch */
  keep(patch) {
    this.app.keep(patch);
    this.draw();
  }

  /** @param {number} tall height of the lanes; 0 for automatic @param {boolean} [isMoving] whether it still changes, so that
   *   it is not in the address yet */
  resize(tall, isMoving) {
    if (!isMoving) { this.keep({ tall }); return; }
    this.app.state = { ...this.app.state, tall };
    this.draw();
  }

  /** Recounts the lanes of another event, of another kind, or of a recording that has grown. */
  renew() {
    const { app } = this;
    if (this.tables !== app.tables) {
      this.tables = app.tables;
      this.bars.forget();
      this.lanesKey = "";
    }
    const hasCpus = this.bars.cpus > 0 && hasProcessors(app.model, app.event);
    const by = app.state.lanes === "cpu" && hasCpus ? "cpu" : "thread", key = `${app.event} ${by}`;
    if (key !== this.lanesKey) {
      this.lanesKey = key;
      this.whole = lanesOf(app, by === "cpu" ? this.bars.cpus : 0);
      this.others = otherEvents(app);
    }
    const { open } = app.state, whole = /** @type {Lane} */ (this.whole), others = this.others || [];
    byId("lanes-by").hidden = !hasCpus;
    for (const one of ["thread", "cpu"]) byId(`by-${one}`).setAttribute("aria-pressed", String(one === by));
    byId("others").hidden = !others.length;
    byId("others").textContent = `Other events (${amount(others.length)})`;
    byId("others").setAttribute("aria-expanded", String(open.includes(EVENTS)));
    byId("spans").hidden = !this.spans.length;
    byId("spans").textContent = `Spans and labels (${amount(this.spans.length)})`;
    byId("spans").setAttribute("aria-expanded", String(open.includes(SPANS)));
    byId("timeline").dataset.open = String(open.includes(ALL));
    const [first, ...inside] = visible(whole, open);
    this.shown = [first, ...open.includes(SPANS) ? this.spans : [], ...open.includes(EVENTS) ? others : [], ...inside];
    return { whole, by: /** @type {"thread" | "cpu"} */ (by) };
  }

  /** Maximum height of the lanes by the splitter. */
  most() { return Math.max(HEIGHT, Math.floor(innerHeight * MOST) - REST); }

  /** Sets the heights of the lanes and of their box. */
  fit() {
    const { tall } = this.app.state, n = this.shown.length, isLarge = innerHeight >= 800 && innerWidth > 760;
    const usual = n === 1 ? (isLarge ? SINGLE : HEIGHT) : Math.min(n * HEIGHT, LANES * HEIGHT, Math.max(HEIGHT, Math.floor(innerHeight * SHARE) - REST));
    const height = tall ? Math.min(tall, this.most()) : usual;
    this.high = Math.max(HEIGHT, Math.min(TALL, Math.floor(height / n)));
    this.scroll.style.height = height + "px";
    this.space.style.height = n * this.high + "px";
    showSplitter(byId("split"), height, this.most());
  }

  draw() {
    const { app, scroll } = this, { whole, by } = this.renew();
    this.fit();
    if (!scroll.clientWidth) return;
    this.left = Math.floor(Math.min(NAME, scroll.clientWidth * NAME_SHARE));
    byId("lanes").style.setProperty("--lane-name", this.left + "px");
    // A graph has a border; its axis ends at the same place.
    this.width = Math.max(40, Math.floor(scroll.clientWidth - this.left) - 1);
    app.plot.left = scroll.getBoundingClientRect().left + this.left;
    app.plot.width = this.width;
    this.bars.look(this.width, whole, by);
    const first = Math.floor(scroll.scrollTop / this.high), last = Math.min(this.shown.length, first + Math.ceil(scroll.clientHeight / this.high) + 1);
    const made = [];
    for (let index = first; index < last; index++) made.push(this.drawLane(this.shown[index], index));
    const focused = document.activeElement?.closest(".lane button") ? { key: document.activeElement.closest(".lane")?.getAttribute("data-key"), kind: document.activeElement.className.split(" ")[0] } : null;
    this.space.replaceChildren(...made.map((one) => one.row));
    for (const one of made) one.paint();
    if (focused) made.find(({ row }) => row.dataset.key === focused.key)?.row.querySelector(`button.${focused.kind}`)?.focus();
    const pen = sized(this.axis, this.width, 16);
    drawAxis(pen, app, 0, app.tables.span + 1, { left: 0, width: this.width, top: 0 });
  }

  /** @param {Lane} lane @param {number} index @returns {{ row: any, paint: () => void }} */
  drawLane(lane, index) {
    const { app } = this, canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { role: "img", "aria-label": `${isInterval(lane) ? "Times" : "Samples"} of ${lane.name} over time` }));
    const { chosen } = app.model, { threads, cpus } = chosen || { threads: null, cpus: null };
    const isOn = lane.kind === "threads" ? !threads || lane.ids.some((id) => threads[id]) : lane.kind !== "cpu" || !cpus || cpus[lane.at + 1] === 1;
    const count = isInterval(lane) ? `${amount(this.intervals.of(lane).intervals.length)} intervals` : `${amount(lane.count)} sample${lane.count === 1 ? "" : "s"}`;
    const pick = make("button", { type: "button", class: "pick" + (isOn ? "" : " off"), title: `${lane.name}: ${count}${lane.kind === "event" ? "; show this event" : lane.kind === "label" ? "; group by it" : ""}`, text: lane.name,
      click: (/** @type {MouseEvent} */ event) => this.pick(lane, event.ctrlKey || event.metaKey || event.shiftKey),
      keydown: (/** @type {KeyboardEvent} */ event) => {
        if (lane.kind !== "threads" || event.key !== "m" && event.key !== "t") return;
        const area = pick.getBoundingClientRect();
        if (event.key === "t") app.addFilter({ kind: "threads", ids: lane.ids }); else this.menu(lane, area.left + 20, area.bottom);
        event.preventDefault();
        event.stopPropagation();
      } });
    const name = make("div", { class: "name" }, pick);
    name.style.paddingLeft = lane.level * 8 + "px";
    if (lane.inside.length) {
      const isOpen = app.state.open.includes(lane.key);
      name.prepend(make("button", { type: "button", class: "twist", "aria-expanded": String(isOpen), "aria-label": `Lanes of ${lane.name}`, text: isOpen ? "▾" : "▸", click: () => this.keep({ open: toggled(lane, app.state.open) }) }));
    }
    const row = make("div", { class: "lane", "data-lane": index, "data-key": lane.key, contextmenu: (/** @type {MouseEvent} */ event) => {
      event.preventDefault();
      if (lane.kind === "threads") this.menu(lane, event.clientX, event.clientY); else this.pick(lane, false);
    } }, name, canvas);
    row.style.top = index * this.high + "px";
    row.style.height = this.high + "px";
    this.listen(canvas, lane);
    return { row, paint: () => this.paint(canvas, lane) };
  }

  /** @param {Lane} lane @param {number} x @param {number} y */
  menu(lane, x, y) { threadMenu(this.app, lane.ids, folded(this.app.tables.head.threads[lane.ids[0]][2]), x, y); }

  /** @param {HTMLCanvasElement} canvas @param {Lane} lane */
  paint(canvas, lane) {
    const { app, width } = this, height = this.high - 3, pen = sized(canvas, width, height);
    if (isInterval(lane)) this.intervals.paint(pen, lane, width, height); else this.bars.paint(pen, lane, width, height);
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

  /** @param {HTMLCanvasElement} canvas @param {Lane} lane */
  listen(canvas, lane) {
    const shareAt = (/** @type {PointerEvent} */ event) => {
      const area = canvas.getBoundingClientRect();
      return Math.min(Math.max((event.clientX - area.left) / area.width, 0), 1);
    };
    const rowAt = (/** @type {PointerEvent} */ event) => {
      const area = canvas.getBoundingClientRect();
      return Math.min(Math.max((event.clientY - area.top) / area.height, 0), 1);
    };
    const timeAt = (/** @type {PointerEvent} */ event) => Math.round(shareAt(event) * this.app.tables.span);
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      canvas.setPointerCapture(event.pointerId);
      this.drag = this.now = timeAt(event);
      this.isBase = event.ctrlKey || event.metaKey;
    });
    canvas.addEventListener("pointermove", (event) => {
      byId("under").textContent = `${this.app.seconds(timeAt(event)).toFixed(6)} s`;
      this.app.plot.point(timeAt(event));
      if (this.drag === null) {
        if (event.pointerType !== "touch") showTip(isInterval(lane) ? this.intervals.describe(lane, shareAt(event), rowAt(event), canvas.clientWidth) : this.bars.describe(lane, shareAt(event)), event.clientX, event.clientY);
        return;
      }
      hideTip();
      this.now = timeAt(event);
      for (const one of this.space.children) this.paint(/** @type {HTMLCanvasElement} */ (one.querySelector("canvas")), this.shown[Number(one.getAttribute("data-lane"))]);
    });
    canvas.addEventListener("pointerleave", () => { byId("under").textContent = ""; this.app.plot.point(null); hideTip(); });
    canvas.addEventListener("pointerup", (event) => {
      const start = this.drag, end = timeAt(event);
      this.drag = null;
      if (start === null) return;
      if (isInterval(lane) && Math.abs(end - start) * canvas.clientWidth < 3 * this.app.tables.span) this.intervals.choose(lane, shareAt(event), rowAt(event), canvas.clientWidth);
      else this.choose(lane, start, end, canvas.clientWidth);
    });
  }

  /** Selects a time after dragging over a lane. A click removes the selection, or shows the lane's event.
   * @param {Lane} lane @param {number} start @param {number} end @param {number} width of the lane */
  choose(lane, start, end, width) {
    const { app } = this, { filters } = app.state;
    if (Math.abs(end - start) * width < 3 * app.tables.span) {
      if (lane.kind === "event") { this.pick(lane, false); return; }
      app.change({ filters: filters.filter((filter) => filter.kind !== "time") });
      this.draw();
    } else if (this.isBase) app.change({ base: [Math.min(start, end), Math.max(start, end)], view: filters.some((filter) => filter.kind === "time") ? "compare" : app.state.view });
    else app.addFilter({ kind: "time", from: Math.min(start, end), to: Math.max(start, end) });
  }

  /** Selects the threads of a lane, with `more` in addition to the selected ones; or its processor, or its event.
   * @param {Lane} lane @param {boolean} more */
  pick(lane, more) {
    const { app } = this;
    if (lane.kind === "event") { app.showEvent(lane.at); return; }
    if (isInterval(lane)) { this.intervals.pick(lane); return; }
    const kinds = lane.key === ALL ? ["threads", "cpu"] : [lane.kind], others = app.state.filters.filter((filter) => !kinds.includes(filter.kind));
    if (lane.key === ALL) { app.change({ filters: others }); return; }
    const before = app.state.filters.find((filter) => filter.kind === lane.kind);
    if (lane.kind === "cpu") {
      const isSame = before?.kind === "cpu" && before.cpu === lane.at;
      app.change({ filters: isSame || lane.at < 0 ? others : [...others, { kind: "cpu", cpu: lane.at }], zoom: [] });
      return;
    }
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
