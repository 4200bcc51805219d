// @ts-check
// Picture of the open view's graphs in their whole height, with the program and the filters as its title: on a canvas,
// or as SVG. Both have the colours of the theme.
import { INK } from "../../data/colour.js";
import { make, styled } from "../elements/element.js";
import { fitted } from "../../data/cut.js";
import { widthsOf } from "../elements/fit.js";
import { FONT, ROW, labelOf, lookOf, paint } from "../graphs/paint.js";

/** @typedef {import("../shell.js").Shell} Shell */
/** @typedef {import("../graphs/graph.js").Graph} Graph */
/** @typedef {import("../graphs/paint.js").Look} Look */
/** Graph in the picture, with its heading.
 * @typedef {{ graph: Graph, x: number, y: number, heading: string }} Part */
/** @typedef {{ width: number, height: number, title: string, notes: string[], parts: Part[], back: string, fore: string,
 *   ink: string, mark: string }} Picture */

/** Margin, height of a line of the title, and largest size of a canvas, in pixels. */
const MARGIN = 8, LINE = 18, LARGEST = 16000;

/** Picture of graphs, which are in columns.
 * @param {Shell} app @param {Graph[][]} columns @param {string[]} notes lines below the title @returns {Picture} */
export function pictureOf(app, columns, notes) {
  const top = MARGIN + (1 + notes.length) * LINE + 4, hasHeadings = columns.flat().length > 1;
  /** @type {Part[]} */
  const parts = [];
  let x = MARGIN, height = top;
  for (const graphs of columns) {
    let y = top;
    for (const graph of graphs) {
      if (hasHeadings) y += LINE;
      parts.push({ graph, x, y, heading: hasHeadings ? graph.options.label : "" });
      y += graph.rows.length * ROW + MARGIN;
    }
    height = Math.max(height, y);
    x += Math.max(...graphs.map((graph) => graph.width)) + MARGIN;
  }
  return { width: Math.max(x, 320), height, title: document.title, notes, parts, back: styled("--back"), fore: styled("--fore"), ink: INK[app.theme], mark: styled("--hit") };
}

/** Calls `each` for each frame, with its node and the top of its row.
 * @param {Picture} picture @param {Part} part @param {(look: Look, node: number, y: number) => void} each */
function eachFrame({ mark }, { graph, y }, each) {
  graph.rows.forEach((boxes, row) => {
    const top = y + ROW * (graph.down ? row : graph.rows.length - 1 - row);
    for (const box of boxes) each(lookOf(graph, box, mark), box.node, top);
  });
}

/** Texts outside the frames, truncated at the edge.
 * @param {Picture} picture @param {CanvasRenderingContext2D} pen @returns {{ text: string, x: number, y: number, font: string }[]} */
function texts({ width, title, notes, parts }, pen) {
  const lines = [title, ...notes].map((text, at) => ({ text, x: MARGIN, y: MARGIN + at * LINE + LINE / 2, font: at === 0 ? `bold ${FONT}` : FONT }));
  const headings = parts.filter((part) => part.heading).map((part) => ({ text: part.heading, x: part.x, y: part.y - LINE / 2, font: `bold ${FONT}` }));
  return [...lines, ...headings].map((line) => {
    pen.font = line.font;
    return { ...line, text: fitted(line.text, width - line.x - MARGIN, widthsOf(pen.font)) };
  });
}

/** @param {HTMLCanvasElement} canvas */
const penOf = (canvas) => /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** Picture as PNG, with two pixels for each of the page, or fewer if it is too large for a canvas.
 * @param {Picture} picture @returns {Promise<Blob>} */
export function toPng(picture) {
  const { width, height, parts, back, fore, ink } = picture, canvas = /** @type {HTMLCanvasElement} */ (make("canvas")), pen = penOf(canvas);
  const ratio = Math.min(2, LARGEST / width, LARGEST / height);
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  pen.scale(ratio, ratio);
  pen.textBaseline = "middle";
  pen.fillStyle = back;
  pen.fillRect(0, 0, width, height);
  for (const { text, x, y, font } of texts(picture, pen)) {
    pen.font = font;
    pen.fillStyle = fore;
    pen.fillText(text, x, y);
  }
  for (const part of parts) eachFrame(picture, part, (look, _, y) => paint(pen, { ...look, x: part.x + look.x }, y, ink));
  return new Promise((resolve, reject) => canvas.toBlob((blob) => {
    if (blob) resolve(blob); else reject(new Error("The picture is too large for this browser. Export it as SVG."));
  }, "image/png"));
}

/** Picture as SVG; each frame has its description as a tooltip.
 * @param {Picture} picture */
export function toSvg(picture) {
  const { width, height, title, parts, back, fore, ink } = picture, pen = penOf(/** @type {HTMLCanvasElement} */ (make("canvas")));
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" width="${short(width)}" height="${short(height)}" viewBox="0 0 ${short(width)} ${short(height)}" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<defs><pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V7" stroke="#fff" stroke-opacity=".5" stroke-width="4"/></pattern></defs>`,
    `<rect width="100%" height="100%" fill="${back}"/>`];
  for (const { text, x, y, font } of texts(picture, pen)) out.push(textOf(text, x, y, fore, font.startsWith("bold") ? ' font-weight="bold"' : ""));
  for (const part of parts) {
    eachFrame(picture, part, (look, node, y) => {
      const x = part.x + look.x, area = `x="${short(x)}" y="${y}" width="${short(look.w)}" height="${ROW - 1}"`;
      out.push(`<g><title>${escaped(part.graph.describe(node).join("\n"))}</title><rect ${area} fill="${look.fill}"${look.alpha < 1 ? ` opacity="${look.alpha}"` : ""}/>`);
      if (look.isHatched) out.push(`<rect ${area} fill="url(#hatch)"/>`);
      if (look.isInlined && look.w > 6) out.push(`<rect x="${short(x)}" y="${y}" width="${short(look.w)}" height="2" fill="#fff" opacity=".45"/>`);
      if (look.dash) out.push(`<rect x="${short(x + 0.5)}" y="${y + 0.5}" width="${short(look.w - 1)}" height="${ROW - 2}" fill="none" stroke="${ink}" stroke-dasharray="${look.dash.join(" ")}"/>`);
      if (look.text) out.push(textOf(labelOf(pen, look), x + 3, y + ROW / 2, ink, look.isInlined ? ' font-style="italic"' : ""));
      out.push("</g>");
    });
  }
  return out.join("\n") + "\n</svg>\n";
}

/** @param {string} text @param {number} x @param {number} y its middle @param {string} fill @param {string} more attributes */
const textOf = (text, x, y, fill, more) => `<text x="${short(x)}" y="${short(y + 4)}" fill="${fill}"${more}>${escaped(text)}</text>`;

/** @param {number} value */
const short = (value) => String(Math.round(100 * value) / 100);

/** Text for XML, without characters that it excludes.
 * @param {string} text */
const escaped = (text) => text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd").replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
