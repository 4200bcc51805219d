// Times off the processor: their event in the list, folded kernel frames, and kinds of wait.

/** Checks the event of times off the processor, if the recording has it. */
export async function waits({ page, expect, same, step, state, tab, rowsIn, chips, shot, accessible, clear }) {
  const { offCpu, waits: kinds } = await page.evaluate(() => profile.tables.head);
  if (offCpu === undefined) return;
  step("waits");
  const first = await page.inputValue("#event");
  expect(Number(first) !== offCpu, "the page opens with the recorded event");
  expect(await page.isHidden("#kernel-label"), "kernel frames have no switch for the recorded event");
  await tab("functions");
  await page.selectOption("#event", String(offCpu));
  same((await state()).weight, "period", "times off the processor are durations");
  const scheduler = (rows) => rows.some((row) => row.cells[4].includes("__schedule"));
  const folded = (await rowsIn("functions")).filter((row) => row.cells[0].trim());
  expect(folded.length > 0 && folded.every((row) => kinds.includes(row.cells[5])), `each function with own time has a kind of wait: ${folded.map((row) => row.cells[5])}`);
  expect(!scheduler(folded), "the kernel's frames are folded");
  await shot("functions-waits");
  await accessible("functions of waits");
  await page.selectOption("#kernel", "shown");
  same((await state()).kernel, "shown", "the address has the switch");
  expect(scheduler(await rowsIn("functions")), "the switch shows the kernel's frames");
  await page.selectOption("#kernel", "folded");
  await tab("overview");
  const list = 'section[aria-label="Waiting by kind"] button', [kind, ...rest] = (await page.$$eval(list, (all) => all.map((one) => one.textContent))).map((line) => line.split(":")[0]);
  expect(kinds.includes(kind), `kinds of wait in the overview: ${[kind, ...rest]}`);
  await shot("overview-waits");
  await page.click(list);
  same(await chips(), [`kind of wait ${kind}`], "a click on a kind is a filter");
  same(await page.$$eval(list, (all) => all.length), 1, "and leaves one kind");
  await clear();
  await page.selectOption("#event", first);
  same((await state()).weight, "samples", "the recorded event counts samples again");
}
