"use strict";
// The tables of the page, and what is counted of them.
const NONE = 0xffffffff, INLINED = 1, GUESSED = 2, KERNEL = 4, ANONYMOUS = 8, JOINED = 16, GAP = 32;
const P = {};

async function decode() {
  const text = document.getElementById("data").textContent.trim();
  let bytes;
  if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(text);
  else {
    const raw = atob(text);
    bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  P.head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
  const types = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array };
  let at = 8 + Math.ceil(length / 8) * 8;
  for (const [name, type, count] of P.head.columns) {
    P[name] = new types[type](buffer, at, count);
    at += Math.ceil(P[name].byteLength / 8) * 8;
  }
  for (let i = 1; i < P.time.length; i++) P.time[i] += P.time[i - 1];
  P.nodes = P.parent.length;
  P.functions = P.head.functions.length;
  children();
  outermost();
}

// Children of node n: order[start[n + 1]] to order[start[n + 2] - 1]; those of no node come first. Functions are
// numbered by name, so children are in the order of their names.
function children() {
  const n = P.nodes, by = new Uint32Array(P.functions + 1), sorted = new Uint32Array(n);
  for (let i = 0; i < n; i++) by[P.func[i] + 1]++;
  for (let i = 0; i < P.functions; i++) by[i + 1] += by[i];
  for (let i = 0; i < n; i++) sorted[by[P.func[i]]++] = i;
  const start = new Uint32Array(n + 2);
  for (let i = 0; i < n; i++) start[P.parent[i] === NONE ? 1 : P.parent[i] + 2]++;
  for (let i = 1; i < n + 2; i++) start[i] += start[i - 1];
  const fill = start.slice(), order = new Uint32Array(n);
  for (let k = 0; k < n; k++) {
    const i = sorted[k], slot = P.parent[i] === NONE ? 0 : P.parent[i] + 1;
    order[fill[slot]++] = i;
  }
  P.start = start;
  P.order = order;
}
const kids = (node) => {
  const slot = node === NONE ? 0 : node + 1;
  return [P.start[slot], P.start[slot + 1]];
};

// Calls enter and leave for the nodes below roots, callers first.
function walk(roots, enter, leave) {
  const todo = [];
  for (let i = roots.length - 1; i >= 0; i--) todo.push(roots[i]);
  while (todo.length) {
    const node = todo.pop();
    if (node < 0) { leave(~node); continue; }
    if (enter(node) === false) continue;
    todo.push(~node);
    const [from, to] = kids(node);
    for (let k = to - 1; k >= from; k--) todo.push(P.order[k]);
  }
}

// Marks the nodes that no caller of the same function is outside of: a function's inclusive cost is theirs.
function outermost() {
  const open = new Uint32Array(P.functions);
  P.outer = new Uint8Array(P.nodes);
  const [from, to] = kids(NONE);
  walk(P.order.subarray(from, to), (node) => {
    if (open[P.func[node]]++ === 0) P.outer[node] = 1;
  }, (node) => { open[P.func[node]]--; });
}

// What the selection costs: per leaf, and per node by itself and with what it calls, rooted [0] and truncated [1].
const S = { from: 0, to: NONE, threads: null, event: -1, weight: "samples", truncated: "apart" };
const C = {};
function lower(time) {
  let low = 0, high = P.time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (P.time[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
}
function count() {
  const leaf = C.leaf = new Float64Array(P.leaf_node.length);
  const first = lower(S.from), last = S.to === NONE ? P.time.length : lower(S.to + 1);
  const period = S.weight === "period" && P.period ? P.period : null;
  let samples = 0;
  for (let i = first; i < last; i++) {
    if (S.threads && !S.threads[P.thread[i]]) continue;
    if (S.event >= 0 && P.event[i] !== S.event) continue;
    leaf[P.leaf[i]] += period ? period[i] : 1;
    samples++;
  }
  C.samples = samples;
  C.own = [new Float64Array(P.nodes), new Float64Array(P.nodes)];
  C.sum = [0, 0];
  C.ends = new Float64Array(P.head.ends.length);
  for (let i = 0; i < leaf.length; i++) {
    if (leaf[i] === 0) continue;
    const end = P.leaf_end[i], cut = P.head.rooted[end] ? 0 : 1;
    C.ends[end] += leaf[i];
    if (cut && S.truncated === "hidden") continue;
    const which = cut && S.truncated === "apart" ? 1 : 0;
    C.sum[which] += leaf[i];
    if (P.leaf_node[i] !== NONE) C.own[which][P.leaf_node[i]] += leaf[i];
  }
  C.total = C.own.map((own) => {
    const total = own.slice();
    for (let i = P.nodes - 1; i >= 0; i--) {
      if (total[i] && P.parent[i] !== NONE) total[P.parent[i]] += total[i];
    }
    return total;
  });
  C.all = C.sum[0] + C.sum[1];
  C.cut = C.ends.reduce((sum, cost, end) => sum + (P.head.rooted[end] ? 0 : cost), 0);
  C.known = C.ends.reduce((sum, cost) => sum + cost, 0);
  C.fown = new Float64Array(P.functions);
  C.ftotal = new Float64Array(P.functions);
  for (let i = 0; i < P.nodes; i++) {
    C.fown[P.func[i]] += C.own[0][i] + C.own[1][i];
    if (P.outer[i]) C.ftotal[P.func[i]] += C.total[0][i] + C.total[1][i];
  }
}
const cost = (node) => C.total[0][node] + C.total[1][node];

// The functions that the search finds, and the cost of the stacks that have one.
function find(text) {
  C.hits = null;
  if (!text) return;
  let test;
  const pattern = /^\/(.+)\/$/.exec(text);
  if (pattern) {
    try { const regex = new RegExp(pattern[1], "i"); test = (name) => regex.test(name); } catch { test = () => false; }
  } else {
    const wanted = text.toLowerCase();
    test = (name) => name.toLowerCase().includes(wanted);
  }
  const hits = Uint8Array.from(P.head.functions, (row, f) => test(name(f)) ? 1 : 0);
  const under = new Uint8Array(P.nodes);
  C.found = 0;
  for (let i = 0; i < P.nodes; i++) {
    under[i] = hits[P.func[i]] | (P.parent[i] === NONE ? 0 : under[P.parent[i]]);
    if (under[i]) C.found += C.own[0][i] + C.own[1][i];
  }
  C.hits = hits;
}

const UNKNOWN = "[unknown]";
// Code without a name is told apart by its module.
function name(f) {
  const text = P.head.names[P.head.functions[f][0]];
  return text === UNKNOWN && module(f) ? `${UNKNOWN} in ${module(f).split("/").pop()}` : text;
}
const module = (f) => P.head.functions[f][2] < 0 ? "" : P.head.names[P.head.functions[f][2]];
const file = (f) => P.head.functions[f][1] < 0 ? "" : P.head.names[P.head.functions[f][1]];
const place = (f, line) => file(f) ? file(f) + (line ? ":" + line : "") : module(f);
const share = (value) => C.all ? (100 * value / C.all).toFixed(value / C.all < 0.1 ? 2 : 1) + " %" : "0 %";
const amount = (value) => Math.round(value).toLocaleString("en");
