/** The name that somebody who mistyped one most probably meant. */

/** One edit in so many letters of the longer of the two: with more, it is another word. */
const LETTERS_AN_EDIT = 3;

/** The nearest by edits, in either case; undefined where none is near. */
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

/** Letters added, left out, replaced, or swapped with their neighbour (optimal string alignment). */
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
