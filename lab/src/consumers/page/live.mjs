// A headless browser with the page of a recording in progress: it grows, can be frozen, shows the last seconds,
// compares the ranges around marks, and at its end agrees with the recording. Any console message, any request to
// others, any finding of axe and any unexpected result is an error.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [address, done, shots] = process.argv.slice(2), wrong = [];
const base = address.split("/live")[0];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const expect = (holds, what) => { if (!holds) wrong.push(`not so: ${what}`); };
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });

/** Opens a window. The browser itself logs on the console that no data has arrived yet (410). */
async function opened(url) {
  const page = await context.newPage();
  page.on("console", (message) => { if (!/status of 410/.test(message.text())) wrong.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => wrong.push(`error: ${error.stack}`));
  page.on("request", (request) => { if (!request.url().startsWith(base) && !request.url().startsWith("data:")) wrong.push(`request: ${request.url()}`); });
  await page.goto(url);
  await ready(page);
  return page;
}
async function ready(page) {
  await page.waitForSelector("html[data-ready=yes], html[data-failed=yes]", { state: "attached", timeout: 60000 });
  if (await page.getAttribute("html", "data-failed")) wrong.push(`${page.url()}: ${await page.textContent("h1")}`);
  // The checks use all tools.
  if (await page.isVisible("#more")) await page.click("#more");
}
const samples = (page) => page.evaluate(() => profile.tables.samples);
const state = (page) => page.evaluate(() => profile.state);
/** Waits until there are `more` further samples. */
const grows = (page, more) => samples(page).then((before) => page.waitForFunction((least) => profile.tables.samples >= least, before + more, { timeout: 60000 }));
async function looks(page, name) {
  for (const theme of ["light", "dark"]) {
    if ((await page.getAttribute("html", "data-theme")) !== theme) await page.click("#theme");
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)}`));
    if (found.length) wrong.push(`axe on ${name}, ${theme}: ${found.join("; ")}`);
    if (shots) await page.screenshot({ path: `${shots}/live-${name}${theme === "dark" ? "-dark" : ""}.png` });
  }
  await page.click("#theme");
}

const page = await opened(address);
expect(!page.url().includes("token"), "the token is not in the address");
await page.click("#tab-flame");
const nodes = await page.evaluate(() => profile.tables.lines.n);
await grows(page, 100);
expect((await page.textContent("#live strong")) === "Live", "it says that it is live");
expect(/samples\/s · [\d,]+ samples · lag \d/.test(await page.textContent("#live .numbers")), `the bar: ${await page.textContent("#live .numbers")}`);
expect((await page.evaluate(() => profile.tables.lines.n)) >= nodes, "the tree grows");

// A frozen page stays, and shows how many samples wait.
await page.click("#freeze");
const frozen = await samples(page);
await page.waitForFunction(() => /more/.test(document.querySelector("#live .badge").textContent), null, { timeout: 60000 });
await page.waitForTimeout(1200);
expect((await samples(page)) === frozen && (await page.textContent("#live strong")) === "Frozen", "a frozen page stays");
await page.click("#freeze");
await page.waitForFunction((before) => profile.tables.samples > before, frozen, { timeout: 60000 });

// The last seconds, which the address keeps.
await grows(page, 200);
await page.click("#live [data-last='10']");
expect((await page.evaluate(() => location.hash)).includes("last=10"), "the last seconds are in the address");
const late = await page.evaluate(() => { const { first } = profile.model.chosen, { time, span, head } = profile.tables; return (span - time[first]) * head.unit / 1e9; });
expect(late <= 10.01, `the last 10 s: ${late}`);
await page.reload();
await ready(page);
expect((await state(page)).last === 10 && (await state(page)).view === "flame", "a reload restores the view");
await page.click("#live [data-last='0']");

// Marks, and the ranges around them.
await page.click("#mark");
await grows(page, 100);
await page.click("#mark");
await grows(page, 100);
expect((await state(page)).marks.length === 2, "two marks");
for (const [key, sides] of [["c", 1], ["b", 1], ["r", 2]]) {
  await page.click("#live .mark >> nth=0");
  await page.click(`#menu button:has(kbd:text-is("${key}"))`);
  expect(await page.isVisible("#view-compare"), `the comparison ${key} is shown`);
  const times = await page.evaluate(() => profile.baseTimes().length), note = await page.textContent("#view-compare .note");
  expect(times === sides && /Baseline: .* samples\. Selection: .* samples\./.test(note), `the comparison ${key}: ${note}`);
}
await grows(page, 50);
if (shots) await page.screenshot({ path: `${shots}/live-compare.png` });
await page.evaluate(() => profile.change({ filters: [], base: null, view: "flame" }));

// Every view, while it grows.
for (const id of await page.$$eval("[role=tab]:not([hidden])", (all) => all.map((tab) => tab.id))) {
  await page.click(`#${id}`);
  expect(await page.isVisible(`#${id.replace("tab", "view")}`), `the view ${id} is shown`);
  await grows(page, 1);
}
await page.click("#tab-flame");
await looks(page, "flame");

// A later page shows the same; at the end all agree with the recording.
const other = await opened(base + "/live");
await grows(other, 20);
writeFileSync(done, "");
for (const one of [page, other]) await one.waitForSelector("html[data-live=ended]", { state: "attached", timeout: 60000 });
await page.waitForFunction(() => !live.isDue && !live.isPlanned);
const told = await page.evaluate(async () => (await fetch("/api/v1/live")).json());
expect((await samples(page)) === told.samples && (await samples(other)) === told.samples, `all ${told.samples} samples are there`);
await page.click("text=Open the recording");
await ready(page);
expect((await samples(page)) === told.samples, "the recording has as many");
const costs = (one) => one.evaluate(() => {
  const { own } = profile.model.functionCosts(), sums = {};
  profile.change({ filters: [], last: 0, own: "shown" });
  for (let f = 0; f < profile.model.functions; f++) if (own[f]) sums[profile.model.name(f)] = (sums[profile.model.name(f)] || 0) + own[f];
  return JSON.stringify(Object.entries(sums).sort());
});
expect((await costs(other)) === (await costs(page)), "functions cost what they cost in the recording");
await other.reload();
await ready(other);
expect((await samples(other)) === told.samples && (await other.textContent("#live strong")) === "Ended", "the tables stay");

await browser.close();
if (wrong.length) {
  console.error(wrong.join("\n"));
  process.exit(1);
}
console.log(`${told.samples} samples, ${told.lost_records} records lost`);
