// A headless browser with one of our pages, opened as a file, and the common parts of the page's checks. Any console
// message, any request, any finding of axe and any unexpected result is an error.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Starts the browser for a page; pictures go to the folder `shots`, if there is one. */
export async function start(file, shots) {
  const address = pathToFileURL(file).href, wrong = [], begun = Date.now();
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
  });
  const expect = (holds, what) => { if (!holds) wrong.push(`not so: ${what}`); };
  const same = (is, should, what) => {
    const [left, right] = [JSON.stringify(is), JSON.stringify(should)];
    expect(left === right, `${what}: ${left}, expected ${right}`);
  };
  const ready = async (made) => {
    await made.waitForSelector("html[data-ready=yes]", { state: "attached", timeout: 60000 }).catch(() => {
      console.error(wrong.join("\n") || "the page is not ready");
      process.exit(1);
    });
    // In a large window, the checks use all tools.
    if (made.viewportSize().width >= 1000 && await made.isVisible("#more")) await made.click("#more");
  };
  /** Opens the page in a separate window. */
  const opened = async (options, fragment = "") => {
    const context = await browser.newContext({ viewport: { width: 1400, height: 860 }, ...options });
    const made = await context.newPage();
    made.on("console", (message) => wrong.push(`console: ${message.text()}`));
    made.on("pageerror", (error) => wrong.push(`error: ${error.stack}`));
    made.on("request", (request) => { if (request.url().split("#")[0] !== address) wrong.push(`request: ${request.url()}`); });
    await made.goto(address + fragment);
    await ready(made);
    return made;
  };
  const step = (name) => console.error(`${Date.now() - begun} ms: ${name}`);
  /** Closes the browser, and ends the check with the errors. */
  const finish = async () => {
    await browser.close();
    console.error(`done after ${Date.now() - begun} ms`);
    if (wrong.length) {
      console.error(wrong.join("\n"));
      process.exit(1);
    }
  };
  return { opened, ready, expect, same, step, finish, shots };
}

/** Returns the actions on a window of the page. */
export function hands(tools, page) {
  const { expect, same, shots } = tools;
  const text = (selector) => page.textContent(selector);
  const state = () => page.evaluate(() => profile.state);
  const key = (...keys) => keys.reduce((before, one) => before.then(() => page.keyboard.press(one)), Promise.resolve());
  const tab = async (id) => {
    await page.click(`#tab-${id}`);
    expect(await page.isVisible(`#view-${id}`), `the view ${id} is shown`);
  };
  /** Returns the place of an element once it has one: a view is drawn after it is shown. */
  const box = async (selector) => {
    const one = page.locator(selector).first();
    await one.waitFor();
    return (await one.boundingBox()) ?? box(selector);
  };
  const rowsIn = (id) => page.$$eval(`#view-${id} .rows [data-index]`, (all) => all.map((row) => ({ level: Number(row.getAttribute("aria-level")), open: row.getAttribute("aria-expanded"), cells: [...row.children].map((cell) => cell.textContent) })));
  const chips = () => page.$$eval("#chips .chip", (all) => all.map((chip) => chip.firstChild.textContent));
  const kinds = async () => (await state()).filters.map((filter) => filter.kind);
  const leading = (line) => Number(line.split(" ")[0].replaceAll(",", ""));
  const shot = async (name) => { if (shots) await page.screenshot({ path: `${shots}/${name}.png` }); };
  const clear = () => page.evaluate(() => profile.change({ filters: [], zoom: [], base: null, search: "" }));
  const accessible = async (what) => {
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await axe.run(document, { resultTypes: ["violations"] })).violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)} ${one.nodes[0].failureSummary}`));
    same(found, [], `axe on ${what}`);
  };
  /** Checks every view in light and dark. */
  const looks = async (views) => {
    for (const theme of ["light", "dark"]) {
      tools.step(`${theme}: accessibility`);
      if ((await page.getAttribute("html", "data-theme")) !== theme) await page.click("#theme");
      for (const id of views) {
        await tab(id);
        await accessible(`${id}, ${theme}`);
        if (theme === "dark") await shot(`${id}-dark`);
      }
    }
  };
  return { ...tools, page, text, state, key, tab, box, rowsIn, chips, kinds, leading, shot, clear, accessible, looks };
}
