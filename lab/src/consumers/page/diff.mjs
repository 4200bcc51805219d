// Opens the page of a difference and uses it: every view, gesture and key, in light and dark, at 400 %. Its numbers
// must be those of the JSON. Usage: node diff.mjs PAGE JSON [SCREENSHOTS]. Prints the number of marked functions.
import { readFileSync } from "node:fs";
import { hands, start } from "./harness.mjs";

const [file, json, shots] = process.argv.slice(2), tools = await start(file, shots), told = JSON.parse(readFileSync(json, "utf8"));
const page = await tools.opened({}), ours = hands(tools, page);
const { expect, same, step, state, key, tab, rowsIn, chips, kinds, shot, clear, accessible, looks, text } = ours;

step("numbers");
const rows = await page.evaluate(() => profile.model.functionRows.filter((row) => row.key < profile.model.functions));
const known = new Map(rows.map((row) => [row.key, row]));
const near = (is, should) => (Number.isNaN(is) || is === null) && should === null || Math.abs(is - should) <= 1e-9 * Math.max(1e-12, Math.abs(should));
const reasons = await page.evaluate(() => Array.from({ length: profile.model.functions }, (_, f) => profile.model.notCompared(f)));
same(reasons.map((reason) => reason > 0), told.functions.map((row) => row.not_compared !== undefined), "the same functions are compared");
told.functions.forEach((row, f) => {
  for (const [which, name] of [["own", "own"], ["total", "inclusive"]]) {
    const expected = row[name], found = known.get(f)?.[which];
    if (!found) { expect(expected.before.samples + expected.after.samples === 0, `${row.name} is there`); continue; }
    same(found.n, [expected.before.samples, expected.after.samples], `samples of ${row.name}`);
    const parts = [[found.before, expected.before.value], [found.after, expected.after.value], [found.delta, expected.delta]];
    // The JSON has no statistics of functions that are not compared, and the page shows none.
    if (!row.not_compared) parts.push([found.low, expected.low], [found.high, expected.high], [found.p, expected.p]);
    expect(parts.every(([is, should]) => near(is, should)), `${name} cost of ${row.name}: ${JSON.stringify(parts)}`);
    same(found.marked, expected.marked, `whether the ${name} cost of ${row.name} is marked`);
  }
});
same(await page.evaluate(() => profile.model.tested), [told.tested.own, told.tested.inclusive], "as many are tested");
const sums = await page.evaluate(() => ["before", "after"].map((side) => profile.model.functionRows.reduce((sum, row) => sum + row.own[side], 0)));
expect(near(sums[0], told.total.before.value) && near(sums[1], told.total.after.value), `own costs sum up to all: ${sums}`);
const marked = told.functions.filter((row) => row.own.marked).length;
console.log(marked);

step("overview");
expect((await text("#view-overview")).includes(told.before.recordings[0].name), "the recordings are named");
for (const note of told.notes) expect((await text("#view-overview")).includes(note.message), `it is told: ${note.message}`);
await shot("diff-overview");
if (marked) {
  await page.locator("#view-overview .changes button").first().click();
  same((await state()).view, "sandwich", "a function of the overview opens both sides");
  await page.goBack();
}

for (const id of ["flame", "icicle"]) {
  step(id);
  await tab(id);
  const canvas = `#view-${id} canvas`, inwards = id === "flame" ? "ArrowUp" : "ArrowDown";
  for (const side of ["before", "after", "both"]) {
    await page.click(`#view-${id} [data-side=${side}]`);
    same((await state()).side, side, `widths are of ${side}`);
    same(await page.getAttribute(`#view-${id} [data-side=${side}]`, "aria-pressed"), "true", `the button of ${side} is pressed`);
  }
  await page.focus(canvas);
  await key("Home", inwards, "Enter");
  same((await state()).zoom.length, 1, "Enter zooms");
  expect(/before .* samples/.test(await text(`#view-${id} .status`)), "both costs are told");
  await key("Escape");
  same((await state()).zoom, [], "Escape zooms out");
  const area = await ours.box(canvas), y = id === "flame" ? area.y + area.height - 28 : area.y + 28;
  await page.mouse.move(area.x + area.width / 3, y);
  expect(/difference/.test(await text("#tip")), `what is under the mouse is told: ${await text("#tip")}`);
  await shot(`diff-${id}`);
  await page.mouse.click(area.x + area.width / 3, y);
  same((await state()).zoom, [], "a click does not zoom");
  expect(/before .* samples/.test(await text(`#view-${id} .status`)), "it selects");
  await page.mouse.dblclick(area.x + area.width / 3, y);
  same((await state()).zoom.length, 1, "a double click zooms one level");
  await key("Escape");
  await page.mouse.move(5, 5);
  await page.mouse.click(area.x + area.width / 3, y, { button: "right" });
  await accessible("the menu");
  await page.locator("#menu button", { hasText: "Only stacks with it" }).click();
  same(await kinds(), ["keep"], "the menu filters");
  await page.evaluate(() => document.activeElement.blur());
  await key("Backspace");
  for (const [one, kind] of [["f", "focus"], ["o", "keep"], ["h", "hide"], ["u", "charge"], ["i", "fold"], ["r", "recursion"], ["R", "recursion"], ["G", "merge"], ["x", "drop"]]) {
    await page.focus(canvas);
    await key("Home", inwards, one);
    same(await kinds(), [kind], `the key ${one}`);
    same((await chips()).length, 1, "it has a chip");
    expect(await page.evaluate(() => profile.compared.all.before) <= told.total.before.value * (1 + 1e-12), `${one} leaves no more`);
    await page.locator("#chips .chip button").click();
  }
}

