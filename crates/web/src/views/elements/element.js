// @ts-check
// Creation and look-up of page elements.
import { optionParts } from "../../data/names.js";

/** Creates an element. Attributes that are functions become listeners; those that are false are omitted.
 * @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node | string)} inner
 * @returns {HTMLElement} */
export function make(tag, attributes, ...inner) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === false || value === undefined || value === null) continue;
    else if (name === "text") made.textContent = value;
    else made.setAttribute(name, String(value));
  }
  made.append(...inner);
  return made;
}

/** Text whose options are not broken at their hyphens.
 * @param {string} text */
export const withOptions = (text) => optionParts(text).map((part, at) => at % 2 ? make("span", { class: "option", text: part }) : part);

/** @param {string} id @returns {HTMLElement} */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** @param {string} id */
export const input = (id) => /** @type {HTMLInputElement} */ (byId(id));

/** @param {string} id */
export const select = (id) => /** @type {HTMLSelectElement} */ (byId(id));

/** Sizes a canvas for any pixel ratio; drawing uses CSS pixels.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height */
export function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  return pen;
}

/** Colour from the style sheet.
 * @param {string} name */
export const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
