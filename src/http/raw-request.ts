/** HTTP/1.1 requests as text (RFC 9112): parsed from a capture, and written byte for byte. */
import { refusal, type Refusal } from "./exchange.ts";
import { fieldLines, trimSpace, type HeaderLine, type HttpRequest } from "./message.ts";

/** The request in the text, which does not contain the scheme and the address it was sent to. */
export interface RawRequest extends Omit<HttpRequest, "scheme" | "authority"> {
  /** Why an HTTP server would have refused it. */
  readonly fault?: Refusal;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/(\d(?:\.\d)?)$/;

/** Reads CRLF and LF, and the output of `curl -v`. Undefined if the bytes do not begin with a request line. */
export function parseRequest(bytes: Uint8Array): RawRequest | undefined {
  const text = withoutPrefixes(
    Buffer.from(bytes)
      .toString("latin1")
      .replace(/^(?:\xEF\xBB\xBF)?[\r\n]*/, ""),
  );
  const { lines, rest } = splitHead(text);
  const [, method, target, version] = REQUEST_LINE.exec(lines[0] ?? "") ?? [];
  if (method === undefined || target === undefined) return undefined;
  const head = readHeaders(lines.slice(1));
  const fault = head.fault ?? faultOf(method, version === "1.1", head.headers);
  const content = readBody(rest, head.headers);
  return { method, target, headers: head.headers, ...content, ...(fault === undefined ? {} : { fault }) };
}

/** The exact bytes of the request on the wire. */
export function formatRequest({
  method,
  target,
  headers,
  body,
}: Omit<HttpRequest, "scheme" | "authority">): Uint8Array {
  const lines = [`${method} ${target} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), body]);
}

/** `curl -v` marks sent lines with `> `, received ones with `< ` and its own with `* `. */
function withoutPrefixes(text: string): string {
  if (!/^(?:[*{}] .*\r?\n)*> \S+ \S+ HTTP\//.test(text)) return text;
  return text
    .split("\n")
    .filter((line) => !/^(?:[*<{}] |<\r?$)/.test(line))
    .map((line) => line.replace(/^>(?: |(?=\r?$))/, ""))
    .join("\n");
}

function splitHead(text: string): { lines: string[]; rest: string } {
  const lines: string[] = [];
  let start = 0;
  while (start < text.length) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, text[end - 1] === "\r" && end > start ? end - 1 : end);
    start = end + 1;
    if (line === "") break;
    lines.push(line);
  }
  return { lines, rest: text.slice(start) };
}

function readHeaders(lines: readonly string[]): { headers: HeaderLine[]; fault?: Refusal } {
  const headers: HeaderLine[] = [];
  let fault: Refusal | undefined;
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon));
    if (TOKEN.test(name)) headers.push([name, trimSpace(line.slice(colon + 1))]);
    else fault ??= parseError(headerProblem(line));
  }
  return fault === undefined ? { headers } : { headers, fault };
}

const parseError = (detail: string): Refusal => refusal("http_parse_error", detail);

function headerProblem(line: string): string {
  if (/^[ \t]/.test(line)) return "a header line is folded, which HTTP/1.1 no longer allows (RFC 9112 5.2)";
  if (/^\S+[ \t]+:/.test(line)) return "there is space before the colon of a header line (RFC 9112 5.1)";
  return `"${line.slice(0, 60)}" is not a header line`;
}

/** Finds what llhttp refuses, so that a capture gets the same verdict as a received request. */
function faultOf(method: string, needsHost: boolean, headers: readonly HeaderLine[]): Refusal | undefined {
  if (!/^[A-Z]+(?:-[A-Z]+)*$/.test(method)) return parseError(`the method ${method} is not upper case`);
  const lengths = fieldLines(headers, "content-length");
  if (lengths.length > 1) return parseError("the request has more than one Content-Length");
  if (!/^\d*$/.test(lengths[0] ?? "")) return parseError("Content-Length is not a number");
  if (lengths.length > 0 && fieldLines(headers, "transfer-encoding").length > 0)
    return parseError("the request has both Content-Length and Transfer-Encoding (RFC 9112 6.1)");
  if (needsHost && fieldLines(headers, "host").length === 0)
    return parseError("Host is missing, which HTTP/1.1 requires (RFC 9112 3.2)");
  return undefined;
}

type Content = Pick<RawRequest, "body" | "trailers" | "fault">;

/**
 * Drops what follows the body on a new line: an editor's newline, or the reply. If a proxy decoded the chunks and kept
 * the header, the text has no chunks and is the body.
 */
function readBody(rest: string, headers: readonly HeaderLine[]): Content {
  if (fieldLines(headers, "transfer-encoding").join().trim().toLowerCase() === "chunked" && CHUNK.test(rest))
    return readChunks(rest);
  const length = Number(fieldLines(headers, "content-length")[0] ?? rest.length);
  const ends = rest.length > length && /[\r\n]/.test(rest.charAt(length));
  return { body: Buffer.from(ends ? rest.slice(0, length) : rest, "latin1") };
}

const CHUNK = /^([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n/;
const LINE_END = /^\r?\n/;

/** RFC 9112 7.1. */
function readChunks(text: string): Content {
  const chunks: string[] = [];
  let rest = text;
  for (;;) {
    const [line, size] = CHUNK.exec(rest) ?? [];
    if (line === undefined || size === undefined) return cutShort(chunks);
    const length = Number.parseInt(size, 16);
    rest = rest.slice(line.length);
    if (length === 0) break;
    chunks.push(rest.slice(0, length));
    const [end] = LINE_END.exec(rest.slice(length, length + 2)) ?? [];
    if (end === undefined) return cutShort(chunks);
    rest = rest.slice(length + end.length);
  }
  const trailers = readHeaders(splitHead(rest).lines).headers;
  const body = Buffer.from(chunks.join(""), "latin1");
  return trailers.length > 0 ? { body, trailers } : { body };
}

function cutShort(chunks: readonly string[]): Content {
  const body = Buffer.from(chunks.join(""), "latin1");
  return { body, fault: refusal("body_incomplete", `the chunks end after ${body.length} bytes`) };
}
