// Opens our page in a browser without a screen, as a file, and uses it: views, search, zoom, time, threads, keyboard.
// Usage: node report.mjs PAGE SCREENSHOTS. Prints the table of functions (own, inclusive, name; tabs between), and on
// standard error what it did. Any message of the console and any request is an error.
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, shots] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
const wrong = [];
const address = pathToFileURL(file).href;
page.on("console", (message) => wrong.push(`console: ${message.text()}`));
page.on("pageerror", (error) => wrong.push(`error: ${error}`));
page.on("request", (request) => { if (request.url() !== address) wrong.push(`request: ${request.url()}`); });
function expect(holds, what) {
  if (!holds) wrong.push(`not so: ${what}`);
}
const text = (selector) => page.textContent(selector);
const limit = Number(process.env.READY_MS ?? 0);
const begun = Date.now();
let ready = Infinity;
// The best of three counts: other programs may be busy.
for (let attempt = 0; attempt < 3 && (attempt === 0 || ready > limit && limit); attempt++) {
  const started = Date.now();
  await page.goto(address);
  await page.waitForSelector("html[data-ready=yes]", { state: "attached", timeout: 20000 }).catch(() => {
    console.error(wrong.join("\n"));
    process.exit(1);
  });
  ready = Math.min(ready, Date.now() - started);
}
console.error(`ready after ${ready} ms`);
expect(!limit || ready < limit, `ready within ${limit} ms`);

// Time: the first half of a lane is selected by dragging, then everything again.
const all = await text("#selected");
const lane = await page.locator(".lane canvas").first().boundingBox();
await page.mouse.move(lane.x + 1, lane.y + 5);
await page.mouse.down();
await page.mouse.move(lane.x + lane.width / 2, lane.y + 5);
await page.mouse.up();
expect((await text("#selected")) !== all, "a time selects samples");
const number = (line) => Number(line.split(" ")[0].replaceAll(",", ""));
expect(number(await text("#selected")) < number(all), "half of the time has fewer samples");
await page.click("#everything");
expect((await text("#selected")) === all, "everything is selected again");
// Threads.
await page.locator(".lane input").nth(1).uncheck();
expect(number(await text("#selected")) < number(all), "without its busiest thread there are fewer samples");
await page.click("#everything");

// Keyboard and zoom in the flame graph.
await page.focus("#graph");
for (const key of ["ArrowUp", "ArrowUp", "Enter"]) await page.keyboard.press(key);
expect(await page.isEnabled("#out"), "Enter zooms");
const shown = await text("#frame");
expect(shown.includes("samples ("), `a frame is told: ${shown}`);
await page.keyboard.press("Escape");
await page.keyboard.press("Escape");
await page.keyboard.press("Escape");
expect(await page.isDisabled("#out"), "Escape zooms out");
const graph = await page.locator("#graph").boundingBox();
await page.mouse.click(graph.x + graph.width / 2, graph.y + graph.height - 27);
expect(await page.isEnabled("#out"), "a click zooms");
await page.click("#out");
const told = await page.locator("#frame").boundingBox();
expect(told.y + told.height <= 901, `what is told of a frame is in sight: ${told.y} and ${told.height}`);
if (shots) await page.screenshot({ path: `${shots}/flame.png` });

// Search, in every view.
const word = (await page.evaluate(() => P.head.names[P.head.functions[C.fown.indexOf(Math.max(...C.fown))][0]])).slice(0, 40);
await page.fill("#search", word);
await page.waitForFunction(() => document.getElementById("matched").textContent.includes("match"));
expect(!(await text("#matched")).startsWith("0 %"), "the search finds the most costly function");
if (shots) await page.screenshot({ path: `${shots}/search.png` });
await page.click("#tab-icicle");
await page.click("#tab-bottom");
expect((await page.locator("#view-bottom tbody tr").count()) > 0, "bottom-up has rows");
await page.locator("#view-bottom tbody tr").first().press("Enter");
if (shots) await page.screenshot({ path: `${shots}/bottom.png` });
await page.fill("#search", "");
await page.waitForFunction(() => document.getElementById("matched").textContent === "");
await page.click("#tab-callers");
const rows = await page.$$eval("#view-callers table[aria-label=Functions] tbody tr", (all) =>
  all.map((row) => [...row.cells].map((cell) => cell.title || cell.textContent)));
for (const [own, inclusive, name] of rows) console.log(`${number(own)}\t${number(inclusive)}\t${name}`);
await page.locator("#view-callers td button.name").first().click();
expect((await page.locator("#view-callers table[aria-label=Callers]").count()) === 1, "callers are shown");
const cut = () => page.$$eval("td.number", (all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
expect((await cut()).length === 0, `numbers are whole: ${await cut()}`);
if (await page.isVisible("#weight")) {
  await page.selectOption("#weight", "period");
  expect((await cut()).length === 0, `periods are whole: ${await cut()}`);
  await page.selectOption("#weight", "samples");
}
await page.click("#theme");
if (shots) await page.screenshot({ path: `${shots}/callers.png` });
await page.click("#tab-quality");
expect((await text("#quality")).includes("samples"), "the quality is told");
// Every control has a name.
const nameless = await page.$$eval("button, input, select, canvas", (all) => all.filter((one) =>
  !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length)).map((one) => one.outerHTML));
expect(nameless.length === 0, `names of ${nameless}`);
await browser.close();
console.error(`done after ${Date.now() - begun} ms`);
if (wrong.length) {
  console.error(wrong.join("\n"));
  process.exit(1);
}
