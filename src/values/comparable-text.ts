/** How two texts are compared that people, spreadsheets and programs write: invisible differences do not count. */

/** What is shown as nothing: zero-width spaces and joiners, bidirectional marks, soft hyphens, a byte order mark. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** With no-break and wide spaces, and the line ends of every system. */
const WHITE_SPACE = /[\s\u0085]+/g;

/**
 * The same text for every spelling that looks the same: each run of white space is one space, none is around the text,
 * invisible characters are left out, and letters have Unicode's composed form (NFC). Case and everything visible count.
 * An order number is compared so, wherever it comes from.
 */
export const comparableText = (text: string): string =>
  text.replace(INVISIBLE, "").replace(WHITE_SPACE, " ").trim().normalize("NFC");
