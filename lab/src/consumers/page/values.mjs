// Labels, fields and spans: groups, rows, and lanes whose intervals select samples.

/** Checks the values of a recording, if the page has any. */
export async function values({ page, expect, same, step, state, key, tab, box, rowsIn, chips, leading, shot, accessible, clear }) {
  const { values: named, spans } = await page.evaluate(() => profile.tables.head);
  expect(await page.isVisible("#spans") === (!!spans || (named ?? []).some(({ kind }) => kind === "label")), "the button for lanes of spans and labels");
  if (!named) return;
  step("values");
  await clear();
  const [{ name, texts }] = named, word = `value:${name}`, all = await page.evaluate(() => profile.costs.allN);
  await tab("flame");
  await page.selectOption("#group", word);
  same((await state()).group, word, "the address has the group");
  const roots = await page.evaluate(() => profile.model.groupLabels);
  same(roots, texts, "the values are the groups");
  await shot("flame-values");
  await page.selectOption("#group", "none");
  await tab("threads");
  await page.click(`#view-threads [data-rows="${word}"]`);
  const rows = await rowsIn("threads");
  if (rows.length < 25) same(rows.reduce((sum, row) => sum + leading(row.cells[0]), 0), all, "the rows by value have all samples");
  await page.focus("#view-threads .rows");
  await key("Home", "Enter");
  const [filter] = (await state()).filters;
  same([filter.kind, filter.name], ["value", name], "Enter is a filter by value");
  same(await page.evaluate(() => profile.costs.allN), leading(rows[0].cells[0]), "it leaves the row's samples");
  await shot("threads-values");
  await accessible("rows by value");
  await clear();
  await page.locator("#view-threads [data-rows=thread]").click();
  await lanes({ page, expect, same, state, box, chips, shot, clear });
}

/** Selects the first interval of each lane. */
async function lanes({ page, expect, same, state, box, chips, shot, clear }) {
  if (!await page.isVisible("#spans")) return;
  await page.click("#spans");
  same(await page.getAttribute("#spans", "aria-expanded"), "true", "the lanes are open");
  for (const lane of await page.$$eval('[data-key^="span:"], [data-key^="label:"]', (all) => all.map((one) => one.dataset.key))) {
    const area = await box(`[data-key="${lane}"] canvas`), x = area.x + area.width * 0.5, y = area.y + 3;
    await page.mouse.move(x, y);
    expect((await page.textContent("#tip")).startsWith(lane.slice(lane.indexOf(":") + 1)), `the tooltip of ${lane}`);
    await page.mouse.click(x, y);
    const kinds = (await state()).filters.map(({ kind }) => kind);
    expect(!kinds.length || kinds[0] === "time", `an interval selects its time: ${await chips()}`);
    await shot(`timeline-${lane.split(":")[0]}`);
    await clear();
  }
  await page.click("#spans");
}