step("functions");
await tab("functions");
const cells = async (column) => {
  if (column !== undefined) await page.locator("#view-functions .head button").nth(column).click();
  return (await rowsIn("functions")).map((row) => row.cells);
};
const own = await cells(1), total = await cells(2), names = await cells(0);
const first = (list) => list.findIndex((row) => !row[0]);
for (const list of [own, total]) expect(first(list) < 0 || list.slice(first(list)).every((row) => !row[0]), "marked ones come first");
expect(names.every((row, at) => at === 0 || row[1] >= names[at - 1][1]), "sorted by name");
await cells(1);
const cut = await page.$$eval("#view-functions .cell.number", (all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
same(cut, [], "costs are whole");
await shot("diff-functions");
if (own.length) {
  await page.focus("#view-functions .rows");
  await key("End", "Home", "Enter");
  same((await state()).view, "sandwich", "Enter shows both sides");
}

step("both sides");
await tab("sandwich");
expect((await page.evaluate(() => [...document.querySelectorAll("#view-sandwich canvas")].filter((one) => one.height > 20).length)) === 4, "callers and callees of both sides are drawn");
for (let at = 0; at < 4; at++) {
  await page.locator("#view-sandwich canvas").nth(at).focus();
  await key("ArrowUp", "ArrowDown", "Enter", "Escape");
}
await shot("diff-sides");

step("modules");
await tab("modules");
await shot("diff-modules");
if ((await rowsIn("modules")).length) {
  await page.focus("#view-modules .rows");
  await key("Home", "Enter");
  same(await kinds(), ["module"], "Enter looks at a module alone");
}
await clear();

step("search, link, keys");
await tab("flame");
await key("/");
await page.keyboard.type("a");
await page.waitForFunction(() => document.getElementById("matched").textContent.includes("match"));
await key("Enter", "Shift+Enter");
await clear();
await page.focus("#view-flame canvas");
await key("Home", "ArrowUp", "f");
await page.selectOption("#names", "full");
await page.focus("#view-flame canvas");
await key("Home");
const link = await page.evaluate(() => location.hash), before = [await chips(), await text("#view-flame .status")];
await page.reload();
await tools.ready(page);
same([await chips(), await text("#view-flame .status"), await page.evaluate(() => location.hash)], [...before, link], "a reload restores what was looked at");
await clear();
await page.evaluate(() => document.activeElement.blur());
await key("?");
expect(await page.isVisible("#keys"), "? shows the keys");
await key("Escape");
const views = ["overview", "flame", "icicle", "sandwich", "functions", "modules"];
for (const [at, id] of views.entries()) {
  await key(String(at + 1));
  same((await state()).view, id, "digits choose views");
}
await looks(views);
step("export");
await tab("flame");
for (const [label, ending] of [["SVG", ".svg"], ["Folded stacks", ".folded"], ["pprof profile", ".pb.gz"]]) {
  await page.click("#export");
  const waiting = page.waitForEvent("download");
  await page.locator("#menu button", { hasText: label }).click();
  const download = await waiting, bytes = readFileSync(await download.path());
  expect(download.suggestedFilename().endsWith(ending) && bytes.length > 60, `${label} is exported`);
  if (label.startsWith("Folded")) expect(bytes.toString().trimEnd().split("\n").every((line) => / \d+ \d+$/.test(line)), "each stack has both costs");
}
await page.context().close();

step("400 %");
const zoomed = await tools.opened({ viewport: { width: 350, height: 215 }, deviceScaleFactor: 4 }, "#view=flame");
for (const id of views) {
  await zoomed.click(`#tab-${id}`);
  const over = await zoomed.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(over <= 1, `at 400 % ${id} needs no scrolling to the side: ${over}`);
}
await zoomed.context().close();
await tools.finish();
