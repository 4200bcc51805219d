// @ts-check
// Texts that are cut in the middle, since names differ at both ends.

/** Width of a character code.
 * @typedef {(code: number) => number} Widths */

const ELLIPSIS = "…".charCodeAt(0);

/** Omitted arguments, which are the first to be cut. */
const OMITTED = "<…>";

/** Parts of a text that fit a width with an ellipsis between them: the end of the first part, and the start and the end
 * of the last; null if the text fits. The cost depends on the width, not on the length of the text.
 * @param {string} text @param {number} width @param {Widths} of @returns {[number, number, number] | null} */
export function cutAt(text, width, of) {
  let sum = 0, at = 0;
  while (at < text.length && sum <= width) sum += of(text.charCodeAt(at++));
  if (sum <= width) return null;
  const room = width - of(ELLIPSIS), end = text.endsWith(OMITTED) ? text.length - OMITTED.length : text.length;
  let head = 0, tail = end, used = 0, next;
  while (tail > 0 && used + (next = of(text.charCodeAt(tail - 1))) <= room / 2) { used += next; tail--; }
  const hole = text.indexOf(OMITTED, Math.max(0, tail - OMITTED.length + 1));
  // The last part does not begin inside such a text, or with it.
  if (hole >= 0 && hole <= tail) {
    tail = hole + OMITTED.length;
    used = 0;
    for (at = tail; at < end; at++) used += of(text.charCodeAt(at));
  }
  while (head < tail && used + (next = of(text.charCodeAt(head))) <= room) { used += next; head++; }
  // Pairs of surrogates stay together.
  if (isHigh(text.charCodeAt(head - 1))) head--;
  if (isHigh(text.charCodeAt(tail - 1))) tail++;
  const cut = text.indexOf(OMITTED, Math.max(0, head - OMITTED.length + 1));
  if (cut >= 0 && cut < head) head = cut;
  return head < tail ? [head, tail, end] : [end, end, end];
}

/** @param {number} code */
const isHigh = (code) => code >= 0xd800 && code < 0xdc00;

/** Text that fits a width; empty if fewer than three characters would remain.
 * @param {string} text @param {number} width @param {Widths} of */
export function fitted(text, width, of) {
  const cut = cutAt(text, width, of);
  if (!cut) return text;
  const [head, tail, end] = cut;
  return head + end - tail < 3 ? "" : `${text.slice(0, head)}…${text.slice(tail, end)}`;
}

/** Text of a number of characters.
 * @param {string} text @param {number} most */
export const shortened = (text, most) => fitted(text, most, () => 1);
