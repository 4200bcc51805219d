// @ts-check
// Heat map: samples over time, and the selection of cells, ranges and baselines.
import { heatColour } from "../../data/colour.js";
import { COLUMNS, heatCells, heatShape } from "../../data/samples/heat.js";
import { amount, duration, roundDuration } from "../../data/numbers.js";
import { make, sized, styled } from "../elements/element.js";
import { hideTip, showTip } from "../elements/tip.js";
import { addRuler, drawAxis } from "./plot.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */

/** Space for the labels of the columns, and minimum width of a column, in pixels. */
const BOTTOM = 18, NARROW = 3;
/** Colours of the legend. */
const STEPS = 5;

/** @param {App} app @returns {ViewPart} */
export function heatView(app) {
  const shapeOf = () => {
    const event = tables.head.events[app.event];
    const period = !event?.rate ? 0 : event.frequency ? 1e9 / event.rate : event.unit === "nanoseconds" ? event.rate : 0;
    return heatShape(tables.span, tables.head.unit, event ? app.eventCounts[app.event] : tables.samples, period, Math.max(1, Math.min(COLUMNS, Math.floor(app.plot.width / NARROW))));
  };
  let { tables } = app, event = app.event, width = app.plot.width, shape = shapeOf(), last = shape.columns * shape.rows - 1;
  const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { tabindex: 0, role: "application",
    "aria-label": "Heat map. Arrow keys move between cells, Shift selects a range, Enter shows its flame graph, b makes it the baseline of a comparison." }));
  const space = make("div", { class: "space" }, canvas), box = make("div", { class: "graph heat timed" }, space);
  const status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const text = () => `A column is ${roundDuration(shape.column * tables.head.unit)}, a cell ${roundDuration(shape.cell * tables.head.unit)}. Click a cell or drag over several to select that time; hold Ctrl to set the baseline of a comparison.`;
  const note = make("p", { class: "note", text: text() }), legend = make("p", { class: "note legend" });
  const panel = make("section", { class: "panel column" }, note, box, legend, status);
  /** @type {{ cells: Uint32Array, found: Uint32Array | null, most: number }} */
  let map = { cells: new Uint32Array(0), found: null, most: 0 };
  let wide = 8, high = 8, left = 0, across = 1, at = 0, anchor = 0, isBase = false, isDown = false;
  /** Recomputes the cells of a recording that has grown, or of another event. */
  const renew = () => {
    if (tables === app.tables && event === app.event && width === app.plot.width) return;
    ({ tables, event } = app);
    ({ width } = app.plot);
    shape = shapeOf();
    last = shape.columns * shape.rows - 1;
    at = Math.min(at, last);
    anchor = Math.min(anchor, last);
    note.textContent = text();
    status.textContent = "";
  };
  const rangeOf = () => /** @type {[number, number]} */ ([Math.min(at, anchor) * shape.cell, (Math.max(at, anchor) + 1) * shape.cell - 1]);
  const describe = (/** @type {number} */ cell) => {
    const from = cell * shape.cell, lines = [`${app.seconds(from).toFixed(4)} s to ${app.seconds(from + shape.cell).toFixed(4)} s`, `${amount(map.cells[cell] || 0)} samples`];
    if (map.found) lines.push(`${amount(map.found[cell] || 0)} of them match the search`);
    return lines;
  };
  const paint = () => {
    const width = box.clientWidth, height = box.clientHeight;
    if (!width || !height) return;
    left = Math.max(0, app.plot.left - box.getBoundingClientRect().left - box.clientLeft);
    across = Math.max(1, Math.min(app.plot.width, width - left));
    wide = shape.column * across / (tables.span + 1);
    high = Math.max(3, (height - BOTTOM) / shape.rows);
    space.style.height = shape.rows * high + BOTTOM + "px";
    canvas.dataset.axisLeft = String(left);
    canvas.dataset.axisWidth = String(across);
    const pen = sized(canvas, width, Math.max(height, shape.rows * high + BOTTOM));
    const edge = (/** @type {number} */ column) => Math.round(left + Math.min(across, column * wide));
    for (let column = 0; column < shape.columns; column++) {
      for (let row = 0; row < shape.rows; row++) {
        const cell = column * shape.rows + row, count = map.cells[cell];
        if (!count) continue;
        const found = map.found ? map.found[cell] : 0;
        pen.globalAlpha = map.found && !found ? 0.45 : 1;
        pen.fillStyle = heatColour((map.found && found ? found : count) / map.most, app.theme, found > 0);
        const top = Math.round((shape.rows - 1 - row) * high), below = Math.round((shape.rows - row) * high);
        pen.fillRect(edge(column), top, edge(column + 1) - edge(column) - 1, below - top - (high > 4 ? 1 : 0));
      }
    }
    pen.globalAlpha = 1;
    outline(pen, app.model.chosen && app.state.filters.some((filter) => filter.kind === "time") ? [app.model.chosen.from, app.model.chosen.to] : null, styled("--edge"));
    for (const time of app.baseTimes()) outline(pen, time, styled("--less"));
    if (isDown || document.activeElement === canvas) outline(pen, rangeOf(), isBase ? styled("--less") : styled("--hit"));
    axis(pen);
  };
  const outline = (/** @type {CanvasRenderingContext2D} */ pen, /** @type {[number, number] | null} */ range, /** @type {string} */ colour) => {
    if (!range) return;
    const from = Math.floor(range[0] / shape.cell), to = Math.min(last, Math.floor(range[1] / shape.cell));
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    for (let column = Math.floor(from / shape.rows); column <= Math.floor(to / shape.rows); column++) {
      const begin = column * shape.rows, low = Math.max(from, begin) - begin, top = Math.min(to, begin + shape.rows - 1) - begin;
      pen.strokeRect(left + column * wide, (shape.rows - 1 - top) * high, Math.min(wide, across - column * wide), (top - low + 1) * high);
    }
  };
  /** Labels the rows with the time in a column, and the columns with the time in the recording. */
  const axis = (/** @type {CanvasRenderingContext2D} */ pen) => {
    const low = shape.rows * high;
    drawAxis(pen, app, 0, tables.span + 1, { left, width: across, top: low + 1 });
    pen.fillStyle = styled("--soft");
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const labels = shape.rows > 4 ? 5 : shape.rows;
    for (let at = 0; at < labels; at++) pen.fillText(`+${roundDuration(Math.round(at * shape.rows / labels) * shape.cell * tables.head.unit)}`, left - 6, low - (Math.round(at * shape.rows / labels) + 0.5) * high);
    pen.textAlign = "left";
  };
  const explain = () => {
    const boxes = [];
    for (let step = 1; step <= STEPS; step++) {
      const box = make("span", { class: "swatch" });
      box.style.background = heatColour(step / STEPS, app.theme, false);
      boxes.push(box);
    }
    legend.replaceChildren("1 ", ...boxes, ` ${amount(map.most)} sample${map.most === 1 ? "" : "s"} per cell`);
  };
  const cellAt = (/** @type {MouseEvent} */ event) => {
    const area = canvas.getBoundingClientRect(), column = Math.floor((event.clientX - area.left - left) / wide);
    const row = shape.rows - 1 - Math.floor((event.clientY - area.top) / high);
    if (event.clientX < area.left + left || event.clientX >= area.left + left + across || row < 0 || row >= shape.rows || column < 0 || column >= shape.columns) return -1;
    return column * shape.rows + row;
  };
  const choose = () => {
    const [from, to] = rangeOf();
    if (isBase) app.change({ base: [from, to], view: app.state.filters.some((filter) => filter.kind === "time") ? "compare" : app.state.view });
    else if (app.state.base) {
      const filters = app.state.filters.filter((filter) => filter.kind !== "time");
      app.change({ filters: [...filters, { kind: "time", from, to }], view: "compare", zoom: [] });
    } else app.addFilter({ kind: "time", from, to });
  };
  canvas.addEventListener("pointerdown", (event) => {
    const cell = cellAt(event);
    if (cell < 0 || event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    at = anchor = cell;
    isBase = event.ctrlKey || event.metaKey;
    isDown = true;
    paint();
  });
  addRuler(app, space, (time) => left + time / (tables.span + 1) * across);
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellAt(event), time = (event.clientX - canvas.getBoundingClientRect().left - left) / across * tables.span;
    app.plot.point(time >= 0 && time <= tables.span ? time : null);
    if (cell < 0) { hideTip(); return; }
    if (isDown) { at = cell; paint(); }
    if (event.pointerType !== "touch") showTip(describe(cell), event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerup", () => { if (isDown) { isDown = false; choose(); } });
  canvas.addEventListener("pointercancel", () => { isDown = false; paint(); });
  canvas.addEventListener("pointerleave", () => { hideTip(); app.plot.point(null); });
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1, ArrowRight: shape.rows, ArrowLeft: -shape.rows }[event.key];
    if (step !== undefined) {
      at = Math.max(0, Math.min(last, at + step));
      if (!event.shiftKey) anchor = at;
      isBase = false;
    } else if (event.key === "Enter" || event.key === "b") {
      isBase = event.key === "b";
      choose();
    } else return;
    event.preventDefault();
    event.stopPropagation();
    status.textContent = describe(at).join(", ");
    paint();
  });
  canvas.addEventListener("focus", paint);
  canvas.addEventListener("blur", paint);
  box.addEventListener("scroll", paint);
  const draw = () => {
    renew();
    map = heatCells(app.model, shape, app.found ? app.found.under : null);
    if (!status.textContent) status.textContent = `${amount(app.eventCounts[app.event] ?? 0)} samples in ${duration(tables.span * tables.head.unit)}`;
    explain();
    paint();
  };
  new ResizeObserver(() => { if (box.clientWidth && app.plot.width !== width) draw(); else paint(); }).observe(box);
  return { id: "heat", title: "Heat map", panel, draw, resize: draw };
}
