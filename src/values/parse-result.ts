/** The result of parsing a text: the value, or the problem of the text; and the name that was probably meant. */

/**
 * `message` completes a sentence that begins with the name of the flag or field: "must be …". `instead` is the text that
 * was probably meant.
 */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly message: string;
      readonly instead?: string | undefined;
      /** What of the text the problem is about, if it is not all of it. */
      readonly part?: string | undefined;
      /** The text may hold a secret, and is not repeated. */
      readonly mayBeSecret?: true;
    };

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function refused(message: string, instead?: string): Parsed<never> {
  return { ok: false, message, instead };
}

/** Of a text that may hold a secret. */
export const refusedUnseen = (message: string): Parsed<never> => ({ ok: false, message, mayBeSecret: true });

/** One of a few words, spelled exactly so. */
export function parseChoice<T extends string>(choices: readonly T[], text: string): Parsed<T> {
  const choice = choices.find((word) => word === text);
  return choice === undefined
    ? refused(`must be one of ${choices.join(", ")}`, nearest(text, choices))
    : accepted(choice);
}

/** Whether a name is near, by the number of edits and the letters of the longer name. */
type IsNear = (edits: number, letters: number) => boolean;

/** Close enough for a suggestion. */
const isSimilar: IsNear = (edits, letters) => edits * 3 <= letters;

/** Close enough for an error although names may be the user's own: `account` is not `amount`. */
export const isMisspelled: IsNear = (edits, letters) => edits <= 2 && edits * 5 <= letters;

/** The name with the fewest edits, in either case; undefined if none is near. */
export function nearest(
  typed: string,
  names: readonly string[],
  isNear: IsNear = isSimilar,
): string | undefined {
  const wanted = typed.toLowerCase();
  let best: { readonly name: string; readonly edits: number } | undefined;
  for (const name of names) {
    const letters = Math.max(wanted.length, name.length);
    // The letters that one name has more are edits at least.
    if (!isNear(Math.abs(wanted.length - name.length), letters)) continue;
    const edits = editsBetween(wanted, name.toLowerCase());
    if (!isNear(edits, letters)) continue;
    if (best === undefined || edits < best.edits) best = { name, edits };
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
