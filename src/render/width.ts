/** The columns that a terminal takes for a text: two for wide characters and emoji, none for combining marks. */
import fastStringWidth from "fast-string-width";

let segmenter: Intl.Segmenter | undefined;
/**
 * Latin, Greek and Cyrillic letters, dashes and quotes: each takes one column. To split a text into its characters takes some 15 µs,
 * which a list of 500,000 links does several million times.
 */
const ONE_COLUMN_EACH =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0373\u0376\u0377\u037b-\u037f\u0384-\u038a\u038c\u038e-\u03a1\u03a3-\u0482\u048a-\u052f\u2010-\u2027\u20ac]*$/;

interface Character {
  /** With the marks that belong to it. */
  readonly text: string;
  readonly width: number;
}

function* charactersOf(text: string): Generator<Character> {
  // Made when the first text needs it: it takes milliseconds, and few texts need it (startup bench).
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield { text: segment, width: fastStringWidth(segment) };
}

export function widthOf(text: string): number {
  if (ONE_COLUMN_EACH.test(text)) return text.length;
  let sum = 0;
  for (const { width } of charactersOf(text)) sum += width;
  return sum;
}

/** The text and the spaces that fill its column. */
export const padEnd = (text: string, width: number): string => text + space(text, width);

export const padStart = (text: string, width: number): string => space(text, width) + text;

const space = (text: string, width: number): string => " ".repeat(Math.max(0, width - widthOf(text)));

/** More than any character takes with its marks. */
const UNITS_PER_COLUMN = 16;

/** At most `width` columns, with an ellipsis if something was cut. What is far too long is cut before it is measured, which is slow. */
export function clip(text: string, width: number): string {
  const bounded = text.slice(0, UNITS_PER_COLUMN * width);
  if (bounded.length === text.length && widthOf(text) <= width) return text;
  const [start = ""] = splitAtWidth(bounded, width - 1);
  return `${widthOf(start) < width ? start.trimEnd() : ""}…`;
}

/** The text in lines of at most `width` columns, and at least one character. Nothing is cut. */
export function splitAtWidth(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const character of charactersOf(text)) {
    if (line !== "" && used + character.width > width) {
      lines.push(line);
      line = "";
      used = 0;
    }
    line += character.text;
    used += character.width;
  }
  return [...lines, line];
}
