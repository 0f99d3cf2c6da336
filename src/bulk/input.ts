/** The bytes of a list: a file, or standard input; what their beginning says they are, and the text that they hold. */
import { createReadStream, realpathSync } from "node:fs";
import { open } from "node:fs/promises";
import { hint, PaylinkError } from "../domain/errors.ts";
import { systemReason } from "../domain/system-reason.ts";

export interface Input {
  /** The real path of the file; "-" for standard input. */
  readonly path: string;
  readonly open: OpenBytes;
}

/** A list that is not sent need not be held, so any number of rows takes little memory (bulk bench). Throws `file_unreadable`. */
export async function fileInput(path: string, isHeld: boolean): Promise<Input> {
  try {
    const handle = await open(path, "r");
    try {
      if (!(await handle.stat()).isFile()) throw new Error("it is not a file");
      const real = realpathSync(path);
      return isHeld
        ? heldInput(real, await handle.readFile())
        : { path: real, open: () => createReadStream(real) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const message = `Cannot read ${path}: ${systemReason(error)}. Nothing was sent.`;
    throw new PaylinkError("file_unreadable", message, { cause: error });
  }
}

/** Bytes that each pass reads before it lets signals and answers in. */
const PIECE = 64 * 1024;

/**
 * A list is read once and held: it may be edited while it is sent, and each link must go to the row that it was made for, as
 * it was confirmed.
 */
export const heldInput = (path: string, bytes: Uint8Array): Input => ({
  path,
  open: async function* () {
    for (let at = 0; at < bytes.length; at += PIECE) {
      if (at > 0) await new Promise((resolve) => setImmediate(resolve));
      yield bytes.subarray(at, at + PIECE);
    }
  },
});

/** Gives the bytes from the first on, for each pass. */
export type OpenBytes = () => AsyncIterable<Uint8Array>;

/** Long enough for a header line. */
const HEAD = 64 * 1024;

/** The beginning of the text, and the byte order mark before it. Throws `file_unreadable` for bytes that are no text in UTF-8, if their beginning shows it. */
export async function headOf(open: OpenBytes): Promise<Readonly<Record<"text" | "mark", string>>> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of open()) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= HEAD) break;
  }
  const bytes = Buffer.concat(chunks);
  const other = otherFormat(bytes);
  if (other !== undefined) throw notText(`The list is ${other}, not CSV or JSON lines`);
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const mark = text.startsWith(MARK) ? MARK : "";
  return { text: text.slice(mark.length), mark };
}

const MARK = "\uFEFF";

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
  new PaylinkError("file_unreadable", `Nothing was sent. ${message}.`, {
    hints: [
      hint`Open it in the spreadsheet and save it as "CSV UTF-8" (Excel), or as CSV with the character set UTF-8 (LibreOffice, Numbers).`,
    ],
    cause,
  });

/** Removes a byte order mark, and refuses other encodings, which would put wrong names on links. */
export async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const read = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      throw notText("The list is not in UTF-8", error);
    }
  };
  for await (const chunk of bytes) yield read(chunk);
  yield read();
}
