// The search, and addresses that keep the current view.

/** Checks a link, and a reload. */
export async function link({ page, opened, ready, same, step, text, key, chips, shot, clear }) {
  step("link and reload");
  // A busy machine draws the graph later: until then, no frame can be selected.
  for (let turn = 0; turn < 5 && !(await chips()).length; turn++) {
    await page.focus("#view-flame canvas");
    await key("Home", "ArrowUp", "f");
  }
  await page.selectOption("#colour", "kind");
  await page.selectOption("#names", "full");
  const link = await page.evaluate(() => location.hash), before = [await text("#selected"), await chips()];
  await page.reload();
  await ready(page);
  same([await text("#selected"), await chips(), await page.evaluate(() => location.hash)], [...before, link], "a reload restores what was looked at");
  const other = await opened({}, link);
  same(await other.evaluate(() => [profile.state.view, profile.state.colour, profile.state.filters.length]), ["flame", "kind", 1], "so does the link elsewhere");
  await other.context().close();
  await shot("kinds");
  await clear();
  await page.selectOption("#colour", "module");
  await page.selectOption("#names", "short");
}

/** Checks the search for a function. */
export async function search({ page, expect, same, step, text, key, shot, clear }, name) {
  step("search");
  await page.evaluate(() => document.activeElement.blur());
  await key("/");
  same(await page.evaluate(() => document.activeElement.id), "search", "/ goes to the search");
  await page.keyboard.type(name.slice(0, 30));
  await page.waitForFunction(() => document.getElementById("matched").textContent.includes("match"));
  expect(!(await text("#matched")).startsWith("0 %"), "the search finds the most costly function");
  await key("Enter");
  const told = await text("#view-flame .status");
  expect(told.toLowerCase().includes(name.slice(0, 30).toLowerCase()), `Enter goes to a match: ${told}`);
  same(await page.evaluate(() => document.activeElement.id), "search", "Enter shows one match after the other");
  await key("ArrowDown");
  same(await page.evaluate(() => document.activeElement.tagName), "CANVAS", "↓ goes into the view");
  await key("n", "N");
  await shot("search");
  await clear();
}
