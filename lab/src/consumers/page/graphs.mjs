// Flame graph, icicle and sandwich of a page: mouse, keys, menu, search, link.

/** Checks the overview of the recording; returns the most costly function. */
export async function overview({ page, expect, same, step, text, state, shot }) {
  step("overview");
  expect((await text("#view-overview dl")).includes("samples"), "the overview tells what was recorded");
  expect(/(% of the|All [0-9,]+) stacks shown are complete/.test(await text("#view-overview")), "and how complete the stacks are");
  const first = page.locator("#view-overview section[aria-label^=Functions] button").first(), name = await first.getAttribute("title");
  await shot("overview");
  await first.click();
  same((await state()).view, "sandwich", "a function of the overview opens the sandwich");
  same(await page.evaluate(() => profile.model.name(profile.state.func)), name, "of that function");
  await page.goBack();
  same((await state()).view, "overview", "the browser's way back goes back");
  // Name for the later search.
  return name;
}

/** Checks the keys of a graph. */
export async function flameKeys({ page, expect, same, step, text, state, key, tab }) {
  step("flame graph: keys");
  await tab("flame");
  const graph = "#view-flame canvas";
  await page.focus(graph);
  await key("Home", "ArrowUp", "Enter");
  same((await state()).zoom.length, 1, "Enter zooms");
  expect((await page.locator("#view-flame .crumbs button").count()) === 2, "the way to it is shown");
  expect((await text("#view-flame .status")).includes("inclusive"), "its costs are told");
  await key("Escape");
  same((await state()).zoom, [], "Escape zooms out");
  await key("ArrowUp", "ArrowUp", "ArrowDown", "ArrowRight", "ArrowLeft", "Home");
  expect((await text("#view-flame .status")).startsWith("all"), "Home goes to everything");
}

/** Checks the mouse on a graph, and the entries of its menu. */
export async function flameMouse({ page, expect, same, step, text, state, key, chips, kinds, shot }) {
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
  await page.mouse.dblclick(frame.x, frame.y);
  same((await state()).zoom.length, 1, "a double click zooms");
  await page.locator("#view-flame .crumbs button").first().click();
  same((await state()).zoom, [], "the way leads back");
  // Finds a frame of a function: stacks may be under other frames.
  let depth = 1;
  for (; depth < 12; depth++) {
    const { x, y } = await place(depth);
    await page.mouse.move(x, y);
    if (/in \//.test(await text("#tip"))) break;
  }
  const entry = async (label) => {
    const { x, y } = await place(depth);
    await page.mouse.click(x, y, { button: "right" });
    await page.locator("#menu button", { hasText: label }).first().click();
  };
  for (const [label, kind] of [["Focus on it", "focus"], ["Only stacks with it", "keep"], ["Hide this function", "hide"], ["Charge it", "charge"], ["Fold its callees", "fold"],
    ["Collapse its recursion", "recursion"], ["Collapse all recursion", "recursion"], ["Only this module", "module"], ["Merge this module", "merge"], ["Merge all modules", "merge"]]) {
    await page.mouse.move(5, 5);
    const target = await place(depth);
    const isFrame = await page.evaluate(({ x, y }) => { document.elementFromPoint(x, y).dispatchEvent(new PointerEvent("pointermove", { clientX: x, clientY: y })); return !document.getElementById("tip").hidden; }, target);
    expect(isFrame, "there is a frame to take");
    await entry(label);
    same(await kinds(), [kind], `the menu's entry ${label}`);
    same((await chips()).length, 1, `${label} has a chip`);
    await page.evaluate(() => document.activeElement.blur());
    await key("Backspace");
    same(await kinds(), [], `Backspace takes ${label} back`);
  }
}

/** Checks the menu and its keys. */
export async function flameMenu({ page, expect, same, step, state, key, tab, kinds, shot, accessible }) {
  const graph = "#view-flame canvas", samples = await page.evaluate(() => profile.costs.allN);
  step("flame graph: keys of the menu");
  const aim = async () => {
    await page.focus(graph);
    await key("Home", "ArrowUp");
    for (let at = 0; at < 12 && !/ in [^ ]*\//.test(await page.textContent("#view-flame .status")); at++) await key("ArrowUp");
  };
  for (const [one, kind] of [["f", "focus"], ["o", "keep"], ["h", "hide"], ["u", "charge"], ["i", "fold"], ["r", "recursion"], ["R", "recursion"], ["d", "module"], ["g", "merge"], ["G", "merge"], ["x", "drop"], ["D", "hideModule"]]) {
    await aim();
    await key(one);
    same(await kinds(), [kind], `the key ${one}`);
    expect((await page.evaluate(() => profile.costs.allN)) <= samples, `${one} leaves no more samples`);
    await page.locator("#chips .chip button").click();
    same(await kinds(), [], "the chip's × takes it away");
  }
  await aim();
  await key("m");
  expect(await page.isVisible("#menu"), "m opens the menu");
  await shot("menu");
  await accessible("the menu");
  await key("ArrowDown", "ArrowUp", "End", "Home", "Escape");
  expect(!(await page.isVisible("#menu")), "Escape closes it");
  same(await page.evaluate(() => document.activeElement.tagName), "CANVAS", "and goes back to the graph");
  await key("c");
  same((await state()).view, "sandwich", "c shows callers and callees");
  await tab("flame");
}

/** Checks the icicle and the sandwich. */
export async function icicle({ page, expect, same, step, text, state, key, tab, shot }) {
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
}
