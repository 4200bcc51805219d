// The tables: bottom-up, and functions with their callers, callees and lines.
const SHOWN = 200;
const B = { sort: "own", chosen: -1, limit: SHOWN };
function element(tag, properties, ...inner) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...inner);
  return made;
}
function headRow(columns) {
  return element("tr", {}, ...columns.map(([text, kind, click]) => {
    const cell = element("th", { scope: "col", className: kind || "" });
    cell.append(click ? element("button", { type: "button", onclick: click }, text) : text);
    return cell;
  }));
}
const number = (value) => element("td", { className: "number" }, `${amount(value)} (${share(value)})`);
function nameCell(f, inner, indent) {
  const cell = element("td", { title: name(f) });
  cell.style.paddingLeft = 6 + indent * 14 + "px";
  if (C.hits && C.hits[f]) inner.classList.add("hit");
  cell.append(inner);
  return cell;
}
const whereCell = (text) => element("td", { className: "where", title: text }, text);

// Bottom-up: a row is a function under those that it called; it opens to show its callers.
function drawBottom() {
  const view = document.getElementById("view-bottom");
  const body = element("tbody", {});
  const leaves = new Map();
  for (let i = 0; i < P.nodes; i++) {
    const own = C.own[0][i] + C.own[1][i];
    if (own > 0) {
      if (!leaves.has(P.func[i])) leaves.set(P.func[i], []);
      leaves.get(P.func[i]).push([i, own]);
    }
  }
  const rows = [...leaves].filter(([f]) => !C.hits || C.hits[f]).sort((a, b) => C.fown[b[0]] - C.fown[a[0]]);
  for (const [f, pairs] of rows.slice(0, B.limit)) body.append(bottomRow(f, pairs, 0));
  const table = element("table", {}, element("thead", {}, headRow([["Cost", "number"], ["Function, and its callers"], ["Source or module", "where"]])), body);
  table.setAttribute("role", "treegrid");
  table.setAttribute("aria-label", "Functions by their own cost, with their callers");
  view.replaceChildren(table, ...moreButton(rows.length, drawBottom));
}
function moreButton(n, again) {
  if (n <= B.limit) return [];
  return [element("button", { type: "button", onclick: () => { B.limit *= 5; again(); } }, `${n - B.limit} more`)];
}
function bottomRow(f, pairs, depth) {
  const sum = pairs.reduce((sum, pair) => sum + pair[1], 0);
  const row = element("tr", { tabIndex: 0 });
  row.setAttribute("aria-level", depth + 1);
  const callers = new Map();
  let outermost = 0;
  for (const [node, cost] of pairs) {
    const parent = P.parent[node];
    if (parent === NONE) { outermost += cost; continue; }
    if (!callers.has(P.func[parent])) callers.set(P.func[parent], []);
    callers.get(P.func[parent]).push([parent, cost]);
  }
  const inner = element("span", {}, (callers.size ? "▸ " : "\u2002 ") + name(f));
  row.append(number(sum), nameCell(f, inner, depth), whereCell(place(f, 0)));
  if (!callers.size) return row;
  row.setAttribute("aria-expanded", "false");
  const toggle = (open) => {
    if ((row.getAttribute("aria-expanded") === "true") === open) return;
    row.setAttribute("aria-expanded", open);
    inner.textContent = (open ? "▾ " : "▸ ") + name(f);
    if (open) {
      const sorted = [...callers].map(([g, pairs]) => bottomRow(g, pairs, depth + 1));
      sorted.sort((a, b) => b.cost - a.cost);
      row.after(...sorted);
    } else while (row.nextSibling && row.nextSibling.getAttribute("aria-level") > depth + 1) row.nextSibling.remove();
  };
  row.addEventListener("click", () => toggle(row.getAttribute("aria-expanded") !== "true"));
  row.addEventListener("keydown", (event) => {
    if (event.key === "Enter") toggle(row.getAttribute("aria-expanded") !== "true");
    else if (event.key === "ArrowRight") toggle(true);
    else if (event.key === "ArrowLeft") toggle(false);
    else if (event.key === "ArrowDown" && row.nextSibling) row.nextSibling.focus();
    else if (event.key === "ArrowUp" && row.previousSibling) row.previousSibling.focus();
    else return;
    event.preventDefault();
  });
  row.cost = sum;
  return row;
}

