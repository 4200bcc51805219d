// Names in a page, and links that name functions: short names, texts cut in the middle, undo, and a link from the page
// of one recording on that of another. Usage: node names.mjs PAGE OTHER. Prints the number of names that are shortened.
import { hands, start } from "./harness.mjs";

const [file, other] = process.argv.slice(2), tools = await start(file), page = await tools.opened({}, "#view=functions"), ours = hands(tools, page);
const { expect, same, step, key, tab, chips, kinds, text, state, clear } = ours;

step("short names");
same(await page.inputValue("#names"), "short", "names are short at first");
const names = await page.evaluate(() => Array.from({ length: profile.model.functions }, (_, f) => [profile.model.named.functions[f][0], profile.model.name(f), profile.label(f)]));
const labels = new Map();
for (const [name, full, label] of names) {
  expect(label.length > 0 && label.length <= full.length, `${full} is shown as ${label}`);
  const known = labels.get(label) ?? [name, full];
  expect(known[0] === name || known[1] === full, `${full} and ${known[1]} are both shown as ${label}`);
  labels.set(label, [name, full]);
}
const shortened = names.filter(([, full, label]) => full !== label);
console.log(shortened.length);
const cells = () => page.$$eval("#view-functions .cell.name", (all) => all.slice(1).map((cell) => [cell.title, cell.textContent]));
const of = new Map(names.map(([, full, label]) => [full, label]));
// Rows of truncated stacks and groups stand for no function.
for (const [full, shown] of await cells()) if (of.has(full)) same(shown, of.get(full), `the row of ${full}`);
await page.selectOption("#names", "full");
for (const [full, shown] of await cells()) same(shown, full, "names in full");
expect(page.url().includes("names=full"), "the address says that names are full");
await page.selectOption("#names", "short");
if (shortened.length) {
  // Both the shown and the whole name are found.
  const [, full, label] = shortened.sort((a, b) => b[2].length - a[2].length)[0];
  for (const wanted of [full, label]) {
    await page.fill("#search", wanted);
    await page.waitForFunction((wanted) => profile.state.search === wanted, wanted.trim());
    expect(await page.evaluate((full) => profile.found.hits[profile.model.names.indexOf(full)] === 1, full), `${wanted} is found`);
  }
  await page.fill("#search", "");
  await page.waitForFunction(() => profile.state.search === "");
  await page.evaluate((full) => profile.change({ view: "sandwich", func: profile.model.names.indexOf(full) }), full);
  expect((await text("#view-sandwich h3")).startsWith(label), "the heading has the short name");
  expect(full.length > 400 || (await text("#view-sandwich .note")) === full, "the whole name is below it");
  await page.evaluate(() => profile.change({ view: "functions", func: -1 }));
}

step("cut in the middle");
await page.setViewportSize({ width: 900, height: 700 });
await page.waitForTimeout(200);
const cut = await page.$$eval("#view-functions .cell:has(.cut)", (all) => all.map((cell) => ({ whole: cell.textContent, head: cell.querySelector(".cut-head").textContent, gap: cell.querySelector(".cut").getBoundingClientRect().width, over: cell.scrollWidth - cell.clientWidth })));
for (const { whole, head, gap, over } of cut) {
  expect(of.has(whole) || [...of.values()].includes(whole) || whole.includes("/") || !whole.includes("…"), `the whole text stays: ${whole}`);
  expect(whole.startsWith(head) && gap < 0.1 && over <= 0, `${whole} is cut inside: ${head}, ${gap}, ${over}`);
}
if (cut.length) {
  const copied = await page.evaluate(() => { const cell = document.querySelector("#view-functions .cell:has(.cut)"); getSelection().selectAllChildren(cell); return [getSelection().toString(), cell.textContent]; });
  same(copied[0], copied[1], "a copy has the whole text");
  const { nodes } = await (await page.context().newCDPSession(page)).send("Accessibility.getFullAXTree");
  expect(nodes.some((node) => node.role?.value === "gridcell" && node.name?.value === copied[1]), `a screen reader reads the whole text: ${copied[1]}`);
}
await page.setViewportSize({ width: 1400, height: 860 });

step("undo");
await tab("flame");
await page.focus("#view-flame canvas");
await key("Home", "ArrowUp", "o");
await page.selectOption("#names", "full");
await page.selectOption("#group", "process");
await page.selectOption("#colour", "kind");
await page.evaluate(() => document.activeElement.blur());
await key("Backspace");
const after = await state();
same([after.filters, after.names, after.group, after.colour], [[], "full", "process", "kind"], "undo takes back the filter only");
expect(!(await page.isVisible("#undo")), "there is nothing more to undo");
for (const [id, value] of [["names", "short"], ["group", "none"], ["colour", "module"]]) await page.selectOption(`#${id}`, value);

step("a link in another page");
const path = await page.evaluate(() => {
  const { tree, total } = profile.model.picture([]), at = total.reduce((best, cost, node) => cost > total[best] && profile.model.names.filter((name) => name === profile.model.name(tree.func[node])).length === 1 ? node : best, 0);
  const steps = [];
  for (let node = at; node < tree.n; node = tree.parent[node]) steps.unshift(tree.func[node]);
  profile.change({ view: "flame", filters: [{ kind: "keep", at: tree.func[at] }, { kind: "module", at: profile.model.moduleOf()[tree.func[at]] }], func: tree.func[at] });
  profile.change({ zoom: steps.slice(0, 1) });
  return steps.map((f) => profile.model.name(f));
});
const link = await page.evaluate(() => location.hash), shown = await chips();
expect(!/=\d|:\d/.test(link.replace(/[\w.]+\+0x|\d+%/g, "")), `the link has names: ${link}`);
const second = await start(other), there = await second.opened({}, link), theirs = hands(second, there);
const named = await there.evaluate(() => [profile.state.zoom, profile.state.filters.slice(0, 1).map((filter) => filter.at), [profile.state.func]].map((list) => list.map((f) => profile.model.name(f))));
const last = path[path.length - 1];
second.same(named, [path.slice(0, 1), [last], [last]], "the link of one recording in the page of another");
second.same(await theirs.chips(), shown, "the chips of the link");
expect(!(await there.isVisible("#notice")), "nothing is missing");
await there.evaluate(() => { location.hash = "#view=flame&filter=keep:no+such+function&filter=recursion"; });
await there.waitForFunction(() => !document.getElementById("notice").hidden);
second.same(await theirs.text("#notice"), "This recording has no function no such function; the link's filter is omitted.", "what is missing is reported");
second.same((await theirs.state()).filters, [{ kind: "recursion" }], "the rest of the link holds");
await theirs.accessible("the notice");
await there.click("#everything");
expect(!(await there.isVisible("#notice")), "the report goes with the next step");
await second.finish();

step("a link with numbers");
const f = await page.evaluate((name) => profile.model.names.indexOf(name), last);
await page.evaluate((f) => { location.hash = `#view=flame&filter=keep:${f}&func=${f}`; }, f);
await page.waitForFunction((f) => profile.state.func === f, f);
same(await kinds(), ["keep"], "an older link still works");
await clear();
await tools.finish();
