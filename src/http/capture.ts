/** HTTP/1.1 requests as text (RFC 9112): a capture is read by Node's own parser, as the listener would have, and written byte for byte. */
import { createServer, type IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { refusal, type Refusal } from "./refusal.ts";
import { fieldLines, headerLines, type HttpRequest } from "./message.ts";
import { refuseMissingHost, socketRefusal } from "./serve.ts";

/** The request in a capture, which does not contain the scheme and the address it was sent to. */
export interface RawRequest extends Omit<HttpRequest, "scheme" | "authority"> {
  /** Why the listener would have refused it. */
  readonly fault?: Refusal;
  /** A line of a field goes on in the next one (obs-fold, RFC 9112 5.2), as a tool wraps what it prints; servers refuse it. */
  readonly isFolded?: boolean;
}

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/(\d(?:\.\d)?)$/;
/** The first line of a chunk (RFC 9112 7.1). */
const CHUNK = /^[0-9A-Fa-f]{1,8}[ \t]*(?:;[^\r\n]*)?\r?\n/;

/**
 * Takes CRLF and LF, the output of `curl -v`, a body without Content-Length, and one whose chunks a proxy undid. Resolves with
 * undefined if the bytes do not begin with a request line.
 */
export async function parseRequest(bytes: Uint8Array): Promise<RawRequest | undefined> {
  const text = withoutPrefixes(
    Buffer.from(bytes)
      .toString("latin1")
      .replace(/^(?:\xEF\xBB\xBF)?[\r\n]*/, ""),
  );
  const end = /\r?\n\r?\n|\r?\n?$/.exec(text);
  const lines = withRequestLine(text.slice(0, end?.index).split(/\r?\n/));
  const rest = text.slice((end?.index ?? 0) + (end?.[0].length ?? 0));
  const [, method, written, version = ""] = REQUEST_LINE.exec(lines[0] ?? "") ?? [];
  if (method === undefined || written === undefined) return undefined;
  const target = version.startsWith("1") ? written : withoutOrigin(written);
  // A capture of HTTP/2 has the same fields.
  lines[0] = `${method} ${target} HTTP/${version === "1.0" ? version : "1.1"}`;
  const { headers, body, refused, cut } = await parseWithNode(`${lines.join("\r\n")}\r\n\r\n${rest}`);
  const isFramed =
    fieldLines(headers, "content-length").length > 0 ||
    (fieldLines(headers, "transfer-encoding").length > 0 && CHUNK.test(rest));
  const fault = refused ?? (isFramed ? cut : undefined);
  const isFolded = lines.slice(1).some((line) => /^[ \t]+\S/.test(line));
  const request = { method, target, headers, body: isFramed ? body : Buffer.from(rest, "latin1") };
  return fault === undefined ? request : { ...request, fault, isFolded };
}

/** HTTP/2 has scheme and authority apart from the path: it is the tool, such as mitmproxy, that has written them before it. */
const withoutOrigin = (target: string): string => target.replace(/^https?:\/\/[^/?#]*(?=\/)/, "");

const PSEUDO_HEADER = /^:(method|path|authority|scheme): ?(.*)$/;

/** A capture of HTTP/2 has pseudo-headers (RFC 9113 8.3.1), in place of the request line and Host or beside them. */
function withRequestLine(lines: string[]): string[] {
  const pseudo = lines.flatMap((line) => {
    const [, name = "", value = ""] = PSEUDO_HEADER.exec(line) ?? [];
    return name === "" ? [] : [[name, value] as const];
  });
  if (pseudo.length === 0) return lines;
  const found = new Map(pseudo);
  const others = lines.filter((line) => !PSEUDO_HEADER.test(line));
  const hasStart = REQUEST_LINE.test(others[0] ?? "");
  const start = hasStart ? (others[0] ?? "") : `${found.get("method")} ${found.get("path")} HTTP/2`;
  const fields = hasStart ? others.slice(1) : others;
  const host = fields.some((line) => /^host:/i.test(line)) ? [] : [`host: ${found.get("authority") ?? ""}`];
  return [start, ...host, ...fields];
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

interface ParsedRequest extends Pick<RawRequest, "headers" | "body"> {
  /** Why the listener would refuse the head. */
  readonly refused?: Refusal | undefined;
  /** Where the body ends too soon. */
  readonly cut?: Refusal | undefined;
}

/** The first request on a connection that is a stream in memory. What follows it is left. */
function parseWithNode(text: string): Promise<ParsedRequest> {
  return new Promise((resolve) => {
    const connection = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    const chunks: Buffer[] = [];
    let incoming: IncomingMessage | undefined;
    const end = (found: Pick<ParsedRequest, "refused" | "cut"> = {}): void => {
      const { rawHeaders = [] } = incoming ?? {};
      const refused = incoming && refuseMissingHost(incoming);
      resolve({ headers: headerLines(rawHeaders), body: Buffer.concat(chunks), refused, ...found });
      connection.destroy();
    };
    const cutShort = (): void => {
      const { length } = Buffer.concat(chunks);
      end({ cut: refusal("body_incomplete", `the body ends after ${length} bytes`) });
    };
    const server = createServer({ requireHostHeader: false }, (request) => {
      incoming = request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("error", cutShort).on("end", () => end());
    });
    server.on("clientError", (error: NodeJS.ErrnoException) => {
      if (incoming === undefined) end({ refused: socketRefusal(error) });
      // Else it is about what follows the request.
      else if (!incoming.complete) setImmediate(cutShort);
    });
    connection.on("close", () => (incoming?.complete === false ? cutShort() : end()));
    server.emit("connection", connection);
    connection.push(Buffer.from(text, "latin1"));
    connection.push(null);
  });
}
