// Puts the page together: views, search, selection, theme.
const VIEWS = ["flame", "icicle", "bottom", "callers", "quality"];
let current = "flame";
const byId = (id) => document.getElementById(id);
const unit = () => S.weight === "samples" ? "samples" : P.head.events[Math.max(S.event, 0)]?.unit || "events";

function show(view) {
  current = view;
  for (const one of VIEWS) {
    const tab = byId("tab-" + one), chosen = one === view;
    tab.setAttribute("aria-selected", chosen);
    tab.tabIndex = chosen ? 0 : -1;
  }
  const panel = byId("tab-" + view).getAttribute("aria-controls");
  for (const one of ["view-graph", "view-bottom", "view-callers", "view-quality"]) byId(one).hidden = one !== panel;
  byId("view-graph").setAttribute("aria-labelledby", view === "icicle" ? "tab-icicle" : "tab-flame");
  drawView();
}
function drawView() {
  if (current === "flame" || current === "icicle") {
    if (F.icicle !== (current === "icicle")) F.scrolled = false;
    F.icicle = current === "icicle";
    draw();
    tell(F.at);
  } else if (current === "bottom") drawBottom();
  else if (current === "callers") drawCallers();
}
function search() {
  find(byId("search").value.trim());
  byId("matched").textContent = C.hits ? `${share(C.found)} of the stacks match` : "";
  B.limit = SHOWN;
  drawView();
}
function refresh() {
  count();
  const span = S.to === NONE ? "" : `, ${(seconds(S.to - S.from)).toFixed(6)} s`;
  byId("selected").textContent = `${amount(C.samples)} of ${amount(P.time.length)} samples${span}; truncated ${C.known ? (100 * C.cut / C.known).toFixed(1) : 0} %`;
  if (F.zoom[0] >= 0 && weightOf(F.zoom) === 0) F.zoom = [-1, NONE];
  if (F.at && weightOf(F.at) === 0) F.at = null;
  drawLanes();
  search();
}
function theme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").setAttribute("aria-pressed", name === "dark");
  if (P.time) { drawLanes(); drawView(); }
}
function startTabs() {
  VIEWS.forEach((view, index) => {
    const tab = byId("tab-" + view);
    tab.addEventListener("click", () => show(view));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = VIEWS[(index + step + VIEWS.length) % VIEWS.length];
      show(next);
      byId("tab-" + next).focus();
    });
  });
}
async function start() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  theme(dark.matches ? "dark" : "light");
  byId("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  await decode();
  P.span = P.time.length ? P.time[P.time.length - 1] : 0;
  document.title = P.head.title;
  byId("title").textContent = P.head.title;
  byId("title").title = P.head.title;
  byId("quality").textContent = P.head.summary;
  const events = P.head.events;
  byId("event-label").hidden = events.length < 2;
  byId("weight-label").hidden = !P.period;
  byId("event").append(new Option("all", -1), ...events.map((event, index) => new Option(event.name, index)));
  byId("event").addEventListener("change", (event) => { S.event = Number(event.target.value); refresh(); });
  byId("weight").addEventListener("change", (event) => {
    S.weight = document.documentElement.dataset.weight = event.target.value;
    refresh();
  });
  byId("truncated").addEventListener("change", (event) => { S.truncated = event.target.value; zoom(null); refresh(); });
  let waiting = 0;
  byId("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
  document.addEventListener("keydown", (event) => {
    if ((event.key === "/" || (event.key === "f" && event.ctrlKey)) && event.target !== byId("search")) {
      byId("search").focus();
      event.preventDefault();
    }
  });
  startTabs();
  startGraph();
  startTimeline();
  new ResizeObserver(() => { drawLanes(); drawView(); }).observe(document.body);
  refresh();
  document.documentElement.dataset.ready = "yes";
}
// The tables come behind the scripts.
addEventListener("DOMContentLoaded", () => start().catch((error) => {
  byId("title").textContent = "This page cannot be shown: " + error;
  console.error(error);
}));
