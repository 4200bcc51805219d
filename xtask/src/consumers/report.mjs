// Opens our page in a browser without a screen, as a file, and uses it: every view, every gesture, every key, in light
// and dark, at 400 % and by touch. Usage: node report.mjs PAGE [SCREENSHOTS]. Prints the table of functions (own,
// inclusive, name; tabs between), and on standard error what it did. Any message of the console, any request, anything
// that axe finds and anything that is not as expected is an error.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [file, shots] = process.argv.slice(2);
const address = pathToFileURL(file).href, wrong = [], begun = Date.now();
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});

async function opened(options, fragment = "") {
  const context = await browser.newContext({ viewport: { width: 1400, height: 860 }, ...options });
  const made = await context.newPage();
  made.on("console", (message) => wrong.push(`console: ${message.text()}`));
  made.on("pageerror", (error) => wrong.push(`error: ${error.stack}`));
  made.on("request", (request) => { if (request.url().split("#")[0] !== address) wrong.push(`request: ${request.url()}`); });
  await made.goto(address + fragment);
  await ready(made);
  return made;
}
async function ready(made) {
  await made.waitForSelector("html[data-ready=yes]", { state: "attached", timeout: 30000 }).catch(() => {
    console.error(wrong.join("\n") || "the page is not ready");
    process.exit(1);
  });
}
function expect(holds, what) {
  if (!holds) wrong.push(`not so: ${what}`);
}
function same(is, should, what) {
  const [left, right] = [JSON.stringify(is), JSON.stringify(should)];
  expect(left === right, `${what}: ${left}, expected ${right}`);
}

// How soon the page can be used: the best of three, since other programs may be busy.
const limit = Number(process.env.READY_MS ?? 0);
let soonest = Infinity;
for (let attempt = 0; attempt < 3 && (attempt === 0 || (limit && soonest > limit)); attempt++) {
  const started = Date.now(), made = await opened({});
  soonest = Math.min(soonest, Date.now() - started);
  await made.context().close();
}
console.error(`ready after ${soonest} ms`);
expect(!limit || soonest < limit, `ready within ${limit} ms`);

const page = await opened({});
const text = (selector) => page.textContent(selector);
const state = () => page.evaluate(() => profile.state);
const key = (...keys) => keys.reduce((before, one) => before.then(() => page.keyboard.press(one)), Promise.resolve());
const tab = async (id) => {
  await page.click(`#tab-${id}`);
  expect(await page.isVisible(`#view-${id}`), `the view ${id} is shown`);
};
const rowsIn = (id) => page.$$eval(`#view-${id} .rows [data-index]`, (all) => all.map((row) => ({ level: Number(row.getAttribute("aria-level")), open: row.getAttribute("aria-expanded"), cells: [...row.children].map((cell) => cell.textContent) })));
const chips = () => page.$$eval("#chips .chip", (all) => all.map((chip) => chip.firstChild.textContent));
const leading = (line) => Number(line.split(" ")[0].replaceAll(",", ""));
const shot = async (name) => { if (shots) await page.screenshot({ path: `${shots}/${name}.png` }); };
const clear = () => page.evaluate(() => profile.change({ filters: [], zoom: [], base: null, search: "" }));
const step = (name) => console.error(`${Date.now() - begun} ms: ${name}`);
const samples = await page.evaluate(() => profile.costs.allN), threads = await page.evaluate(() => profile.tables.head.threads.length);

