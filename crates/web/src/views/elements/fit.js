// @ts-check
// Texts of elements that are cut in the middle. The element keeps the whole text, for copies and screen readers.
import { cutAt } from "../../data/cut.js";
import { make } from "./element.js";

/** Widths of characters by font. @type {Map<string, import("../../data/cut.js").Widths>} */
const known = new Map();

/** Widths of characters, each measured once.
 * @param {string} font @returns {import("../../data/cut.js").Widths} */
export function widthsOf(font) {
  let of = known.get(font);
  if (of) return of;
  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const common = new Float32Array(256);
  /** @type {Map<number, number>} */
  const others = new Map();
  pen.font = font;
  const measure = (/** @type {number} */ code) => pen.measureText(String.fromCharCode(code)).width;
  of = (code) => {
    if (code < 256) return common[code] ||= measure(code);
    let width = others.get(code);
    if (width === undefined) others.set(code, width = measure(code));
    return width;
  };
  known.set(font, of);
  return of;
}

/** Font of the page's text.
 * @param {boolean} isBold */
function fontOf(isBold) {
  const { fontSize, fontFamily } = getComputedStyle(document.body);
  return `${isBold ? "600 " : ""}${fontSize} ${fontFamily}`;
}

/** Widths of characters in the page's text, looked up once for many texts. */
export const textWidths = () => ({ plain: widthsOf(fontOf(false)), bold: widthsOf(fontOf(true)) });

/** Appends a text, cut in the middle if it is wider than `width`.
 * @param {HTMLElement} element @param {string} text @param {number} width in CSS pixels
 * @param {import("../../data/cut.js").Widths} of */
export function appendCut(element, text, width, of) {
  const cut = cutAt(text, width, of);
  if (!cut) { element.append(text); return; }
  const [head, tail, end] = cut, hidden = (/** @type {string} */ part) => part ? [make("span", { class: "cut", text: part })] : [];
  element.append(make("span", { class: "cut-head", text: text.slice(0, head) }), ...hidden(text.slice(head, tail)), text.slice(tail, end), ...hidden(text.slice(end)));
}

/** Cuts the texts of elements that are too narrow for them.
 * @param {Iterable<HTMLElement>} elements in the page, each with nothing but a text */
export function cutTexts(elements) {
  const all = [...elements], texts = all.map((element) => element.textContent ?? "");
  all.forEach((element, at) => { if (element.firstElementChild) element.textContent = texts[at]; });
  const wide = all.map((element) => {
    if (element.scrollWidth <= element.clientWidth) return null;
    const { fontSize, fontFamily, fontWeight, paddingLeft, paddingRight } = getComputedStyle(element);
    return { width: element.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight) - 1, font: `${fontWeight} ${fontSize} ${fontFamily}` };
  });
  wide.forEach((found, at) => {
    if (!found) return;
    all[at].textContent = "";
    appendCut(all[at], texts[at], found.width, widthsOf(found.font));
  });
}
