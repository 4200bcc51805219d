// @ts-check
// Short names of functions: without argument lists and template arguments, `a::b<…>::c`.

/** Part of a name outside all brackets, or a bracket. `args` are template arguments. `params` are an argument list, and
 * `quals` the qualifiers after it. `brace` is a name in braces (`{lambda(int)#1}`), `self` a type of Rust before `::`,
 * `lambda` a closure as GCC's debug information spells it.
 * @typedef {{ kind: "text" | "args" | "params" | "brace" | "self" | "lambda" | "quals", text: string }} Piece */
/** Parts of a name that are spelled: only the function's own argument list, or all; template arguments; the suffix of a
 * compiler's copy.
 * @typedef {{ params?: "own" | "all", args?: boolean, copy?: boolean }} Wanted */

/** Spellings that tell equal short names apart, the shortest first. */
const DETAILS = /** @type {Wanted[]} */ ([{ params: "own" }, { params: "own", copy: true }, { params: "all", copy: true }, { args: true },
  { args: true, copy: true }, { args: true, params: "own", copy: true }, { args: true, params: "all", copy: true }]);
/** Names of run-time compilers, Python, Objective-C: their brackets are not those of C++. */
const FOREIGN = /^(?:\w+:(?!:)|py::.*[^:]:[^:]|[-+]\[|\[)/;
const SYMBOL = /^(?:\(\)|\[\]|<=>|<<=?|>>=?|->\*?|<=?|>=?)/;
/** Brackets, and operators, whose names can contain them. */
const BRACKET = /[<>(){}]|\boperator/g, STOP = new RegExp(BRACKET);
const QUALIFIERS = /^(?: const| volatile| &&?| noexcept)+(?=$|::| [[(])/;
const SPECIAL = /^(?:vtable|typeinfo(?: name| fn)?|VTT|guard variable|(?:non-)?virtual thunk|covariant return thunk|construction vtable|TLS (?:init|wrapper) function|(?:non-)?transaction clone|reference temporary(?: #\w+)?|hidden alias) (?:for|to) /;
/** Names of the simplest forms, `f(int) const` and `<A as B>::f`, which most have. */
const PLAIN = /^(?:((?:\(anonymous namespace\)::)?[\w:~]+)\([^()]*(?:\([^()]*\)[^()]*)*\)(?: const)?(?: \[clone \.(?!cold|part)[^\]]*\])*|<[\w:]+(?: as [\w:]+)?>[\w:]+)$/;
/** Suffix of a copy of a function that a compiler made. */
const COPY = /(?: \[clone [^\]]*\]| \(\.[\w.]+\))+$/;

/** Short name of a function; the name itself if its brackets do not match.
 * @param {string} name */
export function shortName(name) {
  if (!/[<({]/.test(name) || FOREIGN.test(name)) return name;
  const plain = PLAIN.exec(name);
  return plain ? plain[1] ?? name : spelled(name, {});
}

/** Name with the wanted parts.
 * @param {string} name @param {Wanted} wanted @returns {string} */
function spelled(name, wanted) {
  if (!/[<({]/.test(name) || FOREIGN.test(name)) return name;
  const special = name.includes(" for ") || name.includes(" to ") ? SPECIAL.exec(name) : null;
  if (special) return special[0] + spelled(name.slice(special[0].length), wanted);
  const copy = (/ [[(][.c]/.test(name) && COPY.exec(name)?.[0]) || "", pieces = piecesOf(name.slice(0, name.length - copy.length));
  if (!pieces) return name;
  const own = pieces.findLastIndex((piece) => piece.kind === "params");
  let made = "", at = startOf(pieces, own);
  for (; at < pieces.length; at++) {
    const { kind, text } = pieces[at], hasParams = wanted.params === "all" || (wanted.params === "own" && at === own);
    if (kind === "text") made += text;
    else if (kind === "quals") made += wanted.params && at === own + 1 ? text : "";
    else if (kind === "params") made += hasParams ? bare(text) : "";
    else if (kind === "args") made += wanted.args ? text[0] + bare(text.slice(1)) : text[0] === "!" ? "!(…)" : "<…>";
    else if (kind === "self") made += selfType(text, wanted);
    else made += wanted.params === "all" ? text : text.replace(/\(.*\)|<(?!lambda).*>(?=[^>]*}$)/, "");
  }
  return made ? made + (wanted.copy || /cold|part/.test(copy) ? copy : "") : name;
}

/** Type of Rust before `::`.
 * @param {string} text with its brackets @param {Wanted} wanted */
function selfType(text, wanted) {
  const inner = text.slice(1, -1), as = outside(inner, " as ");
  const of = (/** @type {string} */ type) => wanted.args ? type : bare(type);
  return as < 0 ? `<${of(inner)}>` : `<${of(inner.slice(0, as))} as ${of(inner.slice(as + 4))}>`;
}

/** Splits a name; null if its brackets do not match, or if it is a type around a name (`void (*f())(int)`).
 * @param {string} name @returns {Piece[] | null} */
function piecesOf(name) {
  /** @type {Piece[]} */
  const pieces = [];
  let text = "", at = 0;
  const add = (/** @type {Piece["kind"]} */ kind, /** @type {number} */ end) => {
    if (text) pieces.push({ kind: "text", text });
    text = "";
    pieces.push({ kind, text: name.slice(at, end) });
    at = end;
  };
  while (at < name.length) {
    const char = name[at];
    if (char === "o" && name.startsWith("operator", at)) {
      const rest = name.slice(at + 8), [symbol] = SYMBOL.exec(rest) ?? [""];
      if (!symbol && rest[0] === " ") {
        // The target type of a conversion extends to the argument list.
        const end = outside(name.slice(at), "(");
        text += end < 0 ? name.slice(at) : bare(name.slice(at, at + end));
        at = end < 0 ? name.length : at + end;
        continue;
      }
      text += "operator" + symbol;
      at += 8 + symbol.length;
      if (name.startsWith(" <", at)) at++;
      continue;
    }
    if (char !== "<" && char !== "(" && char !== "{") {
      if (char === ">" && name[at - 1] !== "-" || char === ")" || char === "}") return null;
      const quals = char === " " && !text && pieces.at(-1)?.kind === "params" ? QUALIFIERS.exec(name.slice(at)) : null;
      if (quals) { add("quals", at + quals[0].length); continue; }
      STOP.lastIndex = at + 1;
      const isFound = STOP.test(name), end = STOP.lastIndex;
      const next = !isFound ? name.length : name[end - 1] === "r" ? end - "operator".length : end - 1;
      text += name.slice(at, next);
      at = next;
      continue;
    }
    const end = closing(name, at);
    if (end < 0) return null;
    const before = text.at(-1) ?? (pieces.length ? "}" : "");
    if (char === "{") add("brace", end);
    else if (char === "(") {
      const isName = before === "." || /^\((?:anonymous |lambda(?: at |[)#]))/.test(name.slice(at, at + 12)) || text.endsWith("decltype ");
      if (!isName && /[ (]$/.test(text)) return null;
      if (isName) { text += name.slice(at, end); at = end; }
      else if (before === "!") { text = text.slice(0, -1); at--; add("args", end); }
      else add("params", end);
    } else if (name.startsWith("<lambda", at) && before !== ".") add("lambda", end);
    else if (before === "." || before === " " || /^<(?:cl)?init>/.test(name.slice(at, at + 8))) { text += name.slice(at, end); at = end; }
    else if (before === "" || before === ":" && name.startsWith("<impl ", at)) add("self", end);
    else {
      // Rust: `f::<T>`.
      if (text.endsWith("::")) text = text.slice(0, -2);
      add("args", end);
    }
  }
  if (text) pieces.push({ kind: "text", text });
  return pieces;
}

/** First piece of the name proper, after a return type. Its text is cut.
 * @param {Piece[]} pieces @param {number} own index of the argument list */
function startOf(pieces, own) {
  for (let at = own - 1; at >= 0; at--) {
    const { kind, text } = pieces[at];
    if (kind !== "text") continue;
    const word = /(?:^|\W)operator /.exec(text), space = (word ? text.slice(0, word.index + 1) : nameless(text)).lastIndexOf(" ");
    if (space < 0) continue;
    pieces[at] = { kind, text: text.slice(space + 1) };
    return at;
  }
  return 0;
}

/** Text with its names in parentheses replaced by letters, as these contain spaces.
 * @param {string} text */
const nameless = (text) => text.includes("(") ? text.replace(/\([^)]*\)/g, (inner) => "n".repeat(inner.length)) : text;

/** Open brackets: their character codes. */
const open = new Uint8Array(1 << 10);

/** End of the bracket that begins at `at`; negative if it has none.
 * @param {string} name @param {number} at */
function closing(name, at) {
  let depth = 0;
  BRACKET.lastIndex = at;
  while (BRACKET.test(name)) {
    const end = BRACKET.lastIndex, code = name.charCodeAt(end - 1);
    switch (code) {
      case 0x3c: // <
        if (depth && open[depth - 1] === 0x28 && " <=)".includes(name[end - 2])) break;
        open[depth++] = code;
        break;
      case 0x28: case 0x7b: // ( {
        open[depth++] = code;
        break;
      case 0x3e: // > A comparison stands in parentheses.
        if (name[end - 2] !== "-" && name[end - 2] !== "=" && open[depth - 1] === 0x3c) depth--;
        break;
      case 0x29: case 0x7d: // ) }
        if (open[--depth] !== (code === 0x29 ? 0x28 : 0x7b)) return -1;
        break;
      default:
        BRACKET.lastIndex += SYMBOL.exec(name.slice(end, end + 3))?.[0].length ?? 0;
    }
    if (depth === 0) return end;
    if (depth === open.length) return -1;
  }
  return -1;
}

/** Text with template arguments replaced by `<…>`.
 * @param {string} text */
function bare(text) {
  let made = "", at = 0;
  for (;;) {
    const next = text.indexOf("<", at), end = next < 0 ? -1 : closing(text, next);
    if (end < 0) return made + text.slice(at);
    const isName = next === 0 || text.startsWith("<lambda", next) || /[&* (.[,]/.test(text[next - 1]);
    made += text.slice(at, next) + (isName ? text.slice(next, end) : "<…>");
    at = end;
  }
}

/** Index of a text outside all brackets.
 * @param {string} text @param {string} wanted */
function outside(text, wanted) {
  for (let at = 0; at < text.length; at++) {
    if (text.startsWith(wanted, at)) return at;
    if (!"<({".includes(text[at])) continue;
    const end = closing(text, at);
    if (end < 0) return -1;
    at = end - 1;
  }
  return -1;
}

/** Short names of a growing list of names. Equal ones have as much of their parameters and template arguments as tells
 * them apart. */
export class ShortNames {
  constructor() {
    /** Number of functions whose names were added. */
    this.seen = 0;
    /** @type {string[]} Names, and their short names. */
    this.names = [];
    /** @type {string[]} */
    this.short = [];
    /** @type {Map<string, number | number[]>} Names with the same short name. */
    this.equal = new Map();
    /** @type {Map<number, string>} Distinct spelling by name. */
    this.distinct = new Map();
  }

  /** @param {number} at index of the name @param {string} name */
  add(at, name) {
    if (this.short[at] !== undefined) return;
    const short = this.short[at] = shortName(name), others = this.equal.get(short);
    this.names[at] = name;
    if (others === undefined) this.equal.set(short, at);
    else if (typeof others === "number") this.equal.set(short, [others, at]);
    else {
      others.push(at);
      for (const one of others) this.distinct.delete(one);
    }
  }

  /** @param {number} at index of a name that was added @returns {string} */
  of(at) {
    const short = this.short[at], others = this.equal.get(short);
    if (typeof others !== "object") return short;
    if (!this.distinct.has(at)) this.tellApart(others);
    return this.distinct.get(at) ?? short;
  }

  /** @param {number[]} names with the same short name */
  tellApart(names) {
    /** @type {Set<string>} */
    const taken = new Set();
    let left = names;
    for (const wanted of DETAILS) {
      /** @type {Map<string, number>} */
      const count = new Map(), texts = left.map((at) => spelled(this.names[at], wanted));
      for (const text of texts) count.set(text, (count.get(text) ?? 0) + 1);
      const rest = left.filter((at, place) => {
        const text = texts[place];
        if (count.get(text) !== 1 || taken.has(text)) return true;
        this.distinct.set(at, text);
        return false;
      });
      for (const text of texts) if (count.get(text) === 1) taken.add(text);
      left = rest;
      if (!left.length) return;
    }
    for (const at of left) this.distinct.set(at, this.names[at]);
  }
}
