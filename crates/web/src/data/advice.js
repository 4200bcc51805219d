// @ts-check
// Advice on missing files: the modules that cost the most names or stacks, with the remedy of the command's summary.
import { pathName } from "./names.js";
import { percent } from "./numbers.js";

/** Advice on a module: its share of the frames without a name (`isNameless`) or of the stacks that end early, the whole
 * advice, and its first remedy in brief.
 * @typedef {{ module: number, share: number, isNameless: boolean, text: string, brief: string }} Advice */

/** Heading of the summary's list of modules without names. */
const NAMELESS = " of the frames have no name:";

/** Advice by module, in descending order of the share.
 * @param {Pick<import("./columns.js").Head, "summary" | "losses" | "modules">} head @param {number} samples
 * @returns {Advice[]} */
export function adviceOf({ summary, losses, modules }, samples) {
  const made = namesOf(summary, modules);
  for (const { module, samples: lost, reason, help } of losses) {
    if (module < 0 || !help || made.some((one) => one.module === module)) continue;
    const share = samples ? lost / samples : 0;
    made.push({ module, share, isNameless: false, text: `${percent(lost, samples)} of the stacks end there early: ${reason}. ${sentence(help)}`, brief: firstOf(help) });
  }
  return made.sort((a, b) => b.share - a.share);
}

/** Modules without names in the summary, which has the three costliest.
 * @param {string} summary @param {{ path: string }[]} modules @returns {Advice[]} */
function namesOf(summary, modules) {
  /** @type {Advice[]} */
  const made = [], lines = summary.split("\n"), start = lines.findIndex((line) => line.endsWith(NAMELESS));
  if (start < 0) return made;
  for (const line of lines.slice(start + 1)) {
    const [, share, less, number, rest] = /^ +((<?)([\d.]+) %) +(.*)$/.exec(line) ?? [];
    if (rest === undefined) break;
    const named = rest.replace(/^[^:]+/, pathName), module = modules.findIndex(({ path }) => named.startsWith(`${path}: `));
    if (module < 0) continue;
    const help = named.slice(modules[module].path.length + 2), end = help.indexOf(": ");
    const why = end < 0 ? "" : `, since ${help.slice(0, end)}`, remedy = end < 0 ? help : help.slice(end + 2);
    made.push({ module, share: Number(number) / (less ? 200 : 100), isNameless: true, text: `${share} of the frames have no name${why}. ${sentence(remedy)}`, brief: firstOf(remedy) });
  }
  return made;
}

/** @param {string} text */
const sentence = (text) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;

/** First of several remedies, without its details.
 * @param {string} help */
const firstOf = (help) => help.split(/ \(|, or |; /)[0];
