// Small comparisons for tests, from literal stacks.
import { NONE } from "../src/data/columns.js";
import { DiffModel, readDiff } from "../src/data/compare/diff.js";

export const NAMES = ["main", "old", "new", "same", "[gap]", "[tail calls]"];
/** Stacks of a thread, each with its samples in both recordings. */
export function diffOf(stacks, { factors = [1, 1], method = "rates", normalization = "time", each = 1, notCompared = [0, 0, 0, 0, 0], paired = 1 } = {}) {
  const parent = [NONE], func = [NAMES.length + 1], own = [[0], [0]];
  for (const [stack, ...samples] of stacks) {
    let node = 0;
    for (const name of stack) {
      const f = name === "[truncated]" ? NAMES.length + 2 : NAMES.indexOf(name), known = parent.findIndex((p, at) => p === node && func[at] === f);
      node = known >= 0 ? known : parent.push(node) - 1;
      func[node] = f;
    }
    samples.forEach((n, run) => { own[run][node] = n; });
  }
  const found = { parent: Uint32Array.from(parent), func: Uint32Array.from(func) };
  own.forEach((run, at) => {
    found[`samples${at}`] = Uint32Array.from(parent, (_, i) => run[i] || 0);
    if (each !== 1) {
      found[`cost${at}`] = Float64Array.from(found[`samples${at}`], (n) => n * each);
      found[`squares${at}`] = Float64Array.from(found[`samples${at}`], (n) => n * each * each);
    }
  });
  const run = (at) => {
    const samples = own[at].reduce((sum, n) => sum + (n || 0), 0);
    return { name: `${at}.data`, seconds: 1, factor: factors[at], samples, cost: samples * each, squares: samples * each * each, complete: samples, truncated: 0, lost: 0, threads: 1 };
  };
  const head = {
    kind: "diff", version: 1, title: "", event: "cycles", unit: "samples", normalization, normalized: "", scale: [1, 1, ""], method, exactNames: 0, inlines: 1, notes: [],
    before: [run(0)], after: [run(1)], modules: [{ path: "prog", before: 1, after: 1, paired, sameFile: 1 }], functions: NAMES.map((_, at) => [at, -1, at >= 4 ? -1 : 0]), names: NAMES, notCompared, gap: 4, threads: ["worker-N"],
  };
  const made = new DiffModel(readDiff({ head, found }));
  made.look({ filters: [], side: "both" });
  return made;
}
