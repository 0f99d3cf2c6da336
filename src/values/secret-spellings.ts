/** A secret as another side may repeat it: as it was sent, or as JSON, a form, a URL, a page or a log of it spells it. */

/** What escapes a character of a page by its name. */
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/** What an escape begins with; in a form, `+` is a space. */
const ESCAPES = ["\\", "%", "&", "+"];

/** The escapes that a text may have. Most have none, and to compile all spellings of a token takes V8 40 ms: a quarter of `create`. */
export const escapesIn = (text: string): string => ESCAPES.filter((escape) => text.includes(escape)).join("");

/** The source of a regular expression for the secret in any spelling with these escapes; each character may have one of its own. */
export const anySpelling = (secret: string, escapes: string): string =>
  Array.from(secret, (character) => `(?:${characterSpellings(character, escapes).join("|")})`).join("");

function characterSpellings(character: string, escapes: string): string[] {
  const point = character.codePointAt(0) ?? 0;
  const entity = ENTITIES[character];
  const hex = anyCase(point.toString(16));
  const plain = String.raw`\u{${point.toString(16)}}`;
  const units = Array.from({ length: character.length }, (_, at) => padded(character.charCodeAt(at), 4));
  const bytes = Array.from(new TextEncoder().encode(character), (byte) => padded(byte, 2));
  // A text that was escaped twice has the escape's own character escaped: `\\u002B`, `%252B`, `&amp;#x2B;`.
  const escaped: Readonly<Record<string, readonly string[]>> = {
    "\\": [
      String.raw`\\{1,4}${plain}`,
      units.map((unit) => String.raw`\\{1,4}u${unit}`).join(""),
      String.raw`\\{1,4}u\{0*${hex}\}`,
      String.raw`\\{1,4}x${padded(point, 2)}`,
    ],
    "%": [
      bytes.map((byte) => `%(?:25){0,2}${byte}`).join(""),
      ...(character === " " ? ["%(?:25){0,2}2[bB]"] : []),
    ],
    "&": [
      `&(?:amp;){0,2}#(?:[xX]0*${hex}|0*${point});?`,
      ...(entity === undefined ? [] : [`&(?:amp;){0,2}${entity};`]),
    ],
    "+": character === " " ? [String.raw`\+`] : [],
  };
  return [...Array.from(escapes).flatMap((escape) => escaped[escape] ?? []), plain];
}

const padded = (code: number, digits: number): string => anyCase(code.toString(16).padStart(digits, "0"));
const anyCase = (hex: string): string =>
  hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** Characters of a secret that are a part of it which says too much. */
const PART = 8;

/** Whether the text has the secret, or a part of it, in any spelling. */
export function hasPartOf(secret: string, text: string): boolean {
  const characters = Array.from(secret);
  const escapes = escapesIn(text);
  const parts = Array.from({ length: Math.max(1, characters.length - PART + 1) }, (_, at) =>
    anySpelling(characters.slice(at, at + PART).join(""), escapes),
  );
  return secret !== "" && new RegExp(parts.join("|"), "u").test(text);
}