async function accessible(what) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)} ${one.nodes[0].failureSummary}`));
  same(found, [], `axe on ${what}`);
}

step("overview");
expect((await text("#view-overview dl")).includes("samples"), "the overview tells what was recorded");
expect(/% of the stacks shown are complete/.test(await text("#view-overview")), "and how complete the stacks are");
const first = page.locator("#view-overview section[aria-label^=Functions] button").first(), name = await first.getAttribute("title");
await shot("overview");
await first.click();
same((await state()).view, "sandwich", "a function of the overview opens the sandwich");
same(await page.evaluate(() => profile.model.name(profile.state.func)), name, "of that function");
await page.goBack();
same((await state()).view, "overview", "the browser's way back goes back");

step("flame graph: keys");
await tab("flame");
const graph = "#view-flame canvas";
await page.focus(graph);
await key("ArrowUp", "Enter");
same((await state()).zoom.length, 1, "Enter zooms");
expect((await page.locator("#view-flame .crumbs button").count()) === 2, "the way to it is shown");
expect((await text("#view-flame .status")).includes("inclusive"), "its costs are told");
await key("Escape");
same((await state()).zoom, [], "Escape zooms out");
await key("ArrowUp", "ArrowUp", "ArrowDown", "ArrowRight", "ArrowLeft", "Home");
expect((await text("#view-flame .status")).startsWith("all"), "Home goes to everything");

step("flame graph: mouse");
const place = async (depth) => page.evaluate((depth) => {
  const canvas = document.querySelector(".panel:not([hidden]) canvas"), area = canvas.getBoundingClientRect();
  const bottom = canvas.closest("#view-flame") !== null, row = 19 * depth + 9;
  return { x: area.left + area.width / 3, y: bottom ? area.bottom - row : area.top + row };
}, depth);
const frame = await place(1);
await page.mouse.move(frame.x, frame.y);
expect(/inclusive [\d.]+ %/.test(await text("#tip")) && /own /.test(await text("#tip")), `what is under the mouse is told: ${await text("#tip")}`);
await shot("flame");
await page.mouse.click(frame.x, frame.y);
same((await state()).zoom.length, 1, "a click zooms");
await page.locator("#view-flame .crumbs button").first().click();
same((await state()).zoom, [], "the way leads back");
const entry = async (label) => {
  const { x, y } = await place(1);
  await page.mouse.click(x, y, { button: "right" });
  await page.locator("#menu button", { hasText: label }).first().click();
};
const kinds = async () => (await state()).filters.map((filter) => filter.kind);
for (const [label, kind] of [["Focus on it", "focus"], ["Only stacks with it", "keep"], ["Hide this function", "hide"], ["Charge it", "charge"], ["Fold what it calls", "fold"],
  ["Collapse its recursion", "recursion"], ["Collapse all recursion", "recursion"], ["Only this module", "module"], ["Merge this module", "merge"], ["Merge all modules", "merge"]]) {
  await page.mouse.move(5, 5);
  const target = await place(1);
  const isFrame = await page.evaluate(({ x, y }) => { document.elementFromPoint(x, y).dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y })); return !document.getElementById("tip").hidden; }, target);
  expect(isFrame, "there is a frame to take");
  await entry(label);
  same(await kinds(), [kind], `the menu's entry ${label}`);
  same((await chips()).length, 1, `${label} has a chip`);
  await page.evaluate(() => document.activeElement.blur());
  await key("Backspace");
  same(await kinds(), [], `Backspace takes ${label} back`);
}
step("flame graph: keys of the menu");
for (const [one, kind] of [["f", "focus"], ["o", "keep"], ["h", "hide"], ["u", "charge"], ["i", "fold"], ["r", "recursion"], ["R", "recursion"], ["d", "module"], ["g", "merge"], ["G", "merge"], ["x", "drop"], ["D", "hideModule"]]) {
  await page.focus(graph);
  await key("Home", "ArrowUp", one);
  same(await kinds(), [kind], `the key ${one}`);
  expect((await page.evaluate(() => profile.costs.allN)) <= samples, `${one} leaves no more samples`);
  await page.locator("#chips .chip button").click();
  same(await kinds(), [], "the chip's × takes it away");
}
await page.focus(graph);
await key("Home", "ArrowUp", "m");
expect(await page.isVisible("#menu"), "m opens the menu");
await shot("menu");
await accessible("the menu");
await key("ArrowDown", "ArrowUp", "End", "Home", "Escape");
expect(!(await page.isVisible("#menu")), "Escape closes it");
same(await page.evaluate(() => document.activeElement.tagName), "CANVAS", "and goes back to the graph");
await key("c");
same((await state()).view, "sandwich", "c shows callers and callees");
await tab("flame");

step("search");
await page.evaluate(() => document.activeElement.blur());
await key("/");
same(await page.evaluate(() => document.activeElement.id), "search", "/ goes to the search");
await page.keyboard.type(name.slice(0, 30));
await page.waitForFunction(() => document.getElementById("matched").textContent.includes("match"));
expect(!(await text("#matched")).startsWith("0 %"), "the search finds the most costly function");
await key("Enter");
const told = await text("#view-flame .status");
expect(told.includes(name.slice(0, 30)), `Enter goes to a match: ${told}`);
await key("n", "N");
await shot("search");
await clear();

