// The tables of a page: trees, functions, modules, files, source.

/** Checks top-down and bottom-up trees. */
export async function trees({ page, expect, same, step, key, tab, rowsIn, shot }) {
  for (const id of ["topdown", "bottomup"]) {
    step(id);
    await tab(id);
    await page.focus(`#view-${id} .rows`);
    // The hot path is open at first.
    if ((await rowsIn(id))[0].open === "true") await key("Home", "ArrowLeft");
    const closed = await rowsIn(id);
    expect(closed.length > 0 && closed.every((row) => row.level === 1), `${id} has rows of one level`);
    const openable = closed.findIndex((row) => row.open === "false");
    expect(openable >= 0, `a row of ${id} can be opened`);
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
    await key("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowLeft");
    same((await rowsIn(id)).length, closed.length, "→ opens it and goes in, ← goes out and closes it");
    await page.locator(`#view-${id} [data-index="${openable}"]`).click();
    same((await rowsIn(id))[openable].open, "true", "a click opens it");
    await page.locator(`#view-${id} [data-index="${openable}"]`).click();
    await key("e");
    expect((await rowsIn(id)).some((row) => row.level > 1), "e opens the hot path");
    await key("m");
    expect(await page.isVisible("#menu"), "m opens the menu of a row");
    await key("Escape");
    await shot(id);
  }
}

