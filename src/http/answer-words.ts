/** What an answer says to people: its text, or the words of its page or its JSON, in which frameworks put the error. */
import { errorText } from "./error-words.ts";
import { fieldLines, type HeaderLine, isSuccess } from "./message.ts";

interface Answered {
  readonly status: number | null;
  /** Milliseconds; null if nothing was sent. */
  readonly ms: number | null;
  /** Its words. */
  readonly detail: string;
}

/** `500 nope`, `no answer`, `200 in 2 ms`; the page of the attempt has the reason why there was no answer, and all of an answer. */
export function answerText({ status, ms, detail }: Answered): string {
  if (status === null) return ms === null ? "not sent" : "no answer";
  if (isSuccess(status)) return `${status} in ${ms} ms`;
  // Pages of errors begin with their status.
  return detail.startsWith(String(status)) ? detail : `${status} ${detail}`.trim();
}

/** In one line. */
export const answerWords = (headers: readonly HeaderLine[], body: string): string =>
  (isPage(headers, body) ? pageWords(body) : (errorText(body) ?? body)).trim().replaceAll(/\s+/g, " ");

export const isPage = (headers: readonly HeaderLine[], body: string): boolean =>
  /html/i.test(fieldLines(headers, "content-type")[0] ?? "") || /^\s*<(?:!doctype html|html)\b/i.test(body);

/** `Error` of `Error: no stock`, and of another `Error`. */
const isBeginning = (line: string, next: string | undefined): boolean =>
  next?.startsWith(line) === true && !/^\p{L}/u.test(next.slice(line.length));

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/**
 * The words that a browser would show, a block a line; a title that the next line begins with, as those of errors do, is left out. It is for reading only: what it returns is text, and is escaped like any
 * other text of a page.
 */
export function pageWords(source: string): string {
  const text = source
    .replaceAll(/<!--[^]*?-->/g, "")
    .replaceAll(/<(script|style|template|svg)\b[^]*?<\/\1\s*>/gi, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(
      /<(?:br|\/?(?:p|div|h\d|li|ul|ol|tr|table|pre|title|head|body|section|header|footer|dt|dd))\b[^>]*>/gi,
      "\n",
    )
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(
      /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,5}));/gi,
      (whole, decimal, hex, name: string | undefined) => {
        if (name !== undefined) return HTML_ENTITIES[name.toLowerCase()] ?? whole;
        const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal);
        return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      },
    );
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .filter((line, at, lines) => !isBeginning(line, lines[at + 1]))
    .join("\n");
}
