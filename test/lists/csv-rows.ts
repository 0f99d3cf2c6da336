/** A list by the whole header of a program, of rows that say only the columns that matter: all others are empty. */

export const csvOf = (
  delimiter: "," | ";",
  header: readonly string[],
  ...rows: readonly Readonly<Record<string, string>>[]
): string => {
  const unknown = rows.flatMap((row) => Object.keys(row)).filter((name) => !header.includes(name));
  if (unknown.length > 0) throw new Error(`not in the header: ${unknown.join(", ")}`);
  const line = (cells: readonly string[]): string =>
    cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter);
  return [header, ...rows.map((row) => header.map((name) => row[name] ?? ""))]
    .map((cells) => `${line(cells)}\n`)
    .join("");
};

/** `Tax 1 Name`, `Tax 1 Value`, `Tax 2 Name` … */
export const numbered = (count: number, ...names: readonly ((number: number) => string)[]): string[] =>
  Array.from({ length: count }, (_, at) => names.map((name) => name(at + 1))).flat();
