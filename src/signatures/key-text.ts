/** Tells the text of a key from the name of its file and from its URL. */
import { fileURLToPath } from "node:url";

/**
 * Whether the text is meant as a key, and not as its file or URL: PEM, JSON, what OpenSSH or XML hold, or any of them in base64 or
 * hexadecimal, in quotes too. A variable may hold its line breaks as `\n`. What has a line break is not a name of a file.
 */
export function isKeyText(source: string): boolean {
  const text = source.trim().replace(/^["'`]/, "");
  if (text.includes("-----BEGIN ") || /[\r\n]/.test(text)) return true;
  if (/^(?:\{|\[\s*[{"\\]|<|ssh-|ecdsa-sha2-|---- BEGIN)/.test(text)) return true;
  const compact = text.replace(/\s+|\\+[rn]|["'`]$/g, "");
  const isPlace = /^(?:[./~\\]|[a-z]:|https?:)/i.test(text);
  return ENCODED_KEYS.some((pattern) => pattern.test(compact)) || (!isPlace && text.length > 255);
}

/** The sources that a text names: each file or URL on a line of its own, and what else it is, as one. */
export function sourcesIn(text: string): readonly string[] {
  const lines = text.split(/\r?\n/);
  const places = lines.filter((line) => PLACE.test(line.trim()));
  const rest = lines.filter((line) => !places.includes(line)).join("\n");
  return lines.length === 1 || places.length === 0
    ? [text]
    : [...places, ...(rest.trim() === "" ? [] : [rest])];
}

/** Base64 has no full stop, and no other line of a key is one word with one. */
const PLACE = /^(?:(?:https?|file):\/\/\S+|[^\s{}<>"'=,;-][^\s{}<>"'=,;]*\.\w{1,8})$/i;

/** The path or the URL of a key, of a text that is not the key itself. A module names the file beside it by its `file:` URL. */
export function keyPlace(source: string): string {
  const place = source.trim();
  try {
    return /^file:\/\//i.test(place) ? fileURLToPath(place) : place;
  } catch {
    return place;
  }
}

/** DER in base64; and PEM, JSON or DER, each by its first characters. What is longer than any name may be a damaged key. */
const ENCODED_KEYS = [
  /^M[A-P][\w+/=-]{50,}$/,
  /^(?:LS0t|eyJ|ewo|ew0K|W3s|Wwo|WyJ|30[\da-f]{2})[\w+/=-]{100,}$/,
];
