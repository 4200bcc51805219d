// @ts-check
// Values of samples: labels, variables and fields by name; and their groups.

/** @typedef {import("../columns.js").Tables} Tables */
/** @typedef {import("../columns.js").Head} Head */

/** Prefix of the keyword of a group or row by the values of a name. */
export const VALUE = "value:";

/** Place of the values that a keyword names; negative for other keywords and for names that the recording lacks.
 * @param {Head} head @param {string} word */
export function valuesAt({ values }, word) {
  return word.startsWith(VALUE) && values ? values.findIndex(({ name }) => name === word.slice(VALUE.length)) : -1;
}

/** Keyword of values.
 * @param {{ name: string }} value */
export const wordOf = ({ name }) => VALUE + name;

/** Samples with a value: 1 by sample. A name or value that the recording lacks selects none.
 * @param {Tables} tables @param {string} name @param {string} text @param {Uint8Array | null} before samples to choose from */
export function samplesWith({ head, values, samples }, name, text, before) {
  const kept = new Uint8Array(samples), at = valuesAt(head, VALUE + name), wanted = head.values?.[at]?.texts.indexOf(text) ?? -1;
  if (wanted < 0) return kept;
  const column = values[at];
  for (let i = 0; i < samples; i++) if (column[i] === wanted && (!before || before[i])) kept[i] = 1;
  return kept;
}
