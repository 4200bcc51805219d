// @ts-check
// Names: of functions, short and in full, of modules, and of threads that differ only in numbers.

/** Name of code without a symbol. */
export const UNKNOWN = "[unknown]";

/** Last component of a path.
 * @param {string} path */
export const baseName = (path) => path.slice(path.lastIndexOf("/") + 1) || path;

/** Name of a function without arguments and template arguments: `a::b<…>::c`.
 * @param {string} name */
export function shortName(name) {
  if (!/[<({]/.test(name) || name.startsWith("[")) return name;
  let text = name.replaceAll("(anonymous namespace)", "{anonymous}").replace(/ \[clone [^\]]*\]/g, "");
  const operator = /\boperator\s*(\(\)|<=>|<<=?|>>=?|->\*?|<=?|>=?)/.exec(text);
  if (operator) text = text.slice(0, operator.index) + "\u0001" + text.slice(operator.index + operator[0].length).replace(/^ (?=<)/, "");
  let made = "", depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    // Rust puts types in angle brackets at the start of a path; these are retained.
    if (char === "<" && depth === 0 && (made === "" || made.endsWith("::")) && closes(text, at) > 0) {
      const end = closes(text, at), inner = text.slice(at + 1, end), as = outside(inner, " as ");
      made += as < 0 ? `<${shortName(inner)}>` : `<${shortName(inner.slice(0, as))} as ${shortName(inner.slice(as + 4))}>`;
      at = end;
    } else if (char === "<" || char === "(") {
      // Parentheses at the outermost level contain arguments. Only a method of a local class can follow them.
      if (depth++ === 0 && char === "<") made += "<…>";
    } else if (char === ">" && text[at - 1] === "-") {
      if (depth === 0) made += char;
    } else if (char === ">" || char === ")") depth = Math.max(0, depth - 1);
    else if (depth === 0) made += char;
  }
  made = made.replace(/( const| &+|( const)? noexcept)+$/, "").trim();
  // In an instantiated template, a return type precedes the name.
  const space = lastSpace(made);
  if (space > 0 && !made.startsWith("<") && !/ as |^vtable for|^typeinfo|^guard|^non-virtual|^virtual thunk|\bfor\b/.test(made)) made = made.slice(space + 1);
  return (operator ? made.replace("\u0001", operator[0]) : made) || name;
}

/** Index of the bracket that closes the one at `at`; negative if there is none.
 * @param {string} text @param {number} at */
function closes(text, at) {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    if (text[i] === "<") depth++;
    else if (text[i] === ">" && text[i - 1] !== "-" && --depth === 0) return i;
  }
  return -1;
}

/** Index of a word outside all brackets.
 * @param {string} text @param {string} word */
function outside(text, word) {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if ("<([".includes(text[i])) depth++;
    else if (")]".includes(text[i]) || (text[i] === ">" && text[i - 1] !== "-")) depth--;
    else if (depth === 0 && text.startsWith(word, i)) return i;
  }
  return -1;
}

/** Index of the last space outside braces and the retained angle brackets.
 * @param {string} text */
function lastSpace(text) {
  let depth = 0;
  for (let i = text.length - 1; i > 0; i--) {
    if ("}>".includes(text[i])) depth++;
    else if ("{<".includes(text[i])) depth--;
    else if (text[i] === " " && depth === 0) return i;
  }
  return -1;
}

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
