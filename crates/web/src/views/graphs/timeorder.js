// @ts-check
// Stacks of one thread in order of time.
import { INK } from "../../data/colour.js";
import { fitted } from "../../data/cut.js";
import { boxAt } from "../../data/tree/layout.js";
import { amount } from "../../data/numbers.js";
import { busyThreads, samplesByThread, timeOrder } from "../../data/samples/order.js";
import { functionKey, functionMenu } from "../actions.js";
import { make, sized, styled } from "../elements/element.js";
import { widthsOf } from "../elements/fit.js";
import { isUnderPointer, pointer } from "../elements/pointer.js";
import { PALE } from "./paint.js";
import { addRuler, drawAxis } from "./plot.js";
import { hideTip, showTip } from "../elements/tip.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */
/** @typedef {import("../../data/samples/order.js").TimeBox} TimeBox */

const ROW = 18;
const FONT = "12px system-ui, sans-serif";
const AXIS = 18;

/** @param {App} app @returns {ViewPart} */
export function orderView(app) {
  let threads = busyThreads(app.tables, app.event), { tables, event } = app;
  const chosen = () => app.state.thread >= 0 && app.state.thread < app.tables.head.threads.length ? app.state.thread : threads[0]?.id ?? -1;
  /** Threads with samples, and the selected one. */
  const listed = () => {
    const id = chosen();
    return id < 0 || threads.some((one) => one.id === id) ? threads : [...threads, { id, count: 0 }];
  };
  const options = () => listed().map(({ id, count }) => make("option", { value: id, text: `${app.threadName(id)} — ${amount(count)}` }));
  const list = /** @type {HTMLSelectElement} */ (make("select", { id: "order-thread", change: () => app.change({ thread: Number(list.value) }) },
    ...options()));
  const note = make("span", { class: "note" }), status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const canvas = /** @type {HTMLCanvasElement} */ (make("canvas", { tabindex: 0, role: "application",
    "aria-label": "Stacks in time order. Arrow keys or a click select a frame, Enter or a double click selects its time, m opens a menu." }));
  const space = make("div", { class: "space" }, canvas), box = make("div", { class: "graph timed" }, space);
  const panel = make("section", { class: "panel column" }, make("div", { class: "bar" }, make("label", {}, "Thread ", list), note), box, status);
  /** @type {TimeBox[][]} */
  let rows = [];
  /** @type {ReturnType<typeof samplesByThread> | null} */
  let byThread = null;
  /** Left edge of the time axis in the graph, and its width. */
  let left = 0, wide = 1;
  let from = 0, to = 1, depth = 0, at = 0, start = -1, now = -1, isDrag = false, isTouch = false, moves = -1;
  // Clicks are where the press was, since their own positions are rounded.
  let press = { clientX: 0, clientY: 0 };
  /** @type {TimeBox | null} Selected frame. */
  let marked = null;
  const paint = () => {
    const width = box.clientWidth, height = box.clientHeight;
    if (!width || !height) return;
    space.style.height = Math.max(rows.length * ROW + AXIS, height) + "px";
    const pen = sized(canvas, width, height), top = box.scrollTop, tree = /** @type {any} */ (app.model.tree);
    pen.font = FONT;
    pen.textBaseline = "middle";
    pen.save();
    pen.beginPath();
    pen.rect(left, 0, wide, height);
    pen.clip();
    rows.forEach((row, index) => {
      const y = AXIS + index * ROW - top;
      if (y + ROW < AXIS || y > height) return;
      row.forEach((one, place) => {
        const f = tree.func[one.node], hit = app.found?.hits[f];
        pen.globalAlpha = app.found && !hit ? PALE[app.theme].other : 1;
        pen.fillStyle = hit ? styled("--hit") : app.colour(tree, one.node);
        const w = Math.max(one.w - (one.w > 3 ? 1 : 0), 0.6);
        pen.fillRect(left + one.x, y, w, ROW - 1);
        pen.globalAlpha = 1;
        if (w > 26) label(pen, app.label(f), left + one.x + 3, y + ROW / 2, w - 5);
        if (index === depth && place === at && (marked || document.activeElement === canvas)) {
          pen.strokeStyle = styled("--edge");
          pen.lineWidth = 2;
          pen.strokeRect(left + one.x + 1, y + 1, Math.max(1, w - 2), ROW - 3);
        }
      });
    });
    pen.restore();
    pen.fillStyle = styled("--back");
    pen.fillRect(0, 0, width, AXIS);
    drawAxis(pen, app, from, to + 1, { left, width: wide, top: 1 });
    if (start >= 0) {
      pen.fillStyle = styled("--pick");
      pen.fillRect(Math.min(start, now), 0, Math.abs(now - start), height);
    }
  };
  const label = (/** @type {CanvasRenderingContext2D} */ pen, /** @type {string} */ text, /** @type {number} */ x, /** @type {number} */ y, /** @type {number} */ width) => {
    pen.fillStyle = INK[app.theme];
    pen.fillText(fitted(text, width, widthsOf(FONT)), x, y);
  };
  const describe = (/** @type {TimeBox} */ one) => {
    const tree = /** @type {any} */ (app.model.tree);
    return [app.model.name(tree.func[one.node]), `${app.seconds(one.from).toFixed(6)} s to ${app.seconds(one.to).toFixed(6)} s`,
      `${amount(one.samples)} sample${one.samples === 1 ? "" : "s"} drawn`, ...app.where(tree, one.node)];
  };
  const rowAt = (/** @type {number} */ y) => Math.floor((y - canvas.getBoundingClientRect().top - AXIS + box.scrollTop) / ROW);
  const under = (/** @type {{ clientX: number, clientY: number }} */ event) =>
    /** @type {TimeBox | null} */ (boxAt(/** @type {any} */ (rows[rowAt(event.clientY)]), event.clientX - canvas.getBoundingClientRect().left - left));
  const mark = () => {
    marked = rows[depth]?.[at] || null;
    if (marked) status.textContent = describe(marked).join(" · ");
    paint();
  };
  const look = (/** @type {number} */ a, /** @type {number} */ b) => app.addFilter({ kind: "time", from: Math.max(0, Math.floor(a)), to: Math.ceil(b) });
  const timeAt = (/** @type {number} */ x) => Math.max(from, Math.min(to, from + (x - left) / Math.max(1, wide) * (to - from)));
  addRuler(app, space, (time) => time < from || time > to ? -1 : left + (time - from) / Math.max(1, to - from) * wide);
  canvas.addEventListener("pointermove", (event) => {
    const area = canvas.getBoundingClientRect(), one = under(event);
    if (start >= 0) { now = event.clientX - area.left; paint(); }
    app.plot.point(timeAt(event.clientX - area.left));
    if (event.pointerType === "touch") return;
    if (one) showTip(describe(one), event.clientX, event.clientY);
    else showTip([`${app.seconds(timeAt(event.clientX - area.left)).toFixed(6)} s`], event.clientX, event.clientY);
  });
  canvas.addEventListener("pointerdown", (event) => {
    press = { clientX: event.clientX, clientY: event.clientY };
    isTouch = event.pointerType === "touch";
    isDrag = false;
    if (event.button !== 0 || isTouch) return;
    canvas.setPointerCapture(event.pointerId);
    start = now = event.clientX - canvas.getBoundingClientRect().left;
  });
  canvas.addEventListener("pointerup", () => {
    const first = start;
    start = -1;
    if (first < 0) return;
    isDrag = Math.abs(now - first) > 4;
    if (isDrag) look(timeAt(Math.min(first, now)), timeAt(Math.max(first, now)));
  });
  canvas.addEventListener("click", () => {
    const one = isDrag ? null : under(press);
    if (!one) return;
    // On touch screens, a second tap on the selected frame selects its time.
    if (isTouch && one === marked) { look(one.from, one.to); return; }
    depth = rowAt(press.clientY);
    at = rows[depth].indexOf(one);
    mark();
  });
  canvas.addEventListener("dblclick", () => {
    const one = isDrag || isTouch ? null : under(press);
    if (one) look(one.from, one.to);
  });
  canvas.addEventListener("pointerleave", () => { hideTip(); app.plot.point(null); });
  canvas.addEventListener("contextmenu", (event) => {
    const one = under(event);
    if (!one) return;
    event.preventDefault();
    functionMenu(app, /** @type {any} */ (app.model.tree).func[one.node], event.clientX, event.clientY, () => look(one.from, one.to));
  });
  const key = (/** @type {KeyboardEvent} */ event) => {
    const here = rows[depth]?.[at], { func } = /** @type {any} */ (app.model.tree);
    if (!here || event.ctrlKey || event.metaKey || event.altKey) return false;
    const below = (/** @type {number} */ row) => rows[row]?.findIndex((one) => one.x + one.w > here.x) ?? -1;
    const hovered = pointer.moves !== moves && isUnderPointer(canvas) ? under({ clientX: pointer.x, clientY: pointer.y }) : null, one = hovered || here;
    if (event.key === "Enter") look(one.from, one.to);
    else if (event.key === "m") {
      const area = canvas.getBoundingClientRect(), row = hovered ? rowAt(pointer.y) : depth;
      functionMenu(app, func[one.node], area.left + left + Math.max(0, one.x) + 8, area.top + AXIS + row * ROW - box.scrollTop, () => look(one.from, one.to));
    } else {
      if (event.key === "ArrowRight") at = Math.min(at + 1, rows[depth].length - 1);
      else if (event.key === "ArrowLeft") at = Math.max(0, at - 1);
      else if (event.key === "ArrowDown" && below(depth + 1) >= 0) at = below(++depth);
      else if (event.key === "ArrowUp" && depth > 0) at = below(--depth);
      else return functionKey(app, func[one.node], event.key);
      moves = pointer.moves;
      mark();
    }
    return true;
  };
  canvas.addEventListener("keydown", (event) => {
    if (!key(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  canvas.addEventListener("focus", paint);
  canvas.addEventListener("blur", paint);
  box.addEventListener("scroll", () => { hideTip(); paint(); });
  /** Updates the list of threads for another event, or after the recording has grown. */
  const renew = () => {
    if (tables === app.tables && event === app.event) return;
    if (tables !== app.tables) byThread = null;
    ({ tables, event } = app);
    threads = busyThreads(app.tables, app.event);
    if (document.activeElement !== list) list.replaceChildren(...options());
  };
  const fill = () => {
    renew();
    const thread = chosen();
    if (thread < 0 || !box.clientWidth) return;
    list.value = String(thread);
    if (list.value !== String(thread)) {
      list.replaceChildren(...options());
      list.value = String(thread);
    }
    byThread ||= samplesByThread(app.tables);
    const { chosen: selected } = app.model;
    from = selected ? selected.from : 0;
    to = Math.max(from + 1, Math.min(selected ? selected.to : app.tables.span, app.tables.span));
    left = Math.max(0, app.plot.left - box.getBoundingClientRect().left - box.clientLeft);
    wide = Math.max(1, Math.min(app.plot.width, box.clientWidth - left));
    canvas.dataset.axisLeft = String(left);
    canvas.dataset.axisWidth = String(wide);
    const made = timeOrder(app.model, thread, from, to, wide, byThread);
    rows = made.rows;
    const place = rows[depth]?.findIndex((one) => one.node === marked?.node && one.from === marked.from) ?? -1;
    if (place >= 0) at = place;
    marked = place >= 0 ? rows[depth][place] : null;
    if (!rows[depth]?.[at]) depth = at = 0;
    note.textContent = made.shown < made.samples ? `Showing ${amount(made.shown)} of ${amount(made.samples)} samples at this zoom; drag to zoom in.` : `${amount(made.samples)} samples`;
    paint();
  };
  new ResizeObserver(fill).observe(box);
  return { id: "order", title: "Time order", panel, draw: fill, resize: fill, key,
    isHovered: () => isUnderPointer(canvas) && under({ clientX: pointer.x, clientY: pointer.y }) !== null };
}
