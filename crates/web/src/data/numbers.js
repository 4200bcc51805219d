// @ts-check
// Formatted numbers, and their statistical uncertainty.

/** @param {number} value */
export const amount = (value) => Math.round(value).toLocaleString("en");

/** Share in percent. Rounding never produces 0 or 100 for other values.
 * @param {number} part @param {number} whole */
export function percent(part, whole) {
  if (!whole || !part) return "0 %";
  const value = 100 * part / whole;
  if (Math.abs(value) < 0.01) return value < 0 ? ">-0.01 %" : "<0.01 %";
  if (value < 100 && value >= 99.95) return ">99.9 %";
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1) + " %";
}

/** Text for a paragraph or heading: no line begins with the sign of a percentage.
 * @param {string} text */
export const unbroken = (text) => text.replaceAll(" %", "\u00a0%");

/** Nanoseconds in a suitable unit.
 * @param {number} ns */
export function duration(ns) {
  const size = Math.abs(ns);
  if (size === 0) return "0 s";
  if (size >= 100e9) return (ns / 1e9).toFixed(0) + " s";
  if (size >= 999.5e6) return (ns / 1e9).toFixed(2) + " s";
  if (size >= 100e6) return (ns / 1e6).toFixed(0) + " ms";
  if (size >= 1e6) return (ns / 1e6).toFixed(2) + " ms";
  if (size >= 1e3) return (ns / 1e3).toFixed(1) + " µs";
  return ns.toFixed(0) + " ns";
}

/** Nanoseconds of a round step, without zeros after the point.
 * @param {number} ns */
export const roundDuration = (ns) => duration(ns).replace(/(\.\d*?)0+(?= )/, "$1").replace(/\.(?= )/, "");

/** Date and minute in the local time.
 * @param {number} time in milliseconds since 1970 */
export function dateText(time) {
  const date = new Date(time), two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** Half the width of the central 95 % of the normal distribution. */
const Z = 1.959964;

/** 95 % confidence interval (Wilson) of a share among n samples.
 * @param {number} share from 0 to 1 @param {number} n
 * @returns {[number, number]} */
export function interval(share, n) {
  if (!(n > 0)) return [0, 1];
  const z = Z * Z / n, middle = (share + z / 2) / (1 + z);
  const half = Z * Math.sqrt(share * (1 - share) / n + z / (4 * n)) / (1 + z);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** Effective number of samples: the number of equally weighted samples that would determine a share as precisely. The
 * variance of a weighted share follows from the squares of the costs. The result never exceeds Kish's effective size of
 * all samples, since a share that consists of one sample would confirm itself.
 * @param {number} part @param {number} whole @param {number} squares of the part @param {number} allSquares */
export function effective(part, whole, squares, allSquares) {
  const share = part / whole, most = whole * whole / allSquares;
  if (!(share > 0 && share < 1)) return most;
  const variance = ((1 - share) ** 2 * squares + share ** 2 * Math.max(0, allSquares - squares)) / (whole * whole);
  return Math.min(most, share * (1 - share) / variance);
}

/** Confidence interval of a share as text, if it is wide enough to matter (a fifth of the share or more); else empty.
 * @param {number} part @param {number} whole @param {number} squares of the costs of the part's samples; the number of
 * samples if each counts 1
 * @param {number} allSquares */
export function spread(part, whole, squares, allSquares) {
  if (!whole || !part || !allSquares) return "";
  const share = Math.min(1, part / whole), [low, high] = interval(share, effective(part, whole, squares, allSquares));
  if (high - low < 0.2 * share) return "";
  const digits = high < 0.1 ? 2 : 1;
  return `${(100 * low).toFixed(digits)}–${(100 * high).toFixed(digits)} %`;
}

/** Number on a scale: divisor, number of decimals, suffix.
 * @param {number} value @param {[number, number, string]} scale @param {boolean} [signed] */
export function scaled(value, [divisor, digits, suffix], signed) {
  const text = (value / divisor).toFixed(digits), isZero = !/[1-9]/.test(text);
  return (isZero ? text.replace("-", "") : signed && value > 0 ? "+" + text : text) + suffix;
}

/** Prefixes by powers of 1,000, for large numbers and for nanoseconds.
 * @type {[number, string][]} */
const LARGE = [[1, ""], [1e3, " k"], [1e6, " M"], [1e9, " G"], [1e12, " T"]];
/** @type {[number, string][]} */
const NANOSECONDS = [[1, " ns"], [1e3, " µs"], [1e6, " ms"], [1e9, " s"]];

/** Scale of costs per second that gives the total three or more digits before the decimal point.
 * @param {number} total @param {boolean} isTime whether costs are nanoseconds @returns {[number, number, string]} */
export function scaleOf(total, isTime) {
  const units = isTime ? NANOSECONDS : LARGE, [divisor, suffix] = units.findLast(([unit]) => total / unit >= 100) || units[0];
  return [divisor, 1, `${suffix || " "}/s`];
}

/** Ratio of two costs; `new` or `gone` if one side is 0.
 * @param {number} before @param {number} after */
export function ratio(before, after) {
  if (before === 0) return "new";
  const times = after / before;
  return times === 0 ? "gone" : `×${times.toFixed(times < 100 ? 2 : 0)}`;
}

/** Step of an axis: 1, 2 or 5 times a power of ten, with at most `most` steps in a span.
 * @param {number} span @param {number} most */
export function axisStep(span, most) {
  const least = span / Math.max(1, most);
  if (!(least > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(least));
  return ten * ([1, 2, 5].find((one) => one * ten >= least * 0.999999) || 10);
}

/** Units of an axis of time, in nanoseconds. */
const UNITS = /** @type {[number, string][]} */ ([[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]);

/** Ticks at round times, with texts in one unit; the first text has the unit.
 * @param {number} from @param {number} to in nanoseconds @param {number} most
 * @returns {{ at: number, text: string }[]} */
export function timeTicks(from, to, most) {
  const [unit, name] = UNITS.find(([unit]) => to >= 2 * unit) || UNITS[UNITS.length - 1], step = axisStep((to - from) / unit, most);
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)), made = [];
  if (!(to > from)) return [{ at: from, text: `${(from / unit).toFixed(digits)} ${name}` }];
  for (let k = Math.ceil(from / unit / step - 1e-9) + 0; k * step * unit <= to; k++) made.push({ at: k * step * unit, text: (k * step).toFixed(digits) });
  if (made.length) made[0].text += ` ${name}`;
  return made;
}
