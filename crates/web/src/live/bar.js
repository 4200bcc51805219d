// @ts-check
// Bar of a live recording: its state, the shown time, freeze, and marks.
import { amount } from "../data/numbers.js";
import { byId, make } from "../views/elements/element.js";
import { openMenu } from "../views/elements/menu.js";

/** @typedef {import("./app.js").LiveApp} LiveApp */
/** State of the recording, as reported by the service.
 * @typedef {{ state: "waiting" | "running" | "ended" | "failed", name: string, tick: number, keep?: number, samples: number, kept: number,
 *   nodes: number, bytes: number, lost_records: number, lost_samples: number, newest?: number, lag?: number, lag_is_exact: boolean,
 *   sent: number, warnings: string[], processes: number[], recording?: string, problem?: { title: string, detail?: string } }} LiveView */

const STATES = { waiting: "Waiting", running: "Live", ended: "Ended", failed: "Broken off" };
/** @type {[number, string][]} */
const TIMES = [[10, "10 s"], [60, "1 min"], [0, "All"]];
/** Period over which the sample rate is measured, in seconds. */
const RATE = 2;

/** Age limit of retained samples, as text.
 * @param {number} seconds */
function kept(seconds) {
  const [unit, word] = seconds % 3600 === 0 ? [3600, "h"] : seconds % 60 === 0 ? [60, "min"] : [1, "s"];
  return `${seconds / unit} ${word}`;
}

export class Bar {
  /** @param {LiveApp} app @param {{ freeze: (on: boolean) => void }} acts */
  constructor(app, acts) {
    this.app = app;
    this.isFrozen = false;
    /** Marks that are shown. @type {string | undefined} */
    this.marked = undefined;
    /** @type {HTMLElement | undefined} Link to the complete recording, once available. */
    this.link = undefined;
    this.state = make("strong", { role: "status", "aria-live": "polite" });
    this.numbers = make("span", { class: "numbers" });
    this.lost = make("span", { class: "lost", role: "status", "aria-live": "polite" });
    this.badge = make("span", { class: "badge" });
    this.times = TIMES.map(([last, text]) => make("button", { type: "button", "data-last": last, text, click: () => this.look(last) }));
    this.freeze = make("button", { type: "button", id: "freeze", title: "Freeze the page; new samples wait", click: () => acts.freeze(!this.isFrozen) }, "Freeze", this.badge);
    this.marks = make("span", { class: "marks" });
    this.own = /** @type {HTMLInputElement} */ (make("input", { type: "checkbox", id: "own", change: () => app.change({ own: this.own.checked ? "shown" : "hidden" }) }));
    this.ownLabel = make("label", { class: "own" }, this.own, " show unwind-perf and perf");
    this.notes = make("p", { class: "note" });
    const mark = make("button", { type: "button", id: "mark", title: "Set a mark now, to compare the time before it with the time after it", text: "Mark", click: () => app.mark() });
    const bar = make("div", { class: "bar" }, make("h2", { class: "unseen", text: "Watched recording" }), this.state, this.numbers, this.lost,
      make("span", { role: "group", "aria-label": "The last", class: "bar" }, make("span", { text: "Last" }), ...this.times), this.freeze, mark, this.marks, this.ownLabel);
    byId("timeline").before(make("section", { id: "live", "aria-label": "Watched recording" }, bar, this.notes));
  }

  /** @param {number} last */
  look(last) {
    const { filters } = this.app.state;
    this.app.change({ last, filters: filters.filter((filter) => filter.kind !== "time") });
  }

  /** Shows an update; `waiting` is the number of samples since the page was frozen.
   * @param {LiveView} view @param {number} waiting @param {number | null} age of the newest sample, in seconds
   * @param {string} [broken] reason why updates have stopped */
  tell(view, waiting, age, broken) {
    const state = broken ? "failed" : view.state;
    document.documentElement.dataset.live = state;
    const text = (/** @type {HTMLElement} */ element, /** @type {string} */ words) => { if (element.textContent !== words) element.textContent = words; };
    text(this.state, this.isFrozen && state === "running" ? "Frozen" : STATES[state]);
    const number = view.kept < view.samples ? `${amount(view.kept)} of ${amount(view.samples)} samples (of the last ${kept(view.keep ?? 0)})` : `${amount(view.samples)} samples`;
    const lag = age === null || state !== "running" ? "" : ` · lag ${age.toFixed(1)} s`;
    text(this.numbers, `${state === "running" ? `${amount(this.rate())} samples/s · ` : ""}${number}${lag}`);
    text(this.lost, view.lost_records ? `${amount(view.lost_records)} records lost` : "");
    text(this.badge, this.isFrozen && waiting > 0 ? `${amount(waiting)} more` : "");
    this.freeze.setAttribute("aria-pressed", String(this.isFrozen));
    const problem = view.problem ? [view.problem.title, view.problem.detail].filter(Boolean).join(": ") : "";
    const notes = [...view.warnings, broken || "", problem].filter(Boolean).join("; ");
    if (view.recording && !this.link) {
      this.link = make("a", { href: "/r/" + view.recording, text: "Open the recording" });
      this.state.after(" ", this.link);
    }
    text(this.notes, notes);
    this.notes.hidden = !notes;
  }

  /** Recent samples per second. */
  rate() {
    const { time } = this.app.live.columns, all = time.view(), { unit } = this.app.live.head;
    const last = all[all.length - 1] ?? 0, from = last - RATE * 1e9 / unit;
    let at = all.length;
    while (at > 0 && all[at - 1] > from) at--;
    const seconds = Math.min(RATE, Math.max(last * unit / 1e9, 0.1));
    return Math.round((all.length - at) / seconds);
  }

  /** Shows the state of the page. */
  show() {
    const { app } = this, { state } = app, isOther = state.filters.some((filter) => filter.kind === "time");
    for (const button of this.times) button.setAttribute("aria-pressed", String(!isOther && Number(button.dataset.last) === state.last));
    this.own.checked = state.own === "shown";
    this.ownLabel.hidden = !app.recorders.length;
    const key = state.marks.join();
    if (key === this.marked) return;
    this.marked = key;
    this.marks.replaceChildren(...state.marks.map((time, at) => make("button", { type: "button", class: "mark", "aria-haspopup": "menu", text: `${app.seconds(time).toFixed(1)} s`,
      title: "Actions on this mark", click: (/** @type {Event} */ event) => this.menu(at, /** @type {HTMLElement} */ (event.currentTarget)) })));
  }

  /** @param {number} at @param {HTMLElement} button */
  menu(at, button) {
    const { app } = this, { marks } = app.state, one = marks[at], next = marks[at + 1], area = button.getBoundingClientRect();
    const between = next === undefined ? [] : [
      { text: "Compare from here to the next mark with before", key: "b", run: () => app.compareMarks(one, next, "before") },
      { text: "Compare from here to the next mark with the rest", key: "r", run: () => app.compareMarks(one, next, "rest") },
    ];
    openMenu([
      { title: `Mark at ${app.seconds(one).toFixed(3)} s` },
      { text: "Compare before with after", key: "c", run: () => app.compareMarks(one, null, "before") },
      ...between,
      { text: "Remove the mark", key: "x", run: () => app.change({ marks: marks.filter((mark) => mark !== one) }) },
    ], area.left, area.bottom);
  }
}
