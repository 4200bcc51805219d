// @ts-check
// Columns of weights: samples, costs, and squares of costs, which determine the uncertainty of a share.

/** @typedef {import("../compare/change.js").Weight} Weight */
/** Weights by node, pair or key. If every sample counts 1, all three are one array.
 * @typedef {{ n: Float64Array, cost: Float64Array, squares: Float64Array }} Weights */

/** Applies a function to each column; shared arrays stay shared.
 * @param {Weights} weights @param {(values: Float64Array) => Float64Array} make @returns {Weights} */
export function eachOf(weights, make) {
  const n = make(weights.n), cost = weights.cost === weights.n ? n : make(weights.cost);
  return { n, cost, squares: weights.squares === weights.n ? n : make(weights.squares) };
}

/** Weights with each cost multiplied by a factor.
 * @param {Weights} weights @param {number} factor @returns {Weights} */
export function times(weights, factor) {
  if (factor === 1) return weights;
  const by = (/** @type {Float64Array} */ values, /** @type {number} */ factor) => values.map((value) => value * factor);
  return { n: weights.n, cost: by(weights.cost, factor), squares: by(weights.squares, factor * factor) };
}

/** Sum of each column.
 * @param {Weights} weights @param {(values: Float64Array) => number} sum @returns {Weight} */
export function sumsOf(weights, sum) {
  const n = sum(weights.n), cost = weights.cost === weights.n ? n : sum(weights.cost);
  return { n, cost, squares: weights.squares === weights.n ? n : sum(weights.squares) };
}

/** Sum of two weights, element by element.
 * @param {Weights} a @param {Weights} b @returns {Weights} */
export function together(a, b) {
  const add = (/** @type {Float64Array} */ x, /** @type {Float64Array} */ y) => x.map((value, at) => value + y[at]);
  const n = add(a.n, b.n), one = a.cost === a.n && b.cost === b.n;
  return { n, cost: one ? n : add(a.cost, b.cost), squares: one ? n : add(a.squares, b.squares) };
}
