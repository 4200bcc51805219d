// @ts-check
// Starts the page of a recording that is watched, and follows it: what is new comes as events, and who is behind gets all.
import { readParts } from "../data/columns.js";
import { RequestError, ask, openSession } from "../service/api.js";
import { byId, make } from "../views/elements/element.js";
import { startPage } from "../views/page.js";
import { LiveApp } from "./app.js";
import { Bar } from "./bar.js";
import { LiveTables, fromBase64 } from "./tables.js";

/** @typedef {import("./bar.js").LiveView} LiveView */

/** Ages of samples that are remembered, for those who measure, and ticks that wait to be drawn. */
const AGES = 1 << 16, WAITING = 1000;

/** All tables as they are; nothing where nothing has come.
 * @returns {Promise<LiveTables | null>} */
async function all() {
  try {
    return new LiveTables(readParts(await (await ask("/api/v1/live/columns")).arrayBuffer()));
  } catch (error) {
    if (error instanceof RequestError && error.problem.status === 410) return null;
    throw error;
  }
}

/** What comes, until it ends.
 * @param {number | null} after @param {{ told: (view: LiveView) => void, rows: (text: string, tick: number) => boolean, anew: () => void, broken: () => void }} to */
function listen(after, to) {
  const events = new EventSource("/api/v1/live/events" + (after === null ? "" : `?after=${after}`));
  const anew = () => { events.close(); to.anew(); };
  events.addEventListener("state", (event) => to.told(JSON.parse(event.data)));
  events.addEventListener("tick", (event) => {
    const { live, rows } = JSON.parse(event.data);
    if (!to.rows(rows, Number(event.lastEventId))) { anew(); return; }
    to.told(live);
  });
  events.addEventListener("anew", (event) => { to.told(JSON.parse(event.data)); anew(); });
  events.addEventListener("end", (event) => { events.close(); to.told(JSON.parse(event.data)); });
  // The browser tries again by itself, unless the service refused.
  events.addEventListener("error", () => { if (events.readyState === EventSource.CLOSED) to.broken(); });
}

class Page {
  /** @param {LiveView} view @param {LiveTables} live */
  constructor(view, live) {
    this.view = view;
    this.live = live;
    this.app = new LiveApp(live, view.processes);
    this.bar = new Bar(this.app, { freeze: (on) => this.freeze(on) });
    this.isFrozen = this.isDue = this.isHeld = this.isPlanned = false;
    /** Samples that are shown, with those that are forgotten. */
    this.shown = view.samples;
    /** Ages of samples when they were drawn, in milliseconds, those that were drawn last. */
    this.ages = new Float32Array(AGES);
    this.drawn = 0;
    /** What came and is not drawn: how many samples, and how old the newest was. @type {{ samples: number, lag: number, sent: number }[]} */
    this.fresh = [];
    this.next = 0;
    addEventListener("pointerdown", () => { this.isHeld = true; }, true);
    for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => { this.isHeld = false; setTimeout(() => this.plan(), 0); }, true);
    this.app.listeners.push(() => this.bar.show());
  }

  start() {
    startPage(this.app);
    this.app.listeners.push(() => this.bar.show());
    this.bar.show();
    this.tell();
    this.listen(this.live.tick);
    setInterval(() => this.tell(), 500);
  }

  /** @param {number} after */
  listen(after) {
    listen(after, {
      told: (view) => this.told(view),
      rows: (text, tick) => this.rows(text, tick),
      anew: () => { void this.anew().catch((error) => this.break(error.message)); },
      broken: () => this.break("the service does not answer"),
    });
  }

  /** @param {LiveView} view */
  told(view) {
    const before = this.view.samples;
    this.view = view;
    this.app.processes = view.processes;
    if (view.samples > before && view.lag !== undefined) this.fresh.push({ samples: view.samples - before, lag: view.lag, sent: view.sent });
    if (this.fresh.length > WAITING) this.fresh.shift();
    this.isDue = true;
    this.plan();
    this.tell();
  }

  /** @param {string} text @param {number} tick */
  rows(text, tick) {
    return this.live.step(readParts(fromBase64(text)), tick);
  }

  /** Begins anew, where too much was missed. */
  async anew() {
    const live = await all();
    if (!live) throw new Error("nothing is there any more");
    this.live = live;
    this.isDue = true;
    this.plan();
    this.listen(live.tick);
  }

  /** @param {string} why */
  break(why) {
    this.broken = why;
    this.tell();
  }

  /** @param {boolean} on */
  freeze(on) {
    this.isFrozen = this.bar.isFrozen = on;
    // How long samples waited for the reader is nobody's fault.
    if (!on) this.fresh = [];
    this.tell();
    this.plan();
  }

  /** Draws when it is time: not while a button of the mouse is down or a menu is open, and for a third of the time at most. */
  plan() {
    if (this.isPlanned || !this.isDue || this.isFrozen || this.isHeld || !byId("menu").hidden) return;
    this.isPlanned = true;
    setTimeout(() => requestAnimationFrame(() => { this.isPlanned = false; this.draw(); }), Math.max(0, this.next - performance.now()));
  }

  draw() {
    if (this.isFrozen || this.isHeld || !byId("menu").hidden) return;
    const start = performance.now();
    this.isDue = false;
    this.app.update(this.live);
    this.shown = this.view.samples;
    this.took = performance.now() - start;
    this.next = start + 3 * this.took;
    this.measure();
    this.tell();
  }

  /** How old samples are when they are drawn. */
  measure() {
    const now = Date.now(), { time, head: { unit } } = this.app.tables;
    let end = time.length;
    for (const { samples, lag, sent } of this.fresh.splice(0).reverse()) {
      const first = Math.max(0, end - samples), newest = time[end - 1];
      for (let i = first; i < end; i++) this.ages[this.drawn++ % AGES] = lag * 1e3 + now - sent + (newest - time[i]) * unit / 1e6;
      end = first;
    }
  }

  tell() {
    const { view } = this, age = view.lag === undefined ? null : view.lag + Math.max(0, Date.now() - view.sent) / 1e3;
    this.bar.tell(view, view.samples - this.shown, age, this.broken);
    // A menu was closed meanwhile.
    this.plan();
  }
}

/** Waits until something has come.
 * @returns {Promise<LiveTables>} */
function first() {
  return new Promise((resolve, reject) => {
    const begin = () => listen(null, {
      told: (view) => {
        byId("title").textContent = view.state === "failed" ? `It broke off. ${view.problem?.detail ?? ""}` : "Waiting for the first samples…";
        if (view.state === "ended") reject(new Error("there were no samples"));
      },
      rows: () => false,
      anew: () => { void all().then((live) => { if (live) resolve(live); else begin(); }, reject); },
      broken: () => reject(new Error("the service does not answer")),
    });
    begin();
  });
}

async function start() {
  await openSession();
  byId("tools").prepend(make("a", { href: "/", text: "Recordings" }));
  const live = await all() ?? await first();
  const page = new Page(await (await ask("/api/v1/live")).json(), live);
  // For those who look at the page from outside: its checks, and the console.
  Object.assign(globalThis, { profile: page.app, live: page });
  page.start();
  document.documentElement.dataset.ready = "yes";
}
start().catch((error) => {
  byId("title").textContent = "This cannot be shown. " + error.message;
  document.documentElement.dataset.failed = "yes";
  console.error(error);
});
