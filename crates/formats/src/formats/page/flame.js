// The flame graph and the icicle: one canvas; only frames of half a pixel or more are visited.
const ROW = 18, HALF = 0.5;
const F = { zoom: [-1, NONE], at: null, boxes: [], icicle: false };
// A frame is [part, node]: part -1 is all, 1 with no node is [truncated].
const weightOf = ([part, node]) => node !== NONE ? C.total[part][node] : part === 1 ? C.sum[1] : C.all;
const same = (a, b) => a && b && a[0] === b[0] && a[1] === b[1];
function outside([part, node]) {
  if (part < 0) return null;
  if (node === NONE) return [-1, NONE];
  if (P.parent[node] !== NONE) return [part, P.parent[node]];
  return part === 1 ? [1, NONE] : [-1, NONE];
}
function inside([part, node]) {
  const found = [];
  const add = (which, parent) => {
    const [from, to] = kids(parent);
    for (let k = from; k < to; k++) if (C.total[which][P.order[k]] > 0) found.push([which, P.order[k]]);
  };
  if (part < 0) {
    add(0, NONE);
    if (C.sum[1] > 0) found.push([1, NONE]);
  } else add(part, node);
  return found;
}
function layout(width) {
  F.boxes = [];
  const path = [];
  for (let frame = outside(F.zoom); frame; frame = outside(frame)) path.unshift(frame);
  path.forEach((frame, depth) => F.boxes.push({ frame, x: 0, w: width, depth, faded: true }));
  const todo = [{ frame: F.zoom, x: 0, w: width, depth: path.length }];
  while (todo.length) {
    const box = todo.pop();
    F.boxes.push(box);
    const scale = box.w / (weightOf(box.frame) || 1);
    let x = box.x;
    for (const frame of inside(box.frame)) {
      const w = weightOf(frame) * scale;
      if (w >= HALF) todo.push({ frame, x, w, depth: box.depth + 1 });
      x += w;
    }
  }
}
function label([part, node]) {
  if (part < 0) return "all";
  return node === NONE ? "[truncated]" : name(P.func[node]);
}
function colour(frame) {
  const [part, node] = frame, dark = document.documentElement.dataset.theme === "dark";
  if (part < 0) return dark ? "#45454f" : "#dcdce2";
  if (node === NONE) return "#9a9aa4";
  const flags = P.flags[node], f = P.func[node];
  if (flags & GAP) return "#9a9aa4";
  const text = module(f) || name(f);
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  hash = (hash + f * 2654435761) >>> 0;
  const light = (dark ? 48 : 64) + hash % 9;
  if (flags & KERNEL) return `hsl(${4 + hash % 14} 65% ${light}%)`;
  if (flags & ANONYMOUS) return `hsl(${258 + hash % 20} 48% ${light}%)`;
  return `hsl(${28 + hash % 22} ${dark ? 62 : 78}% ${light}%)`;
}
function draw() {
  const canvas = document.getElementById("graph"), box = canvas.parentElement;
  const width = Math.max(200, box.clientWidth - 2);
  layout(width);
  const deepest = F.boxes.reduce((most, one) => Math.max(most, one.depth), 0);
  const height = (deepest + 1) * ROW;
  const ratio = Math.min(window.devicePixelRatio || 1, 16000 / height);
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "12px system-ui, sans-serif";
  pen.textBaseline = "middle";
  for (const one of F.boxes) {
    one.y = F.icicle ? one.depth * ROW : height - (one.depth + 1) * ROW;
    paint(pen, one);
  }
  document.getElementById("out").disabled = F.zoom[0] < 0;
  if (!F.icicle && !F.scrolled) box.scrollTop = box.scrollHeight;
  if (F.icicle && !F.scrolled) box.scrollTop = 0;
  F.scrolled = true;
}
function paint(pen, one) {
  const [, node] = one.frame, w = Math.max(one.w - (one.w > 3 ? 1 : 0), HALF);
  const hit = C.hits && node !== NONE && C.hits[P.func[node]];
  pen.globalAlpha = one.faded ? 0.55 : C.hits && !hit ? 0.5 : 1;
  pen.fillStyle = hit ? "#c04bd6" : colour(one.frame);
  pen.fillRect(one.x, one.y, w, ROW - 1);
  const flags = node === NONE ? 0 : P.flags[node];
  if (flags & INLINED && w > 6) {
    pen.save();
    pen.beginPath();
    pen.rect(one.x, one.y, w, ROW - 1);
    pen.clip();
    pen.strokeStyle = "rgba(255,255,255,.38)";
    pen.lineWidth = 2;
    pen.beginPath();
    for (let x = one.x - ROW; x < one.x + w; x += 7) { pen.moveTo(x, one.y + ROW); pen.lineTo(x + ROW, one.y); }
    pen.stroke();
    pen.restore();
  }
  if (flags & (GUESSED | JOINED) && w > 4) {
    pen.setLineDash(flags & JOINED ? [1.5, 2.5] : [4, 3]);
    pen.strokeStyle = "#000";
    pen.lineWidth = 1.5;
    pen.strokeRect(one.x + 1, one.y + 1, w - 2, ROW - 3);
    pen.setLineDash([]);
  }
  if (w > 24) {
    pen.fillStyle = one.frame[0] < 0 && document.documentElement.dataset.theme === "dark" ? "#fff" : "#14140f";
    const most = Math.floor((w - 6) / 6.1), text = label(one.frame);
    const shown = pen.measureText(text).width <= w - 6 ? text : text.slice(0, most - 1) + "…";
    pen.save();
    pen.beginPath();
    pen.rect(one.x, one.y, w - 2, ROW);
    pen.clip();
    pen.font = (flags & INLINED ? "italic " : "") + "12px system-ui, sans-serif";
    pen.fillText(shown, one.x + 3, one.y + ROW / 2);
    pen.restore();
  }
  pen.globalAlpha = 1;
  if (same(F.at, one.frame)) {
    pen.strokeStyle = "#1550c8";
    pen.lineWidth = 2.5;
    pen.strokeRect(one.x + 1, one.y + 1, Math.max(w - 2, 1), ROW - 3);
  }
}
function describe(frame) {
  if (!frame) return "\u00a0";
  const cost = weightOf(frame), [part, node] = frame;
  const text = `${label(frame)} — ${amount(cost)} ${unit()} (${share(cost)})`;
  if (node === NONE) return part === 1 ? text + "; the outer frames of these stacks are missing" : text;
  const f = P.func[node], marks = [];
  if (P.flags[node] & INLINED) marks.push("inlined");
  if (P.flags[node] & GUESSED) marks.push("guessed");
  if (P.flags[node] & GAP) marks.push("stands for frames that no sample shows");
  else if (P.flags[node] & JOINED) marks.push("in most of these stacks from other samples");
  if (P.flags[node] & KERNEL) marks.push("kernel");
  const more = P.lines[node] > 1 ? ` (and ${P.lines[node] - 1} more lines)` : "";
  return `${text}, itself ${amount(C.own[part][node])}; ${place(f, P.line[node])}${more}`
    + (file(f) && module(f) ? " in " + module(f) : "") + (marks.length ? "; " + marks.join(", ") : "");
}
function tell(frame) { document.getElementById("frame").textContent = describe(frame); }
function zoom(frame) {
  F.zoom = frame || [-1, NONE];
  F.at = F.zoom;
  // Back to where stacks begin: the height of the graph is another one.
  F.scrolled = false;
  draw();
  tell(F.at);
}
function boxAt(event) {
  const area = event.target.getBoundingClientRect(), x = event.clientX - area.left, y = event.clientY - area.top;
  return F.boxes.find((one) => x >= one.x && x < one.x + one.w && y >= one.y && y < one.y + ROW);
}
function graphKeys(event) {
  const at = F.at || F.zoom, up = outside(at);
  const seen = (frame) => F.boxes.some((one) => same(one.frame, frame));
  const beside = (step) => {
    const row = up ? inside(up).filter(seen) : [at];
    return row[row.findIndex((frame) => same(frame, at)) + step];
  };
  let next;
  const key = event.key;
  if (key === (F.icicle ? "ArrowUp" : "ArrowDown")) next = up;
  else if (key === (F.icicle ? "ArrowDown" : "ArrowUp")) next = inside(at).filter(seen).sort((a, b) => weightOf(b) - weightOf(a))[0];
  else if (key === "ArrowLeft") next = beside(-1);
  else if (key === "ArrowRight") next = beside(1);
  else if (key === "Home") next = [-1, NONE];
  else if (key === "Enter") { zoom(at); event.preventDefault(); return; }
  else if (key === "Escape") { zoom(outside(F.zoom)); return; }
  else if (key === "c" && at[1] !== NONE) { choose(P.func[at[1]]); return; }
  else return;
  event.preventDefault();
  if (!next) return;
  F.at = next;
  draw();
  tell(next);
  const box = F.boxes.find((one) => same(one.frame, next));
  const view = document.getElementById("graph-box");
  if (box && (box.y < view.scrollTop || box.y + ROW > view.scrollTop + view.clientHeight)) {
    view.scrollTop = box.y - view.clientHeight / 2;
  }
}
function startGraph() {
  const canvas = document.getElementById("graph");
  canvas.addEventListener("mousemove", (event) => { const box = boxAt(event); canvas.style.cursor = box ? "pointer" : ""; tell(box ? box.frame : F.at); });
  canvas.addEventListener("mouseleave", () => tell(F.at));
  canvas.addEventListener("click", (event) => { const box = boxAt(event); if (box) zoom(box.frame); });
  canvas.addEventListener("keydown", graphKeys);
  document.getElementById("out").addEventListener("click", () => zoom(outside(F.zoom)));
}
