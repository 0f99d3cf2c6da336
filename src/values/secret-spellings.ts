/** A secret as another side may repeat it: as it was sent, or as JSON, a form, a URL, a page or a log of it spells it. */

/** What escapes a character of a page by its name. */
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
};

/** The source of a regular expression for the text in any spelling; each character may have one of its own. */
export const anySpelling = (text: string): string => Array.from(text, characterSpellings).join("");

function characterSpellings(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const entity = ENTITIES[character];
  const hex = anyCase(point.toString(16));
  const units = Array.from({ length: character.length }, (_, at) => padded(character.charCodeAt(at), 4));
  const bytes = Array.from(new TextEncoder().encode(character), (byte) => padded(byte, 2));
  // A text that was escaped twice has the escape's own character escaped: `\\u002B`, `%252B`, `&amp;#x2B;`.
  return `(?:${[
    String.raw`\\{0,4}\u{${point.toString(16)}}`,
    units.map((unit) => String.raw`\\{1,4}u${unit}`).join(""),
    String.raw`\\{1,4}u\{0*${hex}\}`,
    String.raw`\\{1,4}x${padded(point, 2)}`,
    bytes.map((byte) => `%(?:25){0,2}${byte}`).join(""),
    `&(?:amp;){0,2}#(?:[xX]0*${hex}|0*${point});?`,
    ...(entity === undefined ? [] : [`&(?:amp;){0,2}${entity};`]),
    ...(character === " " ? [String.raw`\+`, "%(?:25){0,2}2[bB]"] : []),
  ].join("|")})`;
}

const padded = (code: number, digits: number): string => anyCase(code.toString(16).padStart(digits, "0"));
const anyCase = (hex: string): string =>
  hex.replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** Characters of a secret that are a part of it which says too much. */
const PART = 8;

/** Whether the text has the secret, or a part of it, in any spelling. */
export function hasPartOf(secret: string, text: string): boolean {
  const characters = Array.from(secret);
  const parts = Array.from({ length: Math.max(1, characters.length - PART + 1) }, (_, at) =>
    anySpelling(characters.slice(at, at + PART).join("")),
  );
  return secret !== "" && new RegExp(parts.join("|"), "u").test(text);
}
