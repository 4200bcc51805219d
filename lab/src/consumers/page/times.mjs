// Views over time: heat map, comparison of two times, time order.

/** Checks the heat map, and the comparison that it leads to. */
export async function heat({ page, expect, same, step, text, state, key, tab, box, rowsIn, kinds, shot, clear, accessible }) {
  step("heat map");
  await tab("heat");
  const heat = await box("#view-heat canvas");
  const spanned = await page.evaluate(() => profile.tables.span > 0);
  const cells = await page.evaluate(() => document.querySelector("#view-heat .note").textContent);
  expect(/A column is .*, a cell/.test(cells), "the cells are explained");
  const left = heat.x + await page.evaluate(() => Number(document.querySelector("#view-heat canvas").dataset.axisLeft));
  await page.mouse.click(left + 2, heat.y + heat.height / 2);
  same(await kinds(), ["time"], "a click chooses a cell");
  await key("Backspace");
  const drag = async (from, to, modifier) => {
    if (modifier) await page.keyboard.down(modifier);
    await page.mouse.move(left + from, heat.y + heat.height / 3);
    await page.mouse.down();
    await page.mouse.move(left + (from + to) / 2, heat.y + heat.height / 2);
    await page.mouse.move(left + to, heat.y + heat.height / 3);
    await page.mouse.up();
    if (modifier) await page.keyboard.up(modifier);
  };
  if (spanned) {
    const width = await page.evaluate(() => Number(document.querySelector("#view-heat canvas").dataset.axisWidth));
    await drag(2, width / 2 - 2);
    same(await kinds(), ["time"], "dragging chooses a range");
    await shot("heat");
    step("comparison");
    await drag(width / 2 + 4, width - 4, "Control");
    same((await state()).view, "compare", "dragging with Ctrl chooses a baseline and compares");
    const compared = await rowsIn("compare"), note = await text("#view-compare .note");
    expect(compared.length > 0, "functions are compared");
    expect(compared.every((row) => [2, 3].every((at) => !row.cells[at] || /(\/s| %)$/.test(row.cells[at]))), `costs have a unit: ${compared[0].cells}`);
    expect(/^Baseline: .* Selection: .* Own cost: .* inclusive cost: /.test(note), `the sides are named: ${note}`);
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
}

/** Checks stacks in time order. */
export async function order({ page, expect, same, step, text, key, tab, box, kinds, shot, clear }) {
  step("time order");
  await tab("order");
  const order = await box("#view-order canvas");
  await page.focus("#view-order canvas");
  await key("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft", "Enter");
  same(await kinds(), ["time"], "Enter looks at the time of a stack");
  await clear();
  const status = () => text("#view-order .status");
  // The first frame of the outermost row.
  let x = order.x + 2;
  await page.mouse.move(x, order.y + 24);
  while (!/drawn/.test(await text("#tip")) && x < order.x + order.width) await page.mouse.move(x += 3, order.y + 24);
  await page.mouse.click(x, order.y + 24);
  same(await kinds(), [], "a click does not select a time");
  expect(/drawn/.test(await status()), `it selects a frame: ${await status()}`);
  await page.mouse.dblclick(x, order.y + 24);
  same(await kinds(), ["time"], "a double click selects its time");
  await clear();
  await page.mouse.move(order.x + 20, order.y + 60);
  await page.mouse.down();
  await page.mouse.move(order.x + order.width / 2, order.y + 60);
  await page.mouse.up();
  same(await kinds(), ["time"], "dragging looks closer");
  await clear();
  await shot("order");
}
