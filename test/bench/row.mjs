/** How a benchmark sums up its rounds and reports a figure: as one row of CONTRIBUTING's table. */

/** @param {readonly number[]} values */
export function median(values) {
  const middle = values.toSorted((a, b) => a - b)[values.length >> 1];
  if (middle === undefined) throw new Error("no round was measured");
  return middle;
}

/**
 * @typedef {object} Figure
 * @property {number} [most] The bar; without `most` and `least` the figure is only reported.
 * @property {number} [least]
 * @property {string} [unit]
 * @property {number} [digits]
 * @property {string | undefined} [note] Printed after the figure.
 * @property {string | undefined} [why] Why the bar is not reached, where that is known.
 */

/**
 * @param {string} what
 * @param {number} value
 * @param {Figure} figure
 */
export function row(what, value, { most, least, unit = "×", digits = 2, note, why }) {
  const holds = value <= (most ?? Infinity) && value >= (least ?? -Infinity);
  const notes = [
    bar(most, least, unit),
    ...(holds ? [] : [why === undefined ? "not reached" : `reported: ${why}`]),
    ...(note === undefined ? [] : [note]),
  ];
  const measured = `${value.toFixed(digits)} ${unit}`.trim();
  process.stdout.write(`| ${what} | ${measured} (${notes.join("; ")}) |\n`);
}

/**
 * @param {number | undefined} most
 * @param {number | undefined} least
 * @param {string} unit
 */
function bar(most, least, unit) {
  if (most === 0) return "0";
  if (most !== undefined) return `≤ ${most} ${unit}`.trim();
  return least === undefined ? "reported" : `≥ ${least} ${unit}`.trim();
}