/** Checks the table of functions; prints the costs of each (own, inclusive, name; separated by tabs). */
export async function functions({ page, expect, same, step, state, key, tab, rowsIn, leading, shot }) {
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
  // Events are shown one at a time; the comparison needs all samples together.
  const costs = await page.evaluate(() => {
    const rows = new Map(), { events, offCpu } = profile.tables.head;
    for (let event = 0; event < events.length; event++) {
      // Times off the processor are not samples of the recording.
      if (event === offCpu) continue;
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
}

/** Checks modules and files. */
export async function modules({ page, expect, same, step, text, key, tab, kinds, shot }) {
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
  const advice = await page.$$eval("#view-overview section[aria-label='Completeness of the stacks'] h3 + ul li[title]", (all) => all.map((one) => [one.title, one.textContent]));
  expect(advice.length <= 3, `the overview has advice on at most three modules: ${advice.length}`);
  for (const [path, told] of advice) {
    const row = page.locator("#view-files [data-index]", { hasText: path }).first();
    if (!await row.count()) continue;
    await row.click();
    const [, remedy] = /([^.]+)\.$/.exec(told) ?? [], status = await text("#view-files .status");
    expect(remedy && status.includes(remedy.trim().slice(1)), `the file says it too: ${status}, for ${told}`);
  }
  await shot("files");
}

/** Checks the source view: lines, inlined lines, instructions with jumps, and the splitter. */
export async function source(tools) {
  const { page, expect, same, tab, key, shot, step, state } = tools;
  step("source");
  await tab("source");
  const table = (label) => `#view-source .rows[aria-label=${label}]`;
  const rows = (label) => page.$$eval(`${table(label)} [data-index]`, (all) => all.map((row) => ({ level: Number(row.getAttribute("aria-level")), open: row.getAttribute("aria-expanded"), at: Number(row.dataset.index),
    cells: [...row.querySelectorAll(".cell")].map((cell) => cell.textContent) })));
  expect((await rows("Lines")).length > 0, "a function has lines");
  // Samples of this machine's architecture have instructions, others only addresses.
  const heading = () => page.$eval("#view-source .beside .column:last-child h4", (one) => one.textContent);
  await page.waitForFunction(() => document.querySelector("#view-source .beside .column:last-child h4").textContent !== "Instructions");
  const code = await page.evaluate(() => (profile.tables.head.code || []).length), sampled = await rows("Instructions");
  expect(sampled.some(({ cells }) => cells[0] && cells[2].startsWith("0x")), `what was sampled has addresses: ${JSON.stringify(sampled.slice(0, 3))}`);
  if (code && (await heading()).startsWith("Instructions of")) expect(sampled.every(({ cells }) => cells[4]), "instructions have texts");
  await shot("source");

  // A function with inlined lines, if there is one: its line opens by key, and its instructions are marked.
  const before = (await state()).func, caller = await page.evaluate(() => {
    const { lines: { n, parent, func, flags } } = profile.tables, { n: samples } = profile.model.functionCosts();
    let best = -1;
    for (let i = 0; i < n; i++) if (flags[i] & 1 && parent[i] < n && func[i] !== func[parent[i]] && samples[func[i]] > 0 && (best < 0 || samples[func[i]] > samples[best])) best = func[parent[i]];
    return best;
  });
  if (caller >= 0) {
    await page.evaluate((func) => profile.change({ func }), caller);
    await page.focus(table("Lines"));
    await key("Home");
    const canOpen = () => page.locator(`${table("Lines")} .row.at[aria-expanded=false]`).count();
    for (let k = 0; k < 200 && !(await canOpen()); k++) await key("ArrowDown");
    expect(await canOpen(), "a line with inlined functions can be opened");
    const closed = await page.getAttribute(table("Lines"), "aria-rowcount");
    await key("ArrowRight");
    const opened = await rows("Lines"), inner = opened.filter(({ level }) => level === 2);
    expect(inner.length > 0 && await page.getAttribute(table("Lines"), "aria-rowcount") === String(Number(closed) + inner.length), `the inlined lines are in place: ${JSON.stringify(inner)}`);
    expect(inner.every(({ cells }) => (cells[0] || cells[1]) && cells[3].split("  ").length >= 2), "they have a cost, a function and a place");
    await shot("source-inlined");
    await key("ArrowLeft");
    same(await page.getAttribute(table("Lines"), "aria-rowcount"), closed, "the left arrow key closes the line");
  }

  // A jump, if one is in sight, leads to its target.
  const jump = page.locator(`${table("Instructions")} [data-index]:has(.follow):has(path)`).first();
  if (await jump.count()) {
    const text = await jump.locator(".follow").textContent();
    await jump.locator(".follow").click();
    const there = () => page.$eval(`${table("Instructions")} .row.at`, (row) => row.children[2].textContent);
    same(await there(), text, "a click on a target goes there");
    expect(await page.locator(`${table("Instructions")} .row.at path.lit`).count() > 0, "the jump is highlighted");
  }

  // The splitter.
  const width = () => page.$eval("#listing", (one) => one.clientWidth), usual = await width();
  await page.focus("#view-source .splitter");
  await key("ArrowLeft", "ArrowLeft");
  same([await width(), (await state()).wide], [usual - 44, usual - 44], "arrow keys set the width of the lines");
  const splitter = await tools.box("#view-source .splitter");
  await page.mouse.move(splitter.x + 3, splitter.y + 50);
  await page.mouse.down();
  await page.mouse.move(splitter.x + 103, splitter.y + 60, { steps: 3 });
  await page.mouse.up();
  same([await width(), (await state()).wide], [usual + 56, usual + 56], "dragging does");
  await page.locator("#view-source .splitter").dblclick();
  same([await width(), (await state()).wide], [usual, 0], "a double click resets it");
  await page.evaluate((func) => profile.change({ func }), before);
}

/** Checks the table of processes, threads and processors. */
export async function threads({ page, expect, same, step, text, state, key, tab, rowsIn, kinds, leading, shot, clear }) {
  step("threads");
  await tab("threads");
  await clear();
  const all = await page.evaluate(() => profile.costs.allN), samples = (rows) => rows.reduce((sum, row) => sum + leading(row.cells[0]), 0);
  for (const by of ["thread", "process", "cpu"]) {
    const button = `#view-threads [data-rows=${by}]`;
    if (!await page.isVisible(button)) continue;
    await page.click(button);
    same([(await state()).rows, await page.getAttribute(button, "aria-pressed")], [by, "true"], `rows by ${by}`);
    const rows = await rowsIn("threads");
    // Only the rows in sight are elements.
    if (rows.length < 25) same(samples(rows), all, `the rows by ${by} have all samples`);
    await page.focus("#view-threads .rows");
    await key("Home", "Enter");
    expect({ thread: ["threads"], process: ["process", "threads"], cpu: ["cpu"] }[by].includes((await kinds())[0]), `Enter is a filter: ${await kinds()}`);
    same(await page.evaluate(() => profile.costs.allN), leading(rows[0].cells[0]), "it leaves the row's samples");
    await clear();
    await page.focus("#view-threads .rows");
    await key("m");
    expect(await page.isVisible("#menu"), "m opens the menu of a row");
    await key("Escape");
    expect(!(await text("#view-threads .head")).includes("Samples"), "samples have one column");
    await page.locator("#view-threads .head button").last().click();
    same((await state()).sort, "name", "rows are sorted by name");
    await page.locator("#view-threads .head button", { hasText: "Cost" }).click();
    await shot(`threads-${by}`);
  }
}
