// How a benchmark reports: one row of the README's table, by what was measured, its bar, and the figure.

/** The bar is `most` or `least`; `note` stands behind the figure. */
export function row(what, value, { most, least, unit = "×", digits = 2, note }) {
  const bar = most === undefined ? `≥ ${least}` : most === 0 ? "0" : `≤ ${most}`;
  const holds = most === undefined ? value >= least : value <= most;
  const notes = [...(holds ? [] : ["not reached"]), ...(note === undefined ? [] : [note])];
  const figure = `${value.toFixed(digits)} ${unit}`.trim();
  const cells = [
    what,
    `${bar} ${unit}`.trim(),
    notes.length === 0 ? figure : `${figure} (${notes.join("; ")})`,
  ];
  process.stdout.write(`| ${cells.join(" | ")} |\n`);
}