step("link and reload");
await page.focus(graph);
await key("Home", "ArrowUp", "f");
await page.selectOption("#colour", "kind");
await page.selectOption("#names", "short");
const link = await page.evaluate(() => location.hash), before = [await text("#selected"), await chips()];
await page.reload();
await ready(page);
same([await text("#selected"), await chips(), await page.evaluate(() => location.hash)], [...before, link], "a reload restores what was looked at");
const other = await opened({}, link);
same(await other.evaluate(() => [profile.state.view, profile.state.colour, profile.state.filters.length]), ["flame", "kind", 1], "so does the link elsewhere");
await other.context().close();
await shot("kinds");
await clear();
await page.selectOption("#colour", "module");
await page.selectOption("#names", "full");

step("icicle");
await tab("icicle");
await page.focus("#view-icicle canvas");
await key("ArrowDown", "Enter");
same((await state()).zoom.length, 1, "Enter zooms in the icicle");
await key("Escape");
await shot("icicle");

step("sandwich");
await tab("sandwich");
const halves = () => page.evaluate(() => [...document.querySelectorAll("#view-sandwich canvas")].map((one) => one.height > 20));
same(await halves(), [true, true], "both halves are drawn");
await page.focus("#view-sandwich .rows");
await key("ArrowDown", "Enter");
expect((await text("#view-sandwich h3")).includes("inclusive"), "the function's costs are told");
await page.locator("#view-sandwich canvas").nth(1).focus();
await key("Home", "ArrowDown", "Enter");
await shot("sandwich");

for (const id of ["topdown", "bottomup"]) {
  step(id);
  await tab(id);
  const closed = await rowsIn(id);
  expect(closed.length > 0 && closed.every((row) => row.level === 1), `${id} has rows of one level`);
  const openable = closed.findIndex((row) => row.open === "false");
  expect(openable >= 0, `a row of ${id} can be opened`);
  await page.focus(`#view-${id} .rows`);
  await key("Home", ...Array(openable).fill("ArrowDown"), "Enter");
  const open = await rowsIn(id);
  expect(open[openable].open === "true" && open[openable + 1].level === 2, `Enter opens a row of ${id}`);
  await page.setViewportSize({ width: 1200, height: 760 });
  await page.waitForTimeout(200);
  same((await rowsIn(id))[openable].open, "true", `it stays open when the window's size changes`);
  await page.setViewportSize({ width: 1400, height: 860 });
  await page.evaluate(() => profile.refresh());
  same((await rowsIn(id))[openable].open, "true", `and when it is counted again`);
  await key("ArrowLeft");
  same((await rowsIn(id)).length, closed.length, "← closes it");
  await key("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft");
  same((await rowsIn(id)).length, closed.length, "→ opens it and goes in, ← goes out and closes it");
  await page.locator(`#view-${id} [data-index="${openable}"]`).click();
  same((await rowsIn(id))[openable].open, "true", "a click opens it");
  await page.locator(`#view-${id} [data-index="${openable}"]`).click();
  await key("e");
  expect((await rowsIn(id)).some((row) => row.level > 1), "e opens the way of most cost");
  await key("m");
  expect(await page.isVisible("#menu"), "m opens the menu of a row");
  await key("Escape");
  await shot(id);
}

step("functions");
await tab("functions");
const sorted = async (column) => {
  await page.locator("#view-functions .head button", { hasText: column }).click();
  return rowsIn("functions");
};
const inclusive = (await sorted("Inclusive")).map((row) => leading(row.cells[2].trim() || "0"));
expect(inclusive.every((value, at) => at === 0 || value <= inclusive[at - 1]), `sorted by inclusive cost: ${inclusive}`);
const names = (await sorted("Function")).map((row) => row.cells[4]);
expect(names.every((value, at) => at === 0 || value >= names[at - 1]), `sorted by name: ${names}`);
await sorted("Own");
await shot("functions");
// Events are shown one at a time; those who compare know all samples together.
const costs = await page.evaluate(() => {
  const rows = new Map(), { events } = profile.tables.head;
  for (let event = 0; event < events.length; event++) {
    profile.change({ event }, true);
    const { own, total } = profile.model.functionCosts();
    for (let f = 0; f < profile.model.functions; f++) {
      const row = rows.get(f) || [0, 0];
      rows.set(f, [row[0] + own[f], row[1] + total[f]]);
    }
  }
  profile.change({ event: -1 }, true);
  return [...rows].filter(([, row]) => row[1] > 0).map(([f, row]) => [...row, profile.model.name(f)]);
});
for (const [own, total, called] of costs) console.log(`${own}\t${total}\t${called}`);
await page.focus("#view-functions .rows");
await key("End", "Home", "PageDown", "PageUp", "Enter");
same((await state()).view, "sandwich", "Enter opens a function");

