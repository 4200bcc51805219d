// The timeline: a lane for all threads and one for each of the busiest; dragging selects a time, boxes select threads.
const LANES = 60;
const T = { lanes: [], drag: null };
const seconds = (units) => units * P.head.unit / 1e9;
function startTimeline() {
  const counts = new Uint32Array(P.head.threads.length);
  for (let i = 0; i < P.thread.length; i++) counts[P.thread[i]]++;
  const busiest = [...counts.keys()].sort((a, b) => counts[b] - counts[a] || a - b).slice(0, LANES);
  const box = document.getElementById("lanes");
  const lane = (text, thread) => {
    const row = document.createElement("div"), label = document.createElement("label");
    const check = document.createElement("input"), canvas = document.createElement("canvas");
    row.className = "lane";
    check.type = "checkbox";
    check.checked = true;
    label.title = text;
    label.append(check, " " + text);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Samples of ${text} over time`);
    row.append(label, canvas);
    box.append(row);
    check.addEventListener("change", () => pickThread(thread, check.checked));
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      T.drag = timeAt(canvas, event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (T.drag !== null) pickTime(T.drag, timeAt(canvas, event), false);
    });
    canvas.addEventListener("pointerup", (event) => {
      const start = T.drag, end = timeAt(canvas, event);
      T.drag = null;
      if (Math.abs(end - start) * canvas.clientWidth < 3 * P.span) pickTime(0, NONE, true); else pickTime(start, end, true);
    });
    T.lanes.push({ thread, check, canvas });
  };
  lane(`all ${counts.length} threads`, -1);
  for (const thread of busiest) {
    const [pid, tid, comm] = P.head.threads[thread];
    lane(`${comm || "[unknown]"} ${pid}/${tid} — ${counts[thread].toLocaleString("en")}`, thread);
  }
  T.rest = counts.length > busiest.length;
  for (const id of ["from", "to"]) {
    document.getElementById(id).addEventListener("change", () => {
      const read = (id, otherwise) => {
        const value = document.getElementById(id).value;
        return value === "" ? otherwise : Math.round(Number(value) * 1e9 / P.head.unit);
      };
      pickTime(read("from", 0), read("to", P.span), true);
    });
  }
  document.getElementById("everything").addEventListener("click", () => {
    for (const lane of T.lanes) lane.check.checked = true;
    S.threads = null;
    pickTime(0, NONE, true);
  });
}
function timeAt(canvas, event) {
  const area = canvas.getBoundingClientRect();
  return Math.min(Math.max((event.clientX - area.left) / area.width, 0), 1) * P.span;
}
function pickTime(a, b, done) {
  S.from = Math.max(0, Math.round(Math.min(a, b)));
  S.to = b === NONE ? NONE : Math.round(Math.max(a, b));
  document.getElementById("from").value = b === NONE ? "" : seconds(S.from).toFixed(6);
  document.getElementById("to").value = b === NONE ? "" : seconds(S.to).toFixed(6);
  if (done) refresh(); else drawLanes();
}
function pickThread(thread, on) {
  if (thread < 0) {
    for (const lane of T.lanes) lane.check.checked = on;
    S.threads = on ? null : new Uint8Array(P.head.threads.length);
  } else {
    S.threads ||= new Uint8Array(P.head.threads.length).fill(1);
    S.threads[thread] = on ? 1 : 0;
    T.lanes[0].check.checked = S.threads.every((one) => one);
  }
  refresh();
}
// Bins are counted again only where the width or the event changes.
function drawLanes() {
  const width = Math.max(50, Math.floor(T.lanes[0].canvas.clientWidth));
  const key = width + "/" + S.event;
  if (T.key !== key) {
    T.key = key;
    T.bins = T.lanes.map(() => [new Uint32Array(width), new Uint32Array(width)]);
    const lane = new Int32Array(P.head.threads.length).fill(-1);
    T.lanes.forEach((one, index) => { if (one.thread >= 0) lane[one.thread] = index; });
    const scale = width / (P.span + 1);
    for (let i = 0; i < P.time.length; i++) {
      if (S.event >= 0 && P.event[i] !== S.event) continue;
      const bin = Math.floor(P.time[i] * scale), cut = P.head.rooted[P.leaf_end[P.leaf[i]]] ? 0 : 1;
      T.bins[0][cut][bin]++;
      if (lane[P.thread[i]] >= 0) T.bins[lane[P.thread[i]]][cut][bin]++;
    }
  }
  const style = getComputedStyle(document.documentElement);
  T.lanes.forEach((one, index) => {
    const [whole, cut] = T.bins[index], canvas = one.canvas, height = 18;
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext("2d");
    let most = 1;
    for (let x = 0; x < width; x++) most = Math.max(most, whole[x] + cut[x]);
    for (let x = 0; x < width; x++) {
      const sum = (whole[x] + cut[x]) / most * height, part = cut[x] / most * height;
      pen.fillStyle = "#e8a33d";
      if (sum > 0) pen.fillRect(x, height - Math.max(sum, 1), 1, Math.max(sum, 1));
      pen.fillStyle = "#83838f";
      if (part > 0) pen.fillRect(x, height - part, 1, part);
    }
    if (S.to !== NONE) {
      pen.fillStyle = style.getPropertyValue("--pick");
      const x = S.from / (P.span + 1) * width;
      pen.fillRect(x, 0, Math.max((S.to - S.from) / (P.span + 1) * width, 1), height);
    }
  });
}
