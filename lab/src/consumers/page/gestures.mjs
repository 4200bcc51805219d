// Gestures on graphs and trees, the search outside of the zoomed part, export, and the copied link.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** Positions on the graph of the flame graph: the middle of the widest frame of a row, and its path of functions. */
const frameAt = (page, depth) => page.evaluate((depth) => {
  const canvas = document.querySelector("#view-flame canvas"), area = canvas.getBoundingClientRect(), { model, state } = profile;
  const picture = model.picture(state.zoom), way = [];
  let node = 0xffffffff, left = area.left, width = area.width;
  for (let at = 0; at < depth; at++) {
    const all = [...picture.total.keys()].filter((one) => picture.tree.parent[one] === node && picture.total[one] > 0).sort((a, b) => picture.tree.func[a] - picture.tree.func[b] || a - b);
    if (!all.length) break;
    const whole = node === 0xffffffff ? picture.all : picture.total[node], widest = all.reduce((most, one) => picture.total[one] > picture.total[most] ? one : most);
    for (const one of all) {
      if (one === widest) break;
      left += width * picture.total[one] / whole;
    }
    width *= picture.total[widest] / whole;
    node = widest;
    way.push(picture.tree.func[node]);
  }
  return { x: left + width / 2, y: area.bottom - 19 * way.length - 9, way, name: model.name(way.at(-1)) };
}, depth);

