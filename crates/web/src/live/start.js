// @ts-check
// Start of a live recording's page, and its updates: new rows arrive as events; a page that falls too far back reloads
// all tables.
import { readParts } from "../data/columns.js";
import { RequestError, openSession, request } from "../service/api.js";
import { showFailure } from "../service/refused.js";
import { byId, make } from "../views/elements/element.js";
import { startPage } from "../views/page.js";
import { LiveApp } from "./app.js";
import { Bar } from "./bar.js";
import { LiveTables, fromBase64 } from "./tables.js";

/** @typedef {import("./bar.js").LiveView} LiveView */

/** Number of retained sample ages, for measurements, and of updates that wait for drawing. */
const AGES = 1 << 16, WAITING = 1000;

/** Loads all current tables; null if there are no data yet.
 * @returns {Promise<LiveTables | null>} */
async function all() {
  try {
    return new LiveTables(readParts(await (await request("/api/v1/live/columns")).arrayBuffer()));
  } catch (error) {
    if (error instanceof RequestError && error.problem.status === 410) return null;
    throw error;
  }
}

/** Receives events until the end.
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
  // The browser reconnects by itself, unless the service refused.
  events.addEventListener("error", () => { if (events.readyState === EventSource.CLOSED) to.broken(); });
}

class Page {
  /** @param {LiveView} view @param {LiveTables} live */
  constructor(view, live) {
    this.view = view;
    this.live = live;
    this.app = new LiveApp(live, view.processes);
    this.app.recordingName = async () => this.view.name;
    this.bar = new Bar(this.app, { freeze: (on) => this.freeze(on) });
    this.isFrozen = this.isDue = this.isHeld = this.isPlanned = false;
    /** Number of samples in the shown tables, including discarded ones. */
    this.shown = view.samples;
    /** Ages of the most recently drawn samples when they were drawn, in milliseconds. */
    this.ages = new Float32Array(AGES);
    this.drawn = 0;
    /** Updates that are not drawn yet: the number of samples, and the age of the newest.
     * @type {{ samples: number, lag: number, sent: number }[]} */
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
      broken: () => this.break("The service does not respond"),
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

  /** Reloads all tables after missed updates. */
  async anew() {
    const live = await all();
    if (!live) throw new Error("The recording no longer exists");
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
    // Samples that waited because of the freeze do not count in the measurement.
    if (!on) this.fresh = [];
    this.tell();
    this.plan();
  }

  /** Schedules drawing: not while a mouse button is down or a menu is open, and for at most a third of the time. */
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

  /** Records the ages of samples at the time of drawing. */
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
    // A menu may have been closed since.
    this.plan();
  }
}

/** Waits for the first data.
 * @returns {Promise<LiveTables>} */
function first() {
  return new Promise((resolve, reject) => {
    const begin = () => listen(null, {
      told: (view) => {
        byId("title").textContent = view.state === "failed" ? `The recording ended early. ${view.problem?.detail ?? ""}` : "Waiting for the first samples…";
        if (view.state === "ended") reject(new Error("The recording has no samples"));
      },
      rows: () => false,
      anew: () => { void all().then((live) => { if (live) resolve(live); else begin(); }, reject); },
      broken: () => reject(new Error("The service does not respond")),
    });
    begin();
  });
}

async function start() {
  await openSession();
  byId("tools").prepend(make("a", { href: "/", text: "Recordings" }));
  const live = await all() ?? await first();
  const page = new Page(await (await request("/api/v1/live")).json(), live);
  // For checks and the console.
  Object.assign(globalThis, { profile: page.app, live: page });
  page.start();
  document.documentElement.dataset.ready = "yes";
}
start().catch((error) => {
  showFailure(error, (text) => (byId("title").textContent = "Cannot show this page. " + text));
  document.documentElement.dataset.failed = "yes";
  console.error(error);
});
