/** The bytes of a list as text: what their beginning says they are, and the whole text in pieces. */
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { BYTE_ORDER_MARK } from "../values/parse-json.ts";

/** Bytes of a beginning that is long enough for the longest header, or the longest first line. */
const HEAD = 4 * 1024 * 1024;

/** Bytes that show what a file is. */
const SIGNATURE_BYTES = 64 * 1024;

export interface ListHead {
  readonly text: string;
  /** The byte order mark before it. */
  readonly mark: string;
  /** The list goes on. */
  readonly isCut: boolean;
}

/** Throws `file_unreadable` for bytes that are not text in UTF-8, if their beginning shows it. */
export function headOf(bytes: Uint8Array): ListHead {
  const head = Buffer.from(bytes.subarray(0, HEAD));
  const other = otherFormat(head.subarray(0, SIGNATURE_BYTES));
  if (other !== undefined) throw notText(`The list is ${other}, not CSV or JSON lines`);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(head);
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  return { text: text.slice(mark.length), mark, isCut: bytes.length > HEAD };
}

const BEGINNINGS: readonly (readonly [what: string, beginning: string])[] = [
  ["a workbook (.xlsx, .ods, .numbers) or another archive", "PK\x03\x04"],
  ["a workbook of Excel (.xls)", "\xD0\xCF\x11\xE0"],
  ["in UTF-16", "\xFF\xFE"],
  ["in UTF-16", "\xFE\xFF"],
];

/** What the file is instead, in words; undefined if it may be text in UTF-8. */
function otherFormat(bytes: Buffer): string | undefined {
  const text = bytes.toString("latin1");
  const [known] = BEGINNINGS.find(([, beginning]) => text.startsWith(beginning)) ?? [];
  if (known !== undefined) return known;
  // Without a mark, half of the bytes of a text in UTF-16 with Latin letters are 0; no text in UTF-8 has any.
  if (/^(?:\0[^\0]|[^\0]\0)/.test(text)) return "in UTF-16";
  return text.includes("\0") ? "a binary file" : undefined;
}

const notText = (message: string, cause?: unknown): PaylinkError =>
  new PaylinkError("file_unreadable", `${message}.`, {
    hints: [
      hint`Open it in the spreadsheet and save it as "CSV UTF-8" (Excel), or as CSV with the character set UTF-8 (LibreOffice, Numbers).`,
    ],
    cause,
  });

const BYTE_ORDER_MARKS: readonly (readonly [mark: string, encoding: string])[] = [
  ["\xFF\xFE", "utf-16le"],
  ["\xFE\xFF", "utf-16be"],
];

/** What Windows-1252 has where Latin-1 has nothing. Some releases of Node decode both alike. */
const WINDOWS_LETTERS = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8DŽ\x8F\x90‘’“”•–—˜™š›œ\x9DžŸ";

/** A letter in UTF-8; in Windows-1252, letters and signs that stand together in no word. */
const LETTER_IN_UTF8 = /[\xC2-\xDF][\x80-\xBF]|[\xE0-\xF4][\x80-\xBF]{2}/;

/**
 * A text in UTF-16, by its mark, or in Windows-1252, as many banks write it, in UTF-8; any other as it is. For a list that nothing is
 * sent of: on a link, a wrong letter would reach the customer.
 */
export function asUtf8(bytes: Uint8Array): Uint8Array {
  const text = Buffer.from(bytes.subarray(0, HEAD)).toString("latin1");
  const [, marked] = BYTE_ORDER_MARKS.find(([mark]) => text.startsWith(mark)) ?? [];
  const isWindows = /[\x80-\xFF]/.test(text) && !text.includes("\0") && !LETTER_IN_UTF8.test(text);
  if (marked !== undefined) return Buffer.from(new TextDecoder(marked).decode(bytes));
  if (!isWindows) return bytes;
  const latin = Buffer.from(bytes).toString("latin1");
  return Buffer.from(
    latin.replace(/[\x80-\x9F]/g, (sign) => WINDOWS_LETTERS[sign.charCodeAt(0) - 0x80] ?? sign),
  );
}

/** The text from a line on, which is counted from 1: empty if it has fewer lines. */
export function textFromLine(bytes: Uint8Array, line: number): Uint8Array {
  let at = 0;
  for (let number = 1; number < line && at < bytes.length; number++) {
    while (at < bytes.length && bytes[at] !== 0x0a && bytes[at] !== 0x0d) at++;
    at += bytes[at] === 0x0d && bytes[at + 1] === 0x0a ? 2 : 1;
  }
  return bytes.subarray(at);
}

/** Bytes that are read before signals and answers are let in. */
const PIECE = 64 * 1024;

/** Removes a byte order mark, and refuses other encodings, which would put wrong names on links. */
export async function* decode(bytes: Uint8Array): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const read = (piece?: Uint8Array): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch (error) {
      throw notText("The list is not in UTF-8", error);
    }
  };
  for (let at = 0; at < bytes.length; at += PIECE) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    yield read(bytes.subarray(at, at + PIECE));
  }
  yield read();
}
