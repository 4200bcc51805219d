// @ts-check
// Names of modules and files, of threads that differ only in numbers, and searches for names.

/** Name of code without a symbol. */
export const UNKNOWN = "[unknown]";

/** Path of a module; memory without a file, which the kernel calls `//anon`, has a name like `[heap]`.
 * @param {string} path */
export const pathName = (path) => path === "//anon" ? "[anonymous]" : path;

/** Last component of a path.
 * @param {string} path */
export const baseName = (path) => path.slice(path.lastIndexOf("/") + 1) || path;

/** Name of an event without the frequency that perf appends: `cpu-clock` for `cpu-clock/freq=997/`,
 * `cpu-clock:u` for `cpu-clock/freq=997/u`.
 * @param {string} name */
export const eventName = (name) => name.replace(/\/freq=\d+\/(?=\w)/, ":").replace(/\/freq=\d+\/|,freq=\d+(?=[,/])|(?<=\/)freq=\d+,/g, "");

/** Sampling rate of an event, as the end of a sentence.
 * @param {{ rate: number | null, frequency: number }} event @param {(value: number) => string} amount */
export function rateText({ rate, frequency }, amount) {
  if (!rate) return "";
  return frequency ? `, ${amount(rate)} per second` : rate === 1 ? ", one per event" : `, one per ${amount(rate)} events`;
}

/** Parts of a text: an option of a command is one part, since lines may break at its hyphens.
 * @param {string} text */
export const optionParts = (text) => text.split(/((?<=^|[\s(])--?[a-z][\w-]*)/i);

/** Name with its trailing number replaced: `worker-3` and `worker-12` become `worker-N`, `cc1plus` stays.
 * @param {string} name */
export const folded = (name) => name.replace(/\d+$/, "N");

/** Name of a group: that of its members if all are equal, otherwise the folded one.
 * @param {string[]} names of one fold */
export const groupName = (names) => (names.every((name) => name === names[0]) ? names[0] : folded(names[0])) || "?";

/** Pattern of a text between slashes; null for other texts, undefined if the pattern is invalid.
 * @param {string} wanted @returns {RegExp | null | undefined} */
function pattern(wanted) {
  const between = /^\/(.+)\/$/.exec(wanted);
  if (!between) return null;
  try { return new RegExp(between[1], "i"); } catch { return undefined; }
}

/** Returns true if a text between slashes is not a valid pattern.
 * @param {string} wanted */
export const isInvalid = (wanted) => pattern(wanted) === undefined;

/** Returns a test for names that contain a text, or match a pattern between slashes.
 * @param {string} wanted @returns {((name: string) => boolean) | null} */
export function matcher(wanted) {
  if (!wanted) return null;
  const regex = pattern(wanted), lower = wanted.toLowerCase();
  if (regex) return (name) => regex.test(name);
  return regex === null ? (name) => name.toLowerCase().includes(lower) : () => false;
}

/** Name of the complete function that a name is a part of: `parse` for `parse.cold` and `parse.part.0.isra.0`;
 * otherwise empty.
 * @param {string} name */
export function wholeName(name) {
  const copy = /^(.+?)(?: \[clone \.([a-z_]+)(?:\.\d+)?\]| \(\.([a-z_]+)\.\d+\)|\.(cold)|\.(isra|part|constprop|cold|llvm|lto_priv)\.\d+)$/;
  let whole = "", rest = name, found;
  while ((found = copy.exec(rest))) {
    rest = found[1];
    if ([found[2], found[3], found[4], found[5]].some((mark) => mark === "cold" || mark === "part")) whole = rest;
  }
  return whole;
}
