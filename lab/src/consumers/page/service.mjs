// A headless browser with the service: the list, a recording, a link to a view, two compared recordings, light and
// dark. Any console message, any request to others, any finding of axe and any unexpected result is an error.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [address, shots] = process.argv.slice(2), wrong = [];
const base = address.split("#")[0].replace(/\/$/, "");
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const expect = (holds, what) => { if (!holds) wrong.push(`not so: ${what}`); };
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const context = await browser.newContext({ viewport: { width: 1400, height: 860 } });

/** Opens a window. The browser itself logs on the console that a recording is not analysed yet (410), or that a source
 * file is not available (422). */
async function opened(url) {
  const page = await context.newPage();
  page.on("console", (message) => { if (!/status of (410|422)/.test(message.text())) wrong.push(`console: ${message.text()}`); });
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
async function looks(page, name, themes = ["light", "dark"]) {
  for (const theme of themes) {
    if (themes.length > 1 && (await page.getAttribute("html", "data-theme")) !== theme) await page.click("#theme");
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)}`));
    if (found.length) wrong.push(`axe on ${name}, ${theme}: ${found.join("; ")}`);
    if (shots) await page.screenshot({ path: `${shots}/service-${name}${theme === "dark" ? "-dark" : ""}.png` });
  }
}

// The list: the token is removed from the address at once.
const list = await opened(address);
expect(!list.url().includes("token"), "the token is not in the address");
const rows = await list.$$eval("tbody tr", (all) => all.length);
expect(rows > 20, `all recordings are listed: ${rows}`);
const names = () => list.$$eval("tbody td.name a", (all) => all.map((link) => link.textContent));
const head = () => list.$$eval("th[aria-sort]", (all) => all.map((th) => `${th.textContent} ${th.getAttribute("aria-sort")}`).join());
const written = await list.evaluate(async () => Object.fromEntries((await (await fetch("/api/v1/recordings")).json()).recordings.map((row) => [row.name, row.written || 0])));
const times = (await names()).map((name) => written[name]);
expect(times.every((time, at) => at === 0 || time <= times[at - 1]), "the newest recording is first");
expect((await head()) === "Written descending", `the head says so: ${await head()}`);
await list.focus("#sort-name");
await list.keyboard.press("Enter");
const byName = await names();
expect(byName.join() === [...byName].sort(new Intl.Collator("en", { numeric: true }).compare).join(), "the head of a column sorts by it");
expect((await head()) === "Name ascending", `the head says so: ${await head()}`);
expect((await list.evaluate(() => document.activeElement.id + location.hash)) === "sort-name#sort=name", "the focus stays, and the order is in the address");
await list.reload();
await ready(list);
expect((await names()).join() === byName.join(), "a reload restores the order");
await list.click("#sort-name");
expect((await names()).join() === byName.reverse().join(), "a second press turns the order");
await list.click("#sort-written");
expect((await list.evaluate(() => location.hash)) === "", "the order of the start has no fragment");
await list.fill("#filter", "inlines-gcc");
expect((await list.$$eval("tbody tr", (all) => all.length)) === 1, "the filter leaves one");
await list.click("tbody button");
await list.waitForFunction(() => document.querySelector("tbody tr")?.textContent.includes("analyzed"));
expect((await list.textContent("tbody tr")).includes("100.0 %"), "the list says how complete the stacks are");
await list.fill("#filter", "");
await looks(list, "list");

// A recording, and each of its views.
await list.click("tbody a >> text=inlines-gcc");
await ready(list);
const tabs = await list.$$eval("[role=tab]:not([hidden])", (all) => all.map((tab) => tab.id));
for (const id of tabs) {
  await list.click(`#${id}`);
  expect(await list.isVisible(`#${id.replace("tab", "view")}`), `the view ${id} is shown`);
}
await looks(list, "recording");
await list.click("#tab-flame");
await list.selectOption("#names", "short");
const before = await list.evaluate(() => location.hash);
expect(before.includes("flame"), `the view is in the address: ${before}`);
await list.reload();
await ready(list);
expect((await list.evaluate(() => location.hash)) === before, "a reload restores the view");
const other = await opened(list.url());
expect((await other.evaluate(() => profile.state.view)) === "flame", "so does the link in another window");

// Exported files have the name of the recording.
await list.click("#export");
const saving = list.waitForEvent("download");
await list.click("#menu button:has-text('Folded')");
const saved = (await saving).suggestedFilename();
expect(/inlines-gcc.*\.folded$/.test(saved), `the file has the recording's name: ${saved}`);
await list.click("#copy-link");
await list.waitForFunction(() => /^(Link copied\.|Press Ctrl\+C to copy the link\.)$/.test(document.getElementById("said").textContent));

// A recording that is not analysed yet is analysed when opened.
const fresh = await opened(base);
await fresh.click("tbody a >> text=fork");
await ready(fresh);
expect((await fresh.textContent("#selected")).includes("48"), "its samples are there");

// Two compared recordings.
const pair = await opened(base);
for (const name of ["spin-lld/", "spin-bfd/"]) await pair.check(`tbody tr:has-text("${name}") input`);
await pair.click("#compare");
await pair.waitForURL("**/diff?*");
await ready(pair);
await looks(pair, "diff");

// The status of the service.
const state = await opened(base);
await state.click("text=Status");
await state.waitForURL("**/status");
await ready(state);
expect(/Finished jobs\s*\d+ done/.test(await state.textContent("tbody")), "the status counts jobs");
await looks(state, "status");

// Without a session nothing is shown.
const stranger = await browser.newContext();
const refused = await (await stranger.newPage()).request.get(`${base}/api/v1/recordings`);
expect(refused.status() === 401, `without the token: ${refused.status()}`);
const without = await stranger.newPage();
for (const path of ["/#token=0", "/status", "/r/0#view=flame", "/diff?a=0&b=0"]) {
  await without.goto(base + path);
  await without.waitForSelector("main.refused");
  const text = await without.innerText("body");
  expect(text.includes("This link has expired or belongs to another start of the service. Open the address that unwind-perf serve printed at its start."), `${path}: ${text}`);
  expect((await without.$$("header, button, input, table")).length === 0, `${path} has no tools`);
}
await looks(without, "refused", ["light"]);

await browser.close();
if (wrong.length) {
  console.error(wrong.join("\n"));
  process.exit(1);
}
console.log(`${rows} recordings listed`);
