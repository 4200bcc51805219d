// Small tables for tests, from literal samples.
import { INLINED, KERNEL, NONE, VERSION } from "../src/data/columns.js";

/** Tables of samples: `stack` from the outermost function inwards, as `name` or `name@line`; `module` by function in
 * `modules`. A sample may have a time, a thread (row of `threads`), a processor, an event and a period, and may be truncated
 * (`cut`). A time off the processor has a `wait`, the number of its kind; `kernel` and `inlined` name functions of the kernel and inlined ones.
 * A sample has `values` by name, each a text, and `spans`; `values` of the options has the kinds of the names.
 * @param {{ stack: string[], n?: number, time?: number, thread?: number, event?: number, period?: number, cpu?: number, cut?: boolean, wait?: number, values?: Record<string, string>, spans?: { name: string, key?: string, duration: number, own?: number }[] }[]} rows
 * @param {{ modules?: Record<string, string>, threads?: [number, number, string, string][], cgroups?: string[], events?: any[], unit?: number, kernel?: string[], inlined?: string[], offCpu?: number, waits?: string[], values?: Record<string, "label" | "field"> }} [options] */
export function tables(rows, options = {}) {
  const names = [], modules = [], functions = [];
  const index = (list, text) => list.includes(text) ? list.indexOf(text) : list.push(text) - 1;
  for (const name of [...new Set(rows.flatMap((row) => row.stack.map((one) => one.split("@")[0])))].sort()) {
    functions.push([index(names, name), index(names, name + ".c"), index(modules, options.modules?.[name] || "/bin/program")]);
  }
  const func = (name) => functions.findIndex((row) => names[row[0]] === name);
  const lines = { parent: [], func: [], line: [], flags: [] }, leaves = [], samples = [];
  for (const row of rows) {
    let node = NONE;
    for (const one of row.stack) {
      const [name, line] = one.split("@"), f = func(name), number = Number(line || 0);
      let child = lines.parent.findIndex((p, at) => p === node && lines.func[at] === f && lines.line[at] === number);
      if (child < 0) {
        child = lines.parent.push(node) - 1;
        lines.func.push(f);
        lines.line.push(number);
        lines.flags.push((options.kernel?.includes(name) ? KERNEL : 0) | (options.inlined?.includes(name) ? INLINED : 0));
      }
      node = child;
    }
    const leaf = `${node} ${row.cut ? 1 : 0} ${row.wait ?? 0xff}`;
    for (let k = 0; k < (row.n ?? 1); k++) samples.push({ ...row, leaf: index(leaves, leaf) });
  }
  samples.forEach((one, at) => { one.time ??= at; });
  samples.sort((a, b) => a.time - b.time);
  const values = Object.entries(options.values ?? {}).map(([name, kind]) => {
    const texts = [], of = samples.map((one) => index(texts, one.values?.[name] ?? "[no value]"));
    return { head: { name, kind, texts, missing: texts.map((text) => text === "[no value]" ? 1 : 0) }, of: Uint8Array.from(of) };
  });
  const spans = samples.flatMap((one, sample) => (one.spans ?? []).map((span) => ({ ...span, sample }))), spanNames = [], spanKeys = [];
  const parts = leaves.map((leaf) => leaf.split(" ").map(Number));
  const events = options.events || [{ name: "cycles", unit: "count", period: null, rate: 1, frequency: 0 }];
  return {
    head: {
      version: VERSION, title: "", summary: "", recording: {}, unit: options.unit || 1, origin: 0, events, ends: ["root", "stack-exhausted"], rooted: [1, 0],
      complete: [1, 0], threads: options.threads || [[1, 1, "main", "prog"]], cgroups: options.cgroups, modules: modules.map((path) => ({ path, kind: "elf", count: 1 })),
      functions, names, frames: 0, filtered: 0, dropped: 0, lost: 0, throttled: 0, losses: [], findings: [], sources: [], columns: [], offCpu: options.offCpu, waits: options.waits,
      ...(values.length ? { values: values.map((one) => one.head) } : {}), ...(spans.length ? { spans: { names: spanNames, keys: spanKeys } } : {}),
    },
    lines: { n: lines.parent.length, parent: Uint32Array.from(lines.parent), func: Uint32Array.from(lines.func), line: Uint32Array.from(lines.line), flags: Uint8Array.from(lines.flags) },
    leafNode: Uint32Array.from(parts, (part) => part[0]), leafPlace: Uint32Array.from(parts, (_, at) => at), leafEnd: Uint8Array.from(parts, (part) => part[1]),
    leafWait: options.waits ? Uint8Array.from(parts, (part) => part[2]) : null,
    placeLow: Uint32Array.from(parts, (_, at) => 0x1000 + at), placeHigh: new Uint32Array(parts.length),
    time: Uint32Array.from(samples, (one) => one.time), thread: Uint8Array.from(samples, (one) => one.thread || 0), leaf: Uint32Array.from(samples, (one) => one.leaf),
    event: Uint16Array.from(samples, (one) => one.event || 0),
    period: samples.some((one) => one.period !== undefined) ? Float64Array.from(samples, (one) => one.period ?? 1) : null,
    cpu: samples.some((one) => one.cpu !== undefined) ? Uint8Array.from(samples, (one) => (one.cpu ?? -1) + 1) : null,
    values: values.map((one) => one.of),
    spans: spans.length ? {
      spanName: Uint8Array.from(spans, (one) => index(spanNames, one.name)), spanSample: Uint32Array.from(spans, (one) => one.sample),
      spanKey: Uint32Array.from(spans, (one) => one.key === undefined ? 0 : index(spanKeys, one.key) + 1),
      spanDuration: Float64Array.from(spans, (one) => one.duration), spanSelf: Float64Array.from(spans, (one) => one.own ?? one.duration),
    } : null,
    samples: samples.length, span: samples.length ? samples[samples.length - 1].time : 0,
  };
}

/** Default view. */
export const VIEW = { event: 0, weight: "samples", truncated: "together", group: "none", filters: [] };

/** Folded stacks of a model, each with its own cost. */
export function foldedStacks(model, least = 0) {
  const { tree, own } = model.picture([], least), found = {};
  for (let i = 0; i < tree.n; i++) {
    if (own[i] === 0) continue;
    const path = [];
    for (let at = i; at !== NONE; at = tree.parent[at]) path.unshift(model.name(tree.func[at]));
    const key = path.join(";");
    found[key] = (found[key] || 0) + own[i];
  }
  return found;
}
