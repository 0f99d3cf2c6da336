/** The result of parsing a text: the value, or the problem of the text. */

/**
 * `message` completes a sentence that begins with the name of the flag or field: "must be …". `instead` is the text that
 * was probably meant.
 */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly message: string; readonly instead?: string | undefined };

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function refused(message: string, instead?: string): Parsed<never> {
  return { ok: false, message, instead };
}