/** Checks the mouse and the keys on the flame graph. */
export async function flameGestures(hands) {
  const { page, expect, same, step, text, state, key, tab, kinds, clear, shot } = hands;
  step("gestures: mouse");
  await clear();
  await tab("flame");
  const status = () => text("#view-flame .status"), zoom = async () => (await state()).zoom, out = () => page.evaluate(() => profile.change({ zoom: [] }));
  const frame = await frameAt(page, 2), outer = await frameAt(page, 1);
  await page.mouse.click(frame.x, frame.y);
  same(await zoom(), [], "a click does not zoom");
  expect((await status()).startsWith(frame.name), `a click selects: ${await status()}`);
  await page.mouse.move(5, 5);
  expect((await status()).startsWith(frame.name) && !(await page.isVisible("#tip")), "the description stays when the mouse leaves");
  await shot("selected");
  await page.mouse.dblclick(frame.x, frame.y);
  same(await zoom(), frame.way, "a double click zooms to the frame, not further");
  await out();
  await page.mouse.click(outer.x, outer.y);
  await page.mouse.move(frame.x, frame.y);
  await key("Enter");
  same(await zoom(), frame.way, "Enter zooms to the frame under the mouse, not to the selected one");
  await key("Escape");
  same(await zoom(), frame.way.slice(0, -1), "Escape zooms out one level");
  await out();
  for (const kind of ["single", "double"]) {
    for (let at = 0; at < (kind === "double" ? 2 : 1); at++) {
      await page.mouse.move(frame.x, frame.y);
      await page.mouse.down({ clickCount: at + 1 });
      await page.mouse.move(frame.x + 30, frame.y, { steps: 4 });
      await page.mouse.up({ clickCount: at + 1 });
    }
    same(await zoom(), [], `a ${kind} drag does not zoom`);
  }

  step("gestures: keys on the frame under the mouse");
  // Goes to a function: stacks may be below other frames.
  const inwards = async () => {
    await key("Home", "ArrowUp");
    for (let at = 0; at < 12 && !/ in [^ ]*\//.test(await status()); at++) await key("ArrowUp");
  };
  const menuKey = async (one, kind) => {
    await key(one);
    same((await kinds()).at(-1), kind, `the key ${one}`);
  };
  await page.mouse.move(5, 5);
  await page.mouse.click(outer.x, outer.y);
  await page.mouse.move(frame.x, frame.y);
  await page.focus("#tab-flame");
  await menuKey("o", "keep");
  same((await state()).filters[0].at, frame.way.at(-1), "it acts on the frame under the mouse");
  await clear();
  await page.mouse.move(5, 5);
  await page.focus("#tab-flame");
  await key("ArrowDown");
  await inwards();
  const first = (await status()).split(" · ")[0];
  await page.focus("#tab-flame");
  await menuKey("o", "keep");
  same(await page.evaluate(() => profile.model.name(profile.state.filters[0].at)), first, "without one, on the selected frame");
  await clear();
  // After a function is hidden, further keys work: on the frame under the mouse, and on the selected one.
  const again = await frameAt(page, 2);
  await page.mouse.move(again.x, again.y);
  await menuKey("h", "hide");
  await menuKey("R", "recursion");
  await clear();
  await page.mouse.move(5, 5);
  await page.focus("#view-flame canvas");
  await inwards();
  await key("ArrowUp");
  await menuKey("h", "hide");
  await menuKey("R", "recursion");
  await inwards();
  await menuKey("x", "drop");
  await clear();
}

/** Checks focus, keys and the hot path of the trees. */
export async function treeGestures({ page, expect, same, step, state, key, tab, rowsIn, clear }) {
  step("gestures: trees");
  for (const id of ["topdown", "bottomup"]) {
    await page.evaluate(() => profile.refresh());
    await tab(id);
    const rows = await rowsIn(id), open = rows.filter((row) => row.open === "true");
    same(rows[0].open, "true", `the hot path of ${id} is open`);
    same(open.map((row) => row.level), open.map((_, at) => at + 1), "it is one path");
    same(await page.evaluate(() => document.activeElement.id), `tab-${id}`, "the focus is on the tab");
    // Without the hot path, e opens it again at once.
    await page.evaluate((id) => document.querySelector(`#view-${id} [data-index="0"]`).click(), id);
    same((await rowsIn(id))[0].open, "false", "a click closes it");
    await page.evaluate(() => profile.refresh());
    same((await rowsIn(id))[0].open, "false", "and it stays closed");
    await page.focus(`#tab-${id}`);
    await key("e");
    same((await rowsIn(id))[0].open, "true", "e works on the tab");
    for (const enter of ["ArrowDown", "Enter"]) {
      await page.focus(`#tab-${id}`);
      await key(enter);
      same(await page.evaluate(() => document.activeElement.className), "rows", `${enter} goes into the rows`);
    }
    await key("Home", "ArrowLeft");
    same((await rowsIn(id))[0].open, "false", "← closes a row");
    await key("ArrowRight");
    same((await rowsIn(id))[0].open, "true", "→ opens it");
  }
  await key("2");
  same([(await state()).view, await page.evaluate(() => document.activeElement.id)], ["flame", "tab-flame"], "a digit opens a view, with the focus on its tab");
  await key("ArrowRight");
  same([(await state()).view, await page.evaluate(() => document.activeElement.id)], ["icicle", "tab-icicle"], "arrow keys go from there");
  await clear();
}

/** Checks matches outside of the zoomed part. */
export async function outsideMatches({ page, expect, same, step, text, state, key, tab, clear }) {
  step("gestures: matches outside");
  await tab("flame");
  // A function with a frame outside of the path and the subtree of some other frame.
  const pair = await page.evaluate(() => {
    const { tree, total, all } = profile.model.picture([]), wayTo = (node) => node === 0xffffffff ? [] : [...wayTo(tree.parent[node]), tree.func[node]];
    const wide = [...total.keys()].filter((node) => total[node] > all / 50);
    for (const one of wide) for (const other of wide) {
      if (tree.parent[one] === tree.parent[other] && one !== other && tree.func[one] !== tree.func[other] && profile.model.name(tree.func[other]).length > 3) return { zoom: wayTo(one), name: profile.model.name(tree.func[other]) };
    }
    return null;
  });
  if (!pair) return;
  await page.evaluate(({ zoom, name }) => profile.change({ zoom, search: name }), pair);
  const told = await text("#matched"), count = /; ([\d,]+) more match(es)? outside the zoomed part$/.exec(told);
  expect(count && Number(count[1]) > 0, `matches outside are counted: ${told}`);
  await page.focus("#search");
  for (let at = 0; at < 2000 && (await state()).zoom.length; at++) await key("Enter");
  same((await state()).zoom, [], "next zooms out to them");
  expect((await text("#view-flame .status")).includes(pair.name), "and selects one");
  expect(!/outside/.test(await text("#matched")), "nothing is outside then");
  await page.fill("#search", "/(/");
  await page.waitForFunction(() => document.getElementById("matched").textContent === "not a valid pattern");
  await page.fill("#search", "");
  await clear();
}

/** Exports the open view by an entry of the menu; returns the file's name and bytes. */
async function exported({ page, accessible }, label) {
  await page.click("#export");
  if (label === "SVG") await accessible("the export menu");
  const waiting = page.waitForEvent("download");
  await page.locator("#menu button", { hasText: label }).click();
  const download = await waiting;
  return { name: download.suggestedFilename(), path: await download.path() };
}

/** Checks the exported files, and the copied link. */
export async function files(hands) {
  const { page, expect, same, step, tab, text, clear, state } = hands;
  step("export");
  await clear();
  await tab("flame");
  await page.evaluate(() => { const { own } = profile.model.functionCosts(); profile.addFilter({ kind: "keep", at: own.subarray(0, profile.model.functions).reduce((best, cost, f) => cost > own[best] ? f : best, 0) }); });
  const facts = await page.evaluate(() => {
    const { own } = profile.model.functionCosts(), f = profile.state.filters[0].at;
    return { name: profile.model.name(f), label: profile.label(f), chip: profile.filterName(profile.state.filters[0]), own: own[f], sum: own.reduce((sum, cost) => sum + cost, 0), all: profile.costs.all, height: document.querySelector("#view-flame .space").offsetHeight };
  });
  const base = await page.evaluate(() => decodeURIComponent(location.pathname.split("/").at(-1)).replace(/\.html$/, ""));
  const svg = await exported(hands, "SVG"), picture = readFileSync(svg.path, "utf8");
  same(svg.name, `${base}.svg`, "the file has the page's name");
  const texts = await page.evaluate((xml) => {
    const made = new DOMParser().parseFromString(xml, "image/svg+xml");
    return { wrong: made.querySelector("parsererror")?.textContent ?? "", titles: [...made.querySelectorAll("g > title")].map((one) => one.textContent.split("\n")[0]), lines: [...made.querySelectorAll("text")].map((one) => one.textContent), height: Number(made.documentElement.getAttribute("height")) };
  }, picture);
  same(texts.wrong, "", "the SVG is XML");
  expect(texts.titles.includes(facts.name), `the SVG has the function ${facts.name}`);
  expect(texts.lines[1].includes(facts.chip.slice(0, 20)), `and the filters: ${texts.lines[1]}`);
  same(texts.lines[0].replace(/…$/, "") === (await page.title()).slice(0, texts.lines[0].replace(/…$/, "").length), true, "and the title");
  const depth = await page.evaluate(() => { const { tree, total, all } = profile.model.picture([]), width = document.querySelector("#view-flame canvas").clientWidth; let most = 0; const deep = []; for (let i = 0; i < tree.n; i++) { deep[i] = tree.parent[i] === 0xffffffff ? 1 : deep[tree.parent[i]] + 1; if (total[i] * width / all >= 0.5) most = Math.max(most, deep[i]); } return most; });
  expect(texts.height >= 19 * (depth + 1), `it has its whole height: ${texts.height} for ${depth} rows`);
  const png = await exported(hands, "PNG"), bytes = readFileSync(png.path);
  same([png.name, bytes.subarray(1, 4).toString()], [`${base}.png`, "PNG"], "the PNG is one");
  same([bytes.readUInt32BE(16), bytes.readUInt32BE(20)].map((size) => size > 100), [true, true], "it has a size");
  const folded = await exported(hands, "Folded stacks"), lines = readFileSync(folded.path, "utf8").trimEnd().split("\n");
  const costs = lines.map((line) => Number(line.slice(line.lastIndexOf(" ") + 1))), leaf = facts.name.replaceAll(";", ":");
  const bare = lines.reduce((sum, line, at) => sum + (line.startsWith("[no frames] ") ? costs[at] : 0), 0);
  same([folded.name, costs.reduce((sum, cost) => sum + cost, 0) - bare], [`${base}.folded`, facts.sum], "folded stacks have the table's sum");
  same(lines.reduce((sum, line, at) => sum + (line.slice(0, line.lastIndexOf(" ")).split(";").at(-1) === leaf ? costs[at] : 0), 0), facts.own, "and the function's own cost");
  const pprof = await exported(hands, "pprof profile");
  same(pprof.name, `${base}.pb.gz`, "the profile has the ending of pprof");
  expect(gunzipSync(readFileSync(pprof.path)).includes(Buffer.from(facts.name)), "it has the function's name");
  const top = goTool(["tool", "pprof", "-top", "-functions", "-symbolize=none", "-sample_index=samples", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", pprof.path]);
  if (top !== null) {
    const total = Number(/ of ([\d.]+) total/.exec(top)?.[1]), row = top.slice(top.indexOf("flat%")).split("\n").find((line) => line.replace(/ \((partial-)?inline\)$/, "").endsWith(` ${facts.name}`));
    same([total, Number(row?.trim().split(/\s+/)[0])], [facts.all, facts.own], `go tool pprof reads it: ${top.slice(0, 300)}`);
  }
  for (const id of ["sandwich", "topdown"]) {
    await tab(id);
    await page.click("#export");
    same(await page.locator("#menu button", { hasText: "SVG" }).count(), id === "sandwich" ? 1 : 0, `pictures of ${id}`);
    await page.keyboard.press("Escape");
  }
  same(await page.evaluate(() => document.activeElement.id), "export", "Escape goes back to the button");

  step("copy link");
  await tab("flame");
  const link = await page.evaluate(() => location.href);
  await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }; });
  await page.click("#copy-link");
  await page.waitForFunction(() => document.getElementById("said").textContent !== "");
  same(await text("#said"), "Link copied. It opens this file; its part from # on also fits pages of other recordings.", "it says so");
  same(await page.evaluate(() => globalThis.copied), link, "the link has the state");
  await page.evaluate(() => { navigator.clipboard.writeText = async () => { throw new Error("not allowed"); }; document.execCommand = () => false; });
  await page.click("#copy-link");
  await page.waitForFunction(() => document.getElementById("said").textContent.startsWith("Press Ctrl+C"));
  same(await page.evaluate(() => { const field = document.getElementById("link"); return [field.value, document.activeElement === field, field.selectionEnd]; }), [link, true, link.length], "without the clipboard, the link is selected");
  await clear();
  same([await text("#said"), (await state()).filters.length], ["", 0], "the message goes with the next step");
}

/** Output of go; null if it is missing. */
function goTool(args) {
  try { return execFileSync("go", args, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }); } catch (error) { if (error.code === "ENOENT") return null; throw error; }
}
