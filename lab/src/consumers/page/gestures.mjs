// Gestures on graphs and trees, and the search outside of the zoomed part.

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
  for (let at = 0; at < 200 && (await state()).zoom.length; at++) await key("Enter");
  same((await state()).zoom, [], "next zooms out to them");
  expect((await text("#view-flame .status")).includes(pair.name), "and selects one");
  expect(!/outside/.test(await text("#matched")), "nothing is outside then");
  await page.fill("#search", "/(/");
  await page.waitForFunction(() => document.getElementById("matched").textContent === "not a valid pattern");
  await page.fill("#search", "");
  await clear();
}
