// @ts-check
// Colours of frames, chosen for readable text.

/** @typedef {[number, number, number]} Rgb */
/** @typedef {"light" | "dark"} Theme */

/** Text on frames. */
export const INK = { light: "#14140f", dark: "#0c0c0a" };

/** @param {number} h degrees @param {number} s @param {number} l percent @returns {Rgb} */
export function hsl(h, s, l) {
  const a = s / 100 * Math.min(l / 100, 1 - l / 100);
  const part = (/** @type {number} */ n) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [part(0), part(8), part(4)];
}

/** @param {Rgb} rgb */
export const css = ([r, g, b]) => "#" + [r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("");

/** @param {string} text `#rrggbb` @returns {Rgb} */
export const parse = (text) => /** @type {Rgb} */ ([1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16)));

/** Brightness of a colour.
 * Source: Web Content Accessibility Guidelines 2.2, "relative luminance".
 * @param {Rgb} rgb */
function luminance(rgb) {
  const [r, g, b] = rgb.map((part) => {
    const c = part / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Contrast of two colours, from 1 to 21; text needs 4.5.
 * @param {Rgb} a @param {Rgb} b */
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/** @type {Map<string, string>} */
const readable = new Map();

/** Colour with readable text on it; lighter than requested if necessary.
 * @param {number} hue @param {number} saturation @param {number} light @param {Theme} theme */
function paint(hue, saturation, light, theme) {
  const key = `${theme} ${hue} ${saturation} ${light}`;
  let text = readable.get(key);
  if (text === undefined) {
    const ink = parse(INK[theme]);
    let rgb = hsl(hue, saturation, light);
    for (let more = 2; contrast(rgb, ink) < READABLE && more < 40; more += 2) rgb = hsl(hue, saturation, light + more);
    readable.set(key, text = css(rgb));
  }
  return text;
}

/** Required contrast of text, slightly above the recommended minimum. */
const READABLE = 4.8;

/** Hue and saturation by kind of code. */
const KINDS = {
  user: [38, 78], inlined: [54, 70], kernel: [8, 72], jit: [150, 42], anonymous: [268, 50], group: [215, 16],
};
/** Hues of modules; successive ones are far apart. */
const HUES = [38, 205, 95, 325, 160, 265, 60, 185, 350, 125, 235, 290, 20, 75, 220, 310];

/** Colour of a kind of code.
 * @param {string} kind @param {number} shade any number @param {Theme} theme */
export function kindColour(kind, shade, theme) {
  const [hue, saturation] = KINDS[/** @type {keyof typeof KINDS} */ (kind)] || KINDS.user;
  return paint(hue, saturation, lightness(shade, theme), theme);
}

/** Colour of a module, by its rank in cost.
 * @param {number} rank below 0 for none @param {number} shade @param {Theme} theme */
export function moduleColour(rank, shade, theme) {
  if (rank < 0) return paint(240, 6, lightness(shade, theme), theme);
  const round = Math.floor(rank / HUES.length);
  return paint((HUES[rank % HUES.length] + round * 9) % 360, round % 2 ? 38 : 62, lightness(shade, theme), theme);
}

/** @param {number} shade @param {Theme} theme */
const lightness = (shade, theme) => (theme === "dark" ? 60 : 71) + (shade % 5) * 1.6;

/** Colour of a difference, from blue (less) through grey to red (more); also distinct with red-green colour blindness.
 * @param {number} lean from -1 to 1 @param {boolean} sure @param {Theme} theme */
export function leanColour(lean, sure, theme) {
  if (!sure) return paint(240, 4, lightness(2, theme), theme);
  const strength = Math.min(1, 0.25 + Math.abs(lean) * 1.5);
  return paint(lean > 0 ? 10 : 212, 20 + 70 * strength, lightness(2, theme) - 6 * strength + 4, theme);
}

/** Colour of a cell of the heat map.
 * @param {number} part share of the maximum, from 0 to 1 @param {Theme} theme @param {boolean} found */
export function heatColour(part, theme, found) {
  const level = part ** 0.8, hue = found ? 292 : 38 - 32 * level;
  return css(theme === "dark" ? hsl(hue, 75, 18 + 52 * level) : hsl(hue, 82, 93 - 48 * level));
}

/** Deterministic hash of a text.
 * @param {string} text */
export function shadeOf(text) {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (hash * 31 + text.charCodeAt(i)) >>> 0;
  return (hash ^ (hash >>> 13)) >>> 0;
}
