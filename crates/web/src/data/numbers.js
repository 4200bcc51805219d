// @ts-check
// Numbers as people read them, and how sure they are.

/** @param {number} value */
export const amount = (value) => Math.round(value).toLocaleString("en");

/** A share in percent; never rounded to 0 or 100 where it is not that.
 * @param {number} part @param {number} whole */
export function percent(part, whole) {
  if (!whole || !part) return "0 %";
  const value = 100 * part / whole;
  if (Math.abs(value) < 0.01) return value < 0 ? ">-0.01 %" : "<0.01 %";
  if (value < 100 && value >= 99.95) return ">99.9 %";
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1) + " %";
}

/** Nanoseconds with the unit that fits.
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

/** z of 95 %. */
const Z = 1.959964;

/** The 95 % interval of a share (Wilson): from n samples, of which this share has something.
 * @param {number} share from 0 to 1 @param {number} n
 * @returns {[number, number]} */
export function interval(share, n) {
  if (!(n > 0)) return [0, 1];
  const z = Z * Z / n, middle = (share + z / 2) / (1 + z);
  const half = Z * Math.sqrt(share * (1 - share) / n + z / (4 * n)) / (1 + z);
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

/** The interval of a share as text where it is wide enough to matter (a tenth of the share or more), else nothing.
 * @param {number} part @param {number} whole @param {number} n samples of the whole */
export function spread(part, whole, n) {
  if (!whole || !part || !n) return "";
  const share = Math.min(1, part / whole), [low, high] = interval(share, n);
  if (high - low < 0.2 * share) return "";
  const digits = high < 0.1 ? 2 : 1;
  return `${(100 * low).toFixed(digits)}–${(100 * high).toFixed(digits)} %`;
}

/** Steps of an axis that people count in: 1, 2 or 5 times a power of ten, at most so many in a span.
 * @param {number} span @param {number} most */
export function axisStep(span, most) {
  const least = span / Math.max(1, most);
  if (!(least > 0)) return 1;
  const ten = 10 ** Math.floor(Math.log10(least));
  return ten * ([1, 2, 5].find((one) => one * ten >= least * 0.999999) || 10);
}