step("modules and files");
await tab("modules");
await shot("modules");
await page.focus("#view-modules .rows");
await key("Home", "Enter");
same(await kinds(), ["module"], "Enter looks at a module alone");
await key("Backspace");
await tab("files");
await page.locator("#view-files [data-index]").first().click();
expect(/opened/.test(await text("#view-files .status")), "what was opened is told");
await shot("files");

step("source");
await tab("source");
const lines = await page.$$eval("#view-source .rows", (all) => all.map((one) => one.querySelectorAll("[data-index]").length));
expect(lines[0] > 0, "a function has lines");
await shot("source");

step("heat map");
await tab("heat");
const heat = await page.locator("#view-heat canvas").boundingBox();
const spanned = await page.evaluate(() => profile.tables.span > 0);
const cells = await page.evaluate(() => document.querySelector("#view-heat .note").textContent);
expect(/A column is .*, a cell/.test(cells), "the cells are explained");
await page.mouse.click(heat.x + 2, heat.y + heat.height / 2);
same(await kinds(), ["time"], "a click chooses a cell");
await key("Backspace");
const drag = async (from, to, modifier) => {
  if (modifier) await page.keyboard.down(modifier);
  await page.mouse.move(heat.x + from, heat.y + heat.height / 3);
  await page.mouse.down();
  await page.mouse.move(heat.x + (from + to) / 2, heat.y + heat.height / 2);
  await page.mouse.move(heat.x + to, heat.y + heat.height / 3);
  await page.mouse.up();
  if (modifier) await page.keyboard.up(modifier);
};
if (spanned) {
  const width = await page.evaluate(() => Number(document.querySelector("#view-heat canvas").dataset.columnsWidth));
  await drag(2, width / 2 - 2);
  same(await kinds(), ["time"], "dragging chooses a range");
  await shot("heat");
  step("comparison");
  await drag(width / 2 + 4, width - 4, "Control");
  same((await state()).view, "compare", "dragging with Ctrl chooses a baseline and compares");
  expect((await rowsIn("compare")).length > 0, "functions are compared");
  for (const side of ["before", "after", "both"]) {
    await page.click(`#view-compare [data-side=${side}]`);
    same((await state()).side, side, `widths are of ${side}`);
  }
  await shot("compare");
  await accessible("the comparison");
  await page.click("#view-compare button:has-text('End')");
  same((await state()).base, null, "the comparison ends");
}
await clear();
await tab("heat");
await page.focus("#view-heat canvas");
await key("ArrowUp", "ArrowRight", "Shift+ArrowUp", "Enter");
same(await kinds(), ["time"], "keys choose cells");
await page.focus("#view-heat canvas");
await key("b");
expect((await state()).base !== null, "b makes them the baseline");
await clear();

