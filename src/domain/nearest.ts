/** Finds the name that is most similar to a mistyped one. */

/** At most one edit per this many letters of the longer name; with more edits it is another word. */
const LETTERS_AN_EDIT = 3;

/** The name with the fewest edits, in either case; undefined if none is similar. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const wanted = typed.toLowerCase();
  let best: { readonly name: string; readonly edits: number } | undefined;
  for (const name of names) {
    const edits = editsBetween(wanted, name.toLowerCase());
    const isNear = edits * LETTERS_AN_EDIT <= Math.max(wanted.length, name.length);
    if (isNear && (best === undefined || edits < best.edits)) best = { name, edits };
  }
  return best?.name;
}

/** The number of letters added, removed, replaced or swapped with a neighbour (optimal string alignment). */
function editsBetween(from: string, to: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swapped = i > 1 && j > 1 && isSwapped ? (before[j - 2] ?? 0) + 1 : replaced;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
