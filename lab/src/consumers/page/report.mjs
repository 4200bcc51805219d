// Opens the page of a recording and uses it: every view, gesture and key, in light and dark, at 400 % and by touch.
// Usage: node report.mjs PAGE [SCREENSHOTS]. Prints the table of functions (own, inclusive, name; separated by tabs),
// and its steps on standard error.
import { files, flameGestures, outsideMatches, treeGestures } from "./gestures.mjs";
import { flameKeys, flameMenu, flameMouse, icicle, overview } from "./graphs.mjs";
import { hands, start } from "./harness.mjs";
import { link, search } from "./links.mjs";
import { grouped, kept, tools as listsAndDigits, zoomed } from "./looks.mjs";
import { speed } from "./speed.mjs";
import { functions, modules, source, threads, trees } from "./tables.mjs";
import { axis, cpus, events, height, small, timeline, titled } from "./timeline.mjs";
import { heat, order } from "./times.mjs";
import { values } from "./values.mjs";
import { waits } from "./waits.mjs";

const [file, shots] = process.argv.slice(2), tools = await start(file, shots);

// Time until the page can be used: the best of three, since other programs may be busy.
const limit = Number(process.env.READY_MS ?? 0);
let soonest = Infinity;
for (let attempt = 0; attempt < 3 && (attempt === 0 || (limit && soonest > limit)); attempt++) {
  const started = Date.now(), made = await tools.opened({});
  soonest = Math.min(soonest, Date.now() - started);
  await made.context().close();
}
console.error(`ready after ${soonest} ms`);
tools.expect(!limit || soonest < limit, `ready within ${limit} ms`);

const page = await tools.opened({}), ours = hands(tools, page);
if (limit) await speed(ours, Number(process.env.CLICK_MS ?? 0));
await titled(ours);
await grouped(ours);
const name = await overview(ours);
await flameKeys(ours);
await flameMouse(ours);
await flameMenu(ours);
await flameGestures(ours);
await search(ours, name);
await outsideMatches(ours);
await files(ours);
await link(ours);
await icicle(ours);
await treeGestures(ours);
await trees(ours);
await functions(ours);
await waits(ours);
await modules(ours);
await threads(ours);
await values(ours);
await source(ours);
await heat(ours);
await order(ours);
await timeline(ours);
await height(ours);
await axis(ours);
await cpus(ours);
await events(ours);
await listsAndDigits(ours);
await ours.looks(["overview", "flame", "icicle", "sandwich", "topdown", "bottomup", "functions", "modules", "heat", "order", "threads", "source", "files"]);
await kept(ours);
await page.context().close();
await zoomed(ours);
await small(ours);
await tools.finish();
