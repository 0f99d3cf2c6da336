/** Reads a list of links row by row in constant memory: CSV or JSON lines, detected by the first character. */
import { PaylinkError } from "../domain/errors.ts";
import { csvRows, delimiterOf, type Delimiter } from "./csv-rows.ts";
import { jsonRows } from "./json-rows.ts";
import type { Row } from "./row.ts";

/** Opens the file again for each pass. */
export type OpenBytes = () => AsyncIterable<Uint8Array>;

export interface Rows {
  readonly format: "csv" | "json lines";
  readonly delimiter: Delimiter;
  /** Whether the file begins with a byte order mark, which spreadsheets write and expect. */
  readonly mark: boolean;
  read(): AsyncIterable<Row>;
}

export async function openRows(open: OpenBytes): Promise<Rows> {
  const { head, mark } = await headOf(open);
  if (/^\s*\{/.test(head))
    return { format: "json lines", delimiter: ",", mark, read: () => jsonRows(decode(open())) };
  const delimiter = delimiterOf(head);
  return { format: "csv", delimiter, mark, read: () => csvRows(decode(open()), delimiter) };
}

const HEAD = 64 * 1024;

/** The beginning of the file, long enough for a header line. */
async function headOf(open: OpenBytes): Promise<{ head: string; mark: boolean }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of open()) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= HEAD) break;
  }
  const bytes = Buffer.concat(chunks);
  return { head: new TextDecoder().decode(bytes), mark: bytes[0] === 0xef && bytes[1] === 0xbb };
}

/** Removes a byte order mark, and refuses other encodings, which would put wrong names on links. */
async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const read = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      throw new PaylinkError("file_unreadable", "Nothing was sent. The file is not UTF-8.", {
        hint: "Save it as UTF-8; a spreadsheet calls that CSV UTF-8.",
        cause: error,
      });
    }
  };
  for await (const chunk of bytes) yield read(chunk);
  yield read();
}
