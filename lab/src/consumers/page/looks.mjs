// The tools of a page, its themes, 400 % zoom, touch.

/** Checks the groups of a recording of several programs, and leaves it without groups for the other checks. */
export async function grouped({ page, opened, expect, same, step, state, tab }) {
  step("groups");
  const usual = await page.evaluate(() => profile.model.usualGroup), { group, view } = await state();
  same([group, await page.inputValue("#group")], [usual, usual], "the page opens with its groups");
  if (usual === "none") return;
  await tab("flame");
  expect(!(await page.evaluate(() => profile.address())).includes("group="), "the address omits the default");
  expect(/process|program/.test(usual) && await page.evaluate(() => profile.model.groupLabels.length > 1), "there are several groups");
  await page.selectOption("#group", "none");
  const address = await page.evaluate(() => location.hash);
  same(address, "#view=flame&group=none", "the address has the choice of no groups");
  const other = await opened({}, address);
  same(await other.evaluate(() => profile.state.group), "none", "and restores it");
  await other.context().close();
  await tab(view);
}

/** Checks lists and digits. */
export async function tools({ page, expect, same, step, text, state, key, tab, leading, shot }) {
  const samples = await page.evaluate(() => profile.costs.allN);
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
}

/** Checks that the theme is stored. */
export async function kept({ page, ready, same }) {
  await page.reload();
  await ready(page);
  same(await page.getAttribute("html", "data-theme"), "dark", "the theme is kept");
}

/** Checks the page at 400 %, and by touch. */
export async function zoomed({ shots, opened, expect, same, step }) {
  step("400 %");
  const zoomed = await opened({ viewport: { width: 350, height: 215 }, deviceScaleFactor: 4 }, "#view=flame");
  for (const id of ["overview", "flame", "sandwich", "topdown", "functions", "heat", "order", "threads", "source", "files"]) {
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
}