step("time order");
await tab("order");
const order = await page.locator("#view-order canvas").boundingBox();
await page.focus("#view-order canvas");
await key("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "Enter");
same(await kinds(), ["time"], "Enter looks at the time of a stack");
await clear();
await page.mouse.move(order.x + 20, order.y + 60);
await page.mouse.down();
await page.mouse.move(order.x + order.width / 2, order.y + 60);
await page.mouse.up();
same(await kinds(), ["time"], "dragging looks closer");
await clear();
await shot("order");

step("timeline");
const lane = await page.locator(".lane canvas").first().boundingBox();
await page.mouse.move(lane.x + 1, lane.y + 8);
await page.mouse.down();
await page.mouse.move(lane.x + lane.width / 2, lane.y + 8);
expect(/^[\d.]+ s$/.test(await text("#under")), "the time under the mouse is told");
await page.mouse.up();
same(await kinds(), ["time"], "dragging over a lane chooses a time");
if (spanned) expect(leading(await text("#selected")) < samples, "half of the time has fewer samples");
await page.fill("#to", "");
await page.fill("#from", "0");
await page.locator("#from").press("Enter");
same(leading(await text("#selected")), samples, "times can be typed");
await page.click("#everything");
if (threads > 1) {
  await page.locator(".lane button.pick").nth(1).click();
  same(await kinds(), ["threads"], "a lane's name chooses its threads");
  expect(leading(await text("#selected")) <= samples, "which have no more samples");
  await page.locator(".lane button.pick").first().click();
  same(await kinds(), [], "that of all chooses all");
  await page.locator(".lane button.pick").nth(1).press("m");
  await page.locator("#menu button", { hasText: "Hide" }).click();
  same(await kinds(), ["notThreads"], "a lane's menu hides it");
  await clear();
}
await page.locator(".lane button.pick").first().press("t");
same(await kinds(), ["threads"], "t looks at the lane's threads");
await clear();
await page.click("#fold");
expect(!(await page.isVisible("#lanes")), "the timeline folds");
await page.click("#fold");

step("tools");
await tab("flame");
for (const [id, values] of [["group", ["process", "thread", "comm", "event", "none"]], ["truncated", ["together", "hidden", "apart"]]]) {
  for (const value of values) {
    await page.selectOption(`#${id}`, value);
    same((await state())[id], value, `${id} is ${value}`);
    expect((await page.evaluate(() => profile.costs.allN)) === samples || value === "hidden", `${value} loses no sample`);
    if (value === "thread") await shot("grouped");
  }
}
if (await page.isVisible("#weight")) {
  await page.selectOption("#weight", "period");
  for (const id of ["functions", "topdown", "modules"]) {
    await tab(id);
    const cut = await page.$$eval(`#view-${id} .cell.number`, (all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
    same(cut, [], `periods are whole in ${id}`);
  }
  await page.selectOption("#weight", "samples");
}
if (await page.isVisible("#event")) {
  const values = await page.$$eval("#event option", (all) => all.map((one) => one.value));
  for (const value of values) {
    await page.selectOption("#event", value);
    expect(leading(await text("#selected")) > 0, "every event that is offered has samples");
  }
  await page.selectOption("#event", values[0]);
}
await page.evaluate(() => document.activeElement.blur());
await key("?");
expect(await page.isVisible("#keys"), "? shows the keys");
await key("Escape");
for (const [at, id] of ["overview", "flame", "icicle", "sandwich", "topdown", "bottomup", "functions", "modules", "heat", "order"].entries()) {
  await key(String((at + 1) % 10));
  same((await state()).view, id, "digits choose views");
}
await page.focus("#tab-order");
await key("ArrowRight", "ArrowLeft", "Home", "End");
same((await state()).view, "files", "arrow keys go from tab to tab");

for (const theme of ["light", "dark"]) {
  step(`${theme}: accessibility`);
  if ((await page.getAttribute("html", "data-theme")) !== theme) await page.click("#theme");
  for (const id of ["overview", "flame", "icicle", "sandwich", "topdown", "bottomup", "functions", "modules", "heat", "order", "source", "files"]) {
    await tab(id);
    await accessible(`${id}, ${theme}`);
    if (theme === "dark") await shot(`${id}-dark`);
  }
}
await page.reload();
await ready(page);
same(await page.getAttribute("html", "data-theme"), "dark", "the theme is kept");
await page.context().close();

step("400 %");
const zoomed = await opened({ viewport: { width: 350, height: 215 }, deviceScaleFactor: 4 }, "#view=flame");
for (const id of ["overview", "flame", "sandwich", "topdown", "functions", "heat", "order", "source", "files"]) {
  await zoomed.click(`#tab-${id}`);
  const over = await zoomed.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(over <= 1, `at 400 % ${id} needs no scrolling to the side: ${over}`);
}
await zoomed.click("#tab-flame");
expect((await zoomed.locator("#view-flame canvas").boundingBox()).height > 80, "at 400 % the graph has room");
expect(await zoomed.evaluate(() => { const canvas = document.querySelector("#view-flame canvas"); return canvas.width >= 4 * canvas.clientWidth - 4; }), "it is sharp");
if (shots) await zoomed.screenshot({ path: `${shots}/zoomed.png` });
await zoomed.context().close();

step("touch");
const touched = await opened({ hasTouch: true, viewport: { width: 800, height: 1000 } }, "#view=flame");
const box = await touched.locator("#view-flame canvas").boundingBox();
await touched.touchscreen.tap(box.x + box.width / 3, box.y + box.height - 28);
expect(/inclusive/.test(await touched.textContent("#tip")), "a touch tells");
await touched.touchscreen.tap(box.x + box.width / 3, box.y + box.height - 28);
same(await touched.evaluate(() => profile.state.zoom.length), 1, "the second one zooms");
await touched.context().close();

await browser.close();
console.error(`done after ${Date.now() - begun} ms`);
if (wrong.length) {
  console.error(wrong.join("\n"));
  process.exit(1);
}
