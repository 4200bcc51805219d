// Opens a document in speedscope, in a headless browser, and prints the table of functions.
// Usage: node speedscope.mjs INDEX.html DOCUMENT. Prints a line for each function: own, inclusive, name, separated by
// tabs.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const [index, file] = process.argv.slice(2);
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json" };
const server = createServer((request, response) => {
  const path = new URL(request.url, "http://localhost").pathname;
  try {
    const name = path === "/document.speedscope.json" ? file : join(dirname(index), normalize(path));
    const body = readFileSync(name);
    response.writeHead(200, { "content-type": types[extname(name)] ?? "application/octet-stream" });
    response.end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const root = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});
const page = await browser.newPage({ viewport: { width: 1600, height: 3000 } });
await page.goto(`${root}/index.html#profileURL=${encodeURIComponent(`${root}/document.speedscope.json`)}&title=document`);
await page.waitForFunction(() => document.querySelectorAll("canvas").length > 0, null, { timeout: 60000 });
await page.waitForTimeout(1000);
await page.keyboard.press("3");
await page.waitForFunction(() => [...document.querySelectorAll("table th")].some((head) => head.textContent.includes("Total")), null, { timeout: 30000 });
const rows = new Map();
async function collect() {
  await page.waitForTimeout(500);
  const cells = await page.$$eval("table tr", (all) =>
    all.map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent)),
  );
  for (const [total, own, name] of cells.filter((row) => row.length >= 3 && row[0].includes("%"))) {
    const number = (text) => text.split("(")[0].trim();
    rows.set(`${name}\t${total}\t${own}`, `${number(own)}\t${number(total)}\t${name}`);
  }
}
await collect();
await page.locator("th:has-text('Total')").last().dispatchEvent("click");
await collect();
for (const row of rows.values()) console.log(row);
await browser.close();
server.close();
