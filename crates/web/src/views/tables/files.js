// @ts-check
// Files of the modules: opened or missing, with advice on options.
import { adviceOf } from "../../data/advice.js";
import { percent } from "../../data/numbers.js";
import { make } from "../elements/element.js";
import { Rows } from "../elements/rows.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../app.js").ViewPart} ViewPart */

const KINDS = { elf: "ELF file", file: "not opened", anonymous: "memory without a file", kernel: "kernel" };

/** @param {App} app @returns {ViewPart} */
export function filesView(app) {
  const moduleAt = (/** @type {number} */ at) => app.tables.head.modules[at];
  /** @returns {Map<number, import("../../data/columns.js").Head["losses"][0]>} */
  const lossesOf = () => app.model.once("losses", "", () => new Map(app.tables.head.losses.map((loss) => [loss.module, loss])));
  /** @returns {Map<number, import("../../data/advice.js").Advice>} */
  const advice = () => app.model.once("adviceOfModules", "", () => new Map(adviceOf(app.tables.head, app.tables.samples).map((one) => [one.module, one])));
  const status = make("p", { class: "status", role: "status", "aria-live": "polite" });
  const tell = (/** @type {number} */ at) => {
    const module = moduleAt(at), loss = lossesOf().get(at), told = advice().get(at), { path, buildId, opened } = module;
    const isMissed = module.kind === "file" && app.model.moduleCosts().total[at] > 0;
    const give = isMissed ? ` Give the file with --sysroot, --extra-dir or --debug-dir${buildId ? `, or by its build-id with --buildid-dir or --debuginfod` : ""}.` : "";
    status.textContent = `${path}${buildId ? `, build-id ${buildId}` : ""}: ${opened ? `opened ${opened}` : "nothing was opened"}.` +
      (loss ? ` Stacks ended here: ${loss.reason}. ${loss.help ? `What helps: ${loss.help}.` : ""}` : "") + (told?.isNameless ? ` ${told.text}` : "") + give;
  };
  // A file that occurs in no stack was not needed.
  const what = (/** @type {number} */ at) => moduleAt(at).kind === "file" && !app.model.moduleCosts().total[at] ? "not needed"
    : KINDS[/** @type {keyof typeof KINDS} */ (moduleAt(at).kind)];
  /** @type {Rows<number>} */
  const rows = new Rows({
    label: "Files of the modules", act: tell, picked: tell,
    columns: [
      { title: "Inclusive", width: "7em", kind: "number", text: (at) => percent(app.model.moduleCosts().total[at], app.costs.all) },
      { title: "Module", width: "minmax(10em, 1fr)", kind: "name", text: (at) => moduleAt(at).path + (moduleAt(at).count > 1 ? ` (${moduleAt(at).count} of this path)` : "") },
      { title: "Identity", width: "13em", kind: "where", text: what, drop: 3 },
      { title: "Advice", width: "minmax(8em, 1fr)", kind: "where", text: (at) => advice().get(at)?.brief ?? "", hint: (at) => advice().get(at)?.text ?? "", hidden: () => advice().size === 0, drop: 5 },
      { title: "Opened", width: "minmax(8em, 1fr)", kind: "where", text: (at) => moduleAt(at).opened || "", drop: 2 },
      { title: "Build-id", width: "11em", kind: "where", text: (at) => moduleAt(at).buildId || "", drop: 1 },
      { title: "Lost stacks", width: "8em", kind: "number", text: (at) => lossesOf().has(at) ? percent(/** @type {any} */ (lossesOf().get(at)).samples, app.tables.samples) : "", hidden: () => lossesOf().size === 0, drop: 4 },
    ],
  });
  const panel = make("section", { class: "panel column" }, rows.element, status);
  const draw = () => {
    const { total } = app.model.moduleCosts();
    rows.show([...app.tables.head.modules.keys()].sort((a, b) => total[b] - total[a] || a - b), true);
    const first = rows.rows[rows.at];
    if (!status.textContent && first) tell(first.data);
  };
  return { id: "files", title: "Files", panel, draw, resize: () => rows.draw() };
}
