/** A stored webhook as a curl command, which posts the same bytes with the same signature. */
import { maskCardNumbers } from "../domain/card-numbers.ts";
import { shellWord } from "../domain/hint.ts";
import type { HttpRequest } from "../http/message.ts";

/** What curl sets itself, or what belongs to one connection (RFC 9110 7.6.1). */
const SET_BY_CURL: ReadonlySet<string> = new Set([
  "host",
  "content-length",
  "connection",
  "transfer-encoding",
  "keep-alive",
  "te",
  "expect",
]);

/** The name of the download of the body. */
export const BODY_FILE = "webhook.json";

export interface CurlCommand {
  readonly command: string;
  /** The body is in a file beside it, since it is not plain text, or has a whole card number. */
  readonly needsFile: boolean;
}

/** Undefined for one that shells would read in different ways. */
export function curlCommand({ method, headers, body }: HttpRequest, url: string): CurlCommand | undefined {
  const text = new TextDecoder().decode(body);
  const isText = Buffer.from(text).equals(Buffer.from(body)) && shellWord(text) !== undefined;
  const needsFile = !isText || maskCardNumbers(text) !== text || text.startsWith("@");
  const fields = headers.filter(([name]) => !SET_BY_CURL.has(name.toLowerCase()));
  const words = [
    ["curl -i -X", method, url],
    ...fields.map(([name, value]) => ["-H", `${name}: ${value}`]),
    ["--data-binary", needsFile ? `@${BODY_FILE}` : text],
  ].map(([ours, ...values]) => [ours, ...values.map(shellWord)]);
  return words.flat().includes(undefined)
    ? undefined
    : { command: words.map((line) => line.join(" ")).join(" \\\n  "), needsFile };
}
