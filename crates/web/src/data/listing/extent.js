// @ts-check
// First and last line of a function in the text of its file. The page has the line of most declarations; other
// headings and the ends are found by indentation, in all languages with blocks.

/** Number of lines around those with a cost, if the bounds of the function are not found. */
const AROUND = 6;
/** Maximum distance of a function's bounds from its lines with a cost, and the length of a heading, in lines. */
const FAR = 2000, HEADING = 12;
/** Statements that enclose lines like a function does. */
const STATEMENT = /^[\s}]*(if|else|for|while|switch|do|try|catch|finally|match|loop|with|unsafe|case|default|select|synchronized|elif|except|return|goto)\b/;
/** End of a text that begins a lambda or a closure. */
const LAMBDA = /\[[^\]]*\]\s*(\([^()]*\))?[^()]*$|\|[^|]*\|[^|()]*$/;
/** Words before the name of a function. */
const KEYWORD = /(^|\s)(fn|def|func|fun|function|sub|proc|procedure|subroutine)\s/;

/** Indentation of a line; a tab counts 8. Null for an empty line, a label or a directive.
 * @param {string} line */
function indentOf(line) {
  let at = 0, indent = 0;
  for (; at < line.length && (line[at] === " " || line[at] === "\t"); at++) indent += line[at] === "\t" ? 8 - indent % 8 : 1;
  if (at === line.length || line[at] === "\r" || line[at] === "#") return null;
  return /^\s*(\w+\s*:($|[^:])|(public|private|protected)\b[\s\w]*:)/.test(line) && !STATEMENT.test(line) ? null : indent;
}

/** Returns true if a function begins at a line: a name with arguments, and its body before the next statement ends.
 * @param {string[]} text @param {number} at @param {boolean} lambdas whether it may be a lambda */
function isHeading(text, at, lambdas) {
  if (STATEMENT.test(text[at]) || /^\s*([{}):*]|->|\/[/*])/.test(text[at])) return false;
  const [all] = text.slice(at, at + HEADING).join("\n").split(/\n\s*\n/), body = all.search(/[{;]|:\s*$/m);
  if (body < 0 || all[body] === ";") return false;
  const before = all.slice(0, body), count = (/** @type {string} */ sign) => before.split(sign).length;
  if (KEYWORD.test(text[at])) return true;
  return /\(/.test(before.split("\n")[0]) && (count("(") === count(")") ? !/[=,(]\s*$/.test(before) : lambdas && LAMBDA.test(before));
}

/** Heading of the function around lines: the enclosing line, from the inside outwards, that begins a function.
 * @param {string[]} text @param {number} first @param {number} last indexes @returns {number} -1 if there is none */
function headingOf(text, first, last) {
  // The heading itself has a cost if the function's entry has one.
  if (indentOf(text[first]) !== null && isHeading(text, first, false)) return first;
  // Brackets stand at the indentation of the line that encloses the others.
  const depth = (/** @type {number} */ at) => (indentOf(text[at]) ?? Infinity) + (/^\s*[{})]/.test(text[at]) ? 1 : 0);
  let inner = Infinity;
  for (let at = first; at <= last; at++) inner = Math.min(inner, depth(at));
  for (let at = first - 1; at >= Math.max(0, first - FAR); at--) {
    const indent = indentOf(text[at]);
    if (indent === null || indent >= inner) continue;
    if (isHeading(text, at, true)) return at;
    inner = depth(at);
  }
  return -1;
}

/** First line of a heading with the attributes, template parameters or types above it.
 * @param {string[]} text @param {number} heading */
function startOf(text, heading) {
  const indent = indentOf(text[heading]);
  let at = heading;
  while (at > 0 && heading - at < HEADING && (/^\s*#\[/.test(text[at - 1]) || (indentOf(text[at - 1]) === indent && !/[;{}:,)]\s*$|^\s*([{}*]|\/[/*])/.test(text[at - 1])))) at--;
  return at;
}

/** Lines of the function that contains some of the file's lines, from its heading to its end.
 * @param {string[]} text lines of the file @param {number} first @param {number} last numbers of lines, from 1
 * @param {number} [declared] the line of its declaration, 0 if unknown @returns {{ first: number, last: number }} */
export function extentOf(text, first, last, declared = 0) {
  const limited = { first: Math.max(1, first - AROUND), last: Math.max(last, Math.min(text.length, last + AROUND)) };
  if (last > text.length) return limited;
  const isKnown = declared > 0 && declared <= first && first - declared <= FAR;
  const heading = isKnown ? declared - 1 : headingOf(text, first - 1, last - 1);
  if (heading < 0) return limited;
  const indent = indentOf(text[heading]) ?? 0;
  let end = heading;
  for (let at = heading + 1; at < Math.min(text.length, last + FAR); at++) {
    const found = indentOf(text[at]);
    if (found === null) continue;
    if (found > indent || (found === indent && /^\s*[{):]/.test(text[at]))) { end = at; continue; }
    if (at < last - 1) continue;
    if (found === indent && /^\s*(\}|end\b)/i.test(text[at])) end = at;
    break;
  }
  return { first: startOf(text, heading) + 1, last: Math.max(end + 1, last) };
}
