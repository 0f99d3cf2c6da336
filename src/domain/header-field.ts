/** What HTTP allows as the name and the value of a header (RFC 9110 5.1, 5.5), and the headers of a connection. */
import { accepted, refused, type Parsed } from "./parse-result.ts";

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** ASCII alone: RFC 9110 5.5 leaves the meaning of other octets open. No line break, so no second header. */
const VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;

/** Fields of a single connection (RFC 9110 7.6.1), and fields that each connection sets itself. */
export const OF_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Headers that describe the connection or the body: another value breaks the request. */
const RESERVED = new Set([...OF_CONNECTION, "content-type", "proxy-connection"]);

/** The name of a header that may be added to a request. */
export function parseHeaderName(text: string): Parsed<string> {
  const name = text.trim();
  if (!NAME.test(name)) return refused("must be a header name, such as X-Terminal");
  return RESERVED.has(name.toLowerCase())
    ? refused("must be another header: paylink sets this one itself")
    : accepted(name);
}

export function parseHeaderValue(text: string): Parsed<string> {
  const value = text.trim();
  return VALUE.test(value)
    ? accepted(value)
    : refused("must be a header value: ASCII, not empty, without line breaks");
}

/** A whole header line. */
export function parseHeaderLine(text: string): Parsed<readonly [name: string, value: string]> {
  const colon = text.indexOf(":");
  const name = parseHeaderName(text.slice(0, Math.max(0, colon)));
  if (!name.ok) return name;
  const value = parseHeaderValue(text.slice(colon + 1));
  return value.ok ? accepted([name.value, value.value]) : value;
}
