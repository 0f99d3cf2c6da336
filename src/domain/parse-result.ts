/** What reading a text gives: the value, or the one thing that is wrong with the text. */

/** `message` finishes the sentence that a flag or a field begins: "must be …". */
export type Parsed<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function refused(message: string): Parsed<never> {
  return { ok: false, message };
}
