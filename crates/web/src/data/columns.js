// @ts-check
// Tables of a profile in the page's format: a JSON head, and columns of numbers.
import { pathName } from "./names.js";

/** Value for "none" in columns of numbers; as a parent, the root of a tree. */
export const NONE = 0xffffffff;

// Flags of a node.
export const INLINED = 1;
export const GUESSED = 2;
export const KERNEL = 4;
export const ANONYMOUS = 8;
export const JOINED = 16;
export const GAP = 32;

/** Supported layout version. */
export const VERSION = 3;

/** Columns by table; `page/schema.rs` has the same names. */
export const COLUMNS = {
  nodes: ["parent", "func", "line", "flags"],
  leaves: ["leafNode", "leafPlace", "leafEnd", "leafWait"],
  places: ["placeLow", "placeHigh"],
  samples: ["time", "thread", "leaf", "event", "period", "cpu"],
  spans: ["spanName", "spanSample", "spanKey", "spanDuration", "spanSelf"],
};

/** @typedef {Uint8Array | Uint16Array | Uint32Array} Numbers */
/** @typedef {{ name: string, unit: string, period: number | null, rate: number, frequency: number }} EventHead */
/** @typedef {{ path: string, kind: string, count: number, opened?: string, buildId?: string }} ModuleHead */
/** @typedef {{ program?: string, host?: string, kernel?: string, arch?: string, perf?: string, processor?: string, written: number | null,
 *   processors: number | null, memoryKiB: number | null, stackBytes: number | null }} RecordingHead */
/** Values by name: `texts` are the distinct ones, those of which `missing` is 1 state why there is none.
 * @typedef {{ name: string, kind: "label" | "variable" | "field", texts: string[], missing: number[] }} ValueHead */
/** Spans by the sample that begins them; `spanKey` is the place of the key plus 1, times are in nanoseconds.
 * @typedef {{ spanName: Uint8Array, spanSample: Uint32Array, spanKey: Uint32Array, spanDuration: Float64Array, spanSelf: Float64Array }} SpanColumns */
/** @typedef {{ version: number, title: string, summary: string, recording: RecordingHead, unit: number, origin: number,
 *   events: EventHead[], offCpu?: number, offCpuLater?: number, waits?: string[], ends: string[], rooted: number[], complete: number[], threads: [number, number, string, string][],
 *   cgroups?: string[], values?: ValueHead[], spans?: { names: string[], keys: string[] },
 *   modules: ModuleHead[], functions: [number, number, number, number][], elsewhere?: [number, number][], names: string[], frames: number, filters?: string[], filtered: number,
 *   dropped: number, lost: number, throttled: number,
 *   losses: { module: number, samples: number, reason: string, help: string }[],
 *   findings: { kind: string, message: string, count: number }[],
 *   sources: { file: string, text: string }[], code?: import("./code.js").CodeBlock[], codeLeftOut?: number,
 *   targets?: [number, number, string][],
 *   columns: [string, string, number][] }} Head */
/** Tree of lines: each node is a line of a function under its callers. Parents precede their children. In growing
 * tables, the lines of a function are not adjacent.
 * @typedef {{ n: number, grows?: boolean, parent: Uint32Array, func: Uint32Array, line: Uint32Array, flags: Uint8Array }} LineTree */
/** @typedef {{ head: Head, lines: LineTree, leafNode: Uint32Array, leafPlace: Uint32Array, leafEnd: Uint8Array,
 *   leafWait?: Uint8Array | null,
 *   placeLow: Uint32Array, placeHigh: Uint32Array, time: Uint32Array, thread: Numbers, leaf: Uint32Array,
 *   event: Numbers, period: Float64Array | null, cpu: Numbers | null, values: Numbers[], spans: SpanColumns | null, samples: number, span: number }} Tables
 * `cpu` contains the number of the processor plus 1, 0 for unknown. `values` are places in the texts of the head. */

const TYPES = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };

/** Splits the page's data into head and columns.
 * @param {ArrayBuffer} buffer
 * @returns {{ head: any, found: Record<string, any> }} */
export function readParts(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  nameModules(head.modules);
  /** @type {Record<string, any>} */
  const found = {};
  let at = 8 + Math.ceil(length / 8) * 8;
  for (const [name, type, count] of head.columns) {
    const column = new (/** @type {Record<string, any>} */ (TYPES))[type](count);
    joinBytes(new Uint8Array(buffer, at, column.byteLength), new Uint8Array(column.buffer), column.BYTES_PER_ELEMENT);
    found[name] = column;
    at += Math.ceil(column.byteLength / 8) * 8;
  }
  return { head, found };
}

/** Joins numbers whose bytes are apart: the lowest bytes of all of them come first.
 * @param {Uint8Array} bytes @param {Uint8Array} numbers @param {number} width */
function joinBytes(bytes, numbers, width) {
  const count = numbers.length / width;
  for (let k = 0, from = 0; k < width; k++) {
    for (let to = k, end = from + count; from < end; from++, to += width) numbers[to] = bytes[from];
  }
}

/** Names memory without a file in modules, which updates of growing tables have with their rows.
 * @param {({ path: string } | [number, { path: string }])[] | undefined} modules */
function nameModules(modules) {
  for (const row of modules ?? []) {
    const module = Array.isArray(row) ? row[1] : row;
    module.path = pathName(module.path);
  }
}

/** Tables of a profile.
 * @param {{ head: Head, found: Record<string, any> }} parts
 * @returns {Tables} */
export function readTables({ head, found }) {
  if (head.version !== VERSION) throw new Error(`its tables have the layout ${head.version}, not ${VERSION}`);
  const time = found.time;
  for (let i = 1; i < time.length; i++) time[i] += time[i - 1];
  return tablesOf(head, found, false);
}

/** Tables from a head and named columns. A missing column is null.
 * @param {Head} head @param {Record<string, any>} found @param {boolean} grows @returns {Tables} */
export function tablesOf(head, found, grows) {
  const columns = (/** @type {string[]} */ names) => Object.fromEntries(names.map((name) => [name, found[name] || null]));
  const { nodes, leaves, places, samples, spans } = COLUMNS, { parent, time } = found;
  return /** @type {any} */ ({
    head, lines: { n: parent.length, grows, ...columns(nodes) }, ...columns(leaves), ...columns(places), ...columns(samples),
    values: (head.values ?? []).map((_, at) => found[`value${at}`]), spans: head.spans ? columns(spans) : null,
    samples: time.length, span: time.length ? time[time.length - 1] : 0,
  });
}

/** First sample at or after a time; samples are sorted by time.
 * @param {Uint32Array} time @param {number} wanted */
export function firstAt(time, wanted) {
  let low = 0, high = time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle] < wanted) low = middle + 1; else high = middle;
  }
  return low;
}
