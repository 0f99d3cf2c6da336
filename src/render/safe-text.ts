/** Makes remote text safe to show: nothing in it can move the cursor, recolour, retitle, link or reorder. */

/** What is safe at first sight, and most of what is shown. */
const PLAIN = /^[ -~]*$/;

const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** The text with every unsafe character as an escape that can be read: `\n`, `\u{202e}`. */
export function safeText(text: string): string {
  if (PLAIN.test(text)) return text;
  // Controls (Cc), format characters (Cf: bidirectional, zero-width, tags), line and paragraph separators (Zl, Zp),
  // lone surrogates (Cs), and variation selectors, which change the look of what stands before them. It stands here
  // since to read it takes a start longer than most modules do.
  const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]|\p{Variation_Selector}/gu;
  return text.replace(unsafe, (found) => NAMED[found] ?? `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The text with its own line breaks kept and everything else made safe. */
export function safeLines(text: string): string {
  return text.split("\n").map(safeText).join("\n");
}

/** At most so many characters, with an ellipsis where something was left out. */
export function clip(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, Math.max(0, length - 1)).join("")}…`;
}