// Functions: own and inclusive costs; the chosen one with callers, callees and lines.
function drawCallers() {
  const view = document.getElementById("view-callers");
  const rows = [];
  for (let f = 0; f < P.functions; f++) if (C.ftotal[f] > 0 && (!C.hits || C.hits[f])) rows.push(f);
  const key = B.sort === "own" ? C.fown : C.ftotal;
  if (B.sort === "name") rows.sort((a, b) => a - b); else rows.sort((a, b) => key[b] - key[a] || a - b);
  const sort = (how) => () => { B.sort = how; drawCallers(); };
  const list = functionTable("Functions", rows.slice(0, B.limit), (f) => [C.fown[f], C.ftotal[f]],
    [["Own", "number", sort("own")], ["Inclusive", "number", sort("total")], ["Function", "", sort("name")]]);
  const left = element("div", {}, list, ...moreButton(rows.length, drawCallers)), right = element("div", {});
  if (B.chosen >= 0) right.append(...aboutFunction(B.chosen));
  else right.append(element("p", {}, "Choose a function."));
  view.replaceChildren(element("div", { className: "columns" }, left, right));
}
function functionTable(caption, rows, costs, columns) {
  const body = element("tbody", {});
  for (const f of rows) {
    const button = element("button", { type: "button", className: "name", onclick: () => choose(f) }, name(f));
    const row = element("tr", { className: f === B.chosen ? "chosen" : "" });
    row.append(...costs(f).map(number), nameCell(f, button, 0));
    body.append(row);
  }
  const table = element("table", {}, element("thead", {}, headRow(columns)), body);
  table.setAttribute("aria-label", caption);
  return table;
}
function aboutFunction(f) {
  const callers = new Map(), callees = new Map(), lines = new Map(), roots = [];
  const add = (map, key, cost) => { if (cost > 0) map.set(key, (map.get(key) || 0) + cost); };
  for (let i = 0; i < P.nodes; i++) {
    if (P.func[i] !== f || !P.outer[i] || cost(i) === 0) continue;
    roots.push(i);
    if (P.parent[i] !== NONE) add(callers, P.func[P.parent[i]], cost(i));
  }
  // A callee counts a stack once: only the outermost of its calls.
  const open = new Map();
  const called = (node) => P.parent[node] !== NONE && P.func[P.parent[node]] === f;
  walk(roots, (node) => {
    if (cost(node) === 0) return false;
    if (!called(node)) return true;
    const depth = open.get(P.func[node]) || 0;
    if (depth === 0) add(callees, P.func[node], cost(node));
    open.set(P.func[node], depth + 1);
    return true;
  }, (node) => { if (called(node)) open.set(P.func[node], open.get(P.func[node]) - 1); });
  for (let i = 0; i < C.leaf.length; i++) {
    if (P.leaf_node[i] !== NONE && P.func[P.leaf_node[i]] === f) add(lines, P.leaf_line[i], C.leaf[i]);
  }
  const rows = (map) => [...map.keys()].sort((a, b) => map.get(b) - map.get(a) || a - b);
  const columns = (text) => [["Inclusive", "number"], [text]];
  const about = element("p", {}, `${name(f)} — own ${amount(C.fown[f])} (${share(C.fown[f])}), inclusive ${amount(C.ftotal[f])} (${share(C.ftotal[f])}); ${place(f, 0)}${file(f) && module(f) ? " in " + module(f) : ""}`);
  const body = element("tbody", {});
  for (const line of rows(lines).slice(0, SHOWN)) {
    body.append(element("tr", {}, number(lines.get(line)), whereCell(place(f, line) + (line ? "" : " (line unknown)"))));
  }
  const ownLines = element("table", {}, element("thead", {}, headRow([["Own", "number"], ["Line", "where"]])), body);
  ownLines.setAttribute("aria-label", "Own cost by line");
  return [about, functionTable("Callers", rows(callers), (g) => [callers.get(g)], columns("Callers")), element("br"),
    functionTable("Callees", rows(callees), (g) => [callees.get(g)], columns("Callees")), element("br"), ownLines];
}
function choose(f) {
  B.chosen = f;
  show("callers");
}
