// The page's title, its timeline, the axis of time, and its layout in small windows.
import { hands } from "./harness.mjs";

/** Checks the title. */
export async function titled({ page, expect, same, step, text }) {
  step("title");
  const title = await text("#title"), { command, program } = await page.evaluate(() => ({ command: profile.tables.head.title, program: profile.tables.head.recording.program }));
  same(await page.title(), title, "the window has the page's title");
  expect(/^[^,]+(, \d{4}-\d\d-\d\d \d\d:\d\d)?, [\d,]+ samples?$/.test(title), `the title has program, date and samples: ${title}`);
  expect(!program || title.startsWith(program), `the title starts with the program ${program}: ${title}`);
  same(await page.getAttribute("#title", "title"), command, "its tooltip is the command");
}

const lanes = (page) => page.$$eval(".lane button.pick", (all) => all.map((one) => one.textContent));

/** Checks the lanes of the timeline. */
export async function timeline({ page, expect, same, step, text, state, kinds, leading, clear, box }) {
  const spanned = await page.evaluate(() => profile.tables.span > 0), samples = await page.evaluate(() => profile.costs.allN);
  step("timeline");
  same((await lanes(page)).length, 1, "there is one lane at first");
  const lane = await box(".lane canvas");
  await page.mouse.move(lane.x + 1, lane.y + 8);
  expect(/full height: [\d,]+ samples in /.test(await text("#tip")), "the tooltip tells the scale of the lane");
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
  if (await page.isVisible(".lane .twist")) {
    await page.click(".lane .twist");
    const open = await lanes(page);
    expect(open.length > 1, "the twist opens the lanes");
    same((await state()).open.includes("all") && new URLSearchParams(new URL(page.url()).hash.slice(1)).getAll("open").includes("all"), true, "open lanes are in the address");
    same(await page.evaluate(() => document.activeElement.className), "twist", "the twist keeps the focus");
    await page.evaluate(() => profile.refresh());
    same(await lanes(page), open, "they stay open");
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
}

/** Checks the splitter below the timeline. */
export async function height({ page, expect, same, step, state, box }) {
  step("splitter");
  const tall = () => page.evaluate(() => document.querySelector(".lanes").clientHeight);
  const now = async () => Number(await page.getAttribute("#split", "aria-valuenow")), before = await tall();
  expect(before + 66 <= 0.4 * page.viewportSize().height, `the timeline takes at most 40 %: ${before}`);
  await page.focus("#split");
  for (const key of ["ArrowDown", "ArrowDown", "ArrowUp"]) await page.keyboard.press(key);
  same([await tall(), await now(), (await state()).tall], [before + 22, before + 22, before + 22], "keys set the height");
  const line = await box("#split");
  await page.mouse.move(line.x + 200, line.y + 3);
  await page.mouse.down();
  await page.mouse.move(line.x + 200, line.y + 63);
  await page.mouse.up();
  same([await tall(), await now()], [before + 82, before + 82], "dragging sets the height");
  await page.dblclick("#split");
  same([await tall(), (await state()).tall], [before, 0], "a double click resets it");
}

/** Checks that the views over time have the axis of the timeline. */
export async function axis({ page, expect, step, tab, box }) {
  step("axis");
  const lane = await box(".lane canvas");
  for (const id of ["order", "heat"]) {
    await tab(id);
    const canvas = await box(`#view-${id} canvas`), { left, width } = await page.locator(`#view-${id} canvas`).evaluate(({ dataset }) => ({ left: Number(dataset.axisLeft), width: Number(dataset.axisWidth) }));
    expect(Math.abs(canvas.x + left - lane.x) <= 1, `the axis of ${id} begins below that of the timeline: ${canvas.x + left}, ${lane.x}`);
    expect(Math.abs(width - lane.width) <= 1, `the axis of ${id} is as wide: ${width}, ${lane.width}`);
    await page.mouse.move(lane.x + lane.width / 3, lane.y + 5);
    const rulers = await page.$$eval("i.ruler", (all) => all.filter((one) => one.getBoundingClientRect().height > 0).map((one) => one.getBoundingClientRect().x));
    expect(rulers.length === 2 && rulers.every((x) => Math.abs(x - lane.x - lane.width / 3) <= 2), `a ruler is at the mouse in ${id}: ${rulers}`);
  }
}

/** Checks the lanes of processors, if the recording has them. */
export async function cpus({ page, expect, same, step, state, text, kinds, chips, leading, clear, accessible }) {
  if (!(await page.isVisible("#by-cpu"))) return;
  step("processors");
  const samples = await page.evaluate(() => profile.costs.allN);
  await page.click("#by-cpu");
  same((await state()).lanes, "cpu", "lanes are by processor");
  const names = (await lanes(page)).slice(1);
  expect(names.length > 1 && names.every((name) => /^CPU (\d+|unknown)$/.test(name)), `lanes are processors: ${names}`);
  await accessible("lanes of processors");
  await page.locator(".lane button.pick", { hasText: names[0] }).first().click();
  same(await kinds(), ["cpu"], "a click filters by processor");
  same(await chips(), [names[0]], "the chip names it");
  const left = leading(await text("#selected"));
  expect(left > 0 && left < samples, `one processor has a part of the samples: ${left}`);
  await page.locator(".lane button.pick", { hasText: names[0] }).first().click();
  same(await kinds(), [], "another click removes the filter");
  await clear();
  await page.click("#by-thread");
}

/** Checks the lanes of other events, if there are any. */
export async function events({ page, expect, same, step, state, accessible }) {
  if (!(await page.isVisible("#others"))) return;
  step("other events");
  const before = (await state()).event, first = await page.evaluate(() => profile.event);
  await page.click("#others");
  same(await page.getAttribute("#others", "aria-expanded"), "true", "other events have lanes");
  const lane = page.locator(".lane[data-key^='event:']").first(), name = await lane.locator("button").textContent();
  await accessible("lanes of other events");
  await lane.locator("canvas").hover();
  expect((await page.textContent("#tip")).includes(name), "the tooltip names the event");
  await lane.locator("canvas").click();
  same(await page.evaluate(() => profile.tables.head.events[profile.event].name), name, "a click shows the event");
  await page.evaluate((event) => profile.change({ event }), before);
  same(await page.evaluate(() => profile.event), first, "the first event is shown again");
  await page.click("#others");
}

/** Checks small windows. */
export async function small(tools) {
  const { shots, opened, expect, same, step } = tools;
  for (const [width, height] of [[1280, 720], [390, 844]]) {
    step(`${width}x${height}`);
    const page = await opened({ viewport: { width, height } }, "#view=flame");
    if (width >= 1000 && await page.getAttribute("#more", "aria-expanded") === "true") await page.click("#more");
    const top = (await page.locator("#view-flame .graph").first().boundingBox()).y;
    expect(top <= height / 3, `the graph begins in the upper third: ${top}`);
    const isOver = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
    same(isOver, false, "the page does not scroll to the side");
    for (const [id, title] of [["functions", "Function"], ["topdown", "Function"], ["source", "Source"]]) {
      await page.click(`#tab-${id}`);
      const wide = await page.evaluate(([id, title]) => {
        const table = document.querySelector(`#view-${id} .rows`), head = [...table.querySelectorAll(".head .cell")].find((one) => one.textContent.startsWith(title));
        const { left, right } = head.getBoundingClientRect(), area = table.getBoundingClientRect();
        return (Math.min(right, area.right) - Math.max(left, area.left)) / innerWidth;
      }, [id, title]);
      if (width < 400) expect(wide >= 0.5, `${title} in ${id} has half of the width: ${wide}`);
    }
    if (width < 400) {
      await page.click("#more");
      expect(await page.isVisible("#names"), "More shows the other tools");
      await page.click("#more");
      expect(!(await page.isVisible("#names")), "and hides them");
    }
    await hands(tools, page).accessible(`a window of ${width} pixels`);
    if (shots) await page.screenshot({ path: `${shots}/${width}.png` });
    await page.context().close();
  }
}
