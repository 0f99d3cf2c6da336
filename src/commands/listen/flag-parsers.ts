/** Parsers of the values that only the flags of `listen` have. */
import { accepted, type Parsed, refused } from "../../domain/parse-result.ts";
import type { HeaderLine } from "../../http/message.ts";
import { mayAdd } from "../../receiver/forward.ts";
import { parseDelays, parsePort } from "../flag-values.ts";
import type { AdminAddress } from "./admin.ts";

const LONGEST_RETRY = 365 * 86_400_000;

export function parseRetry(text: string): Parsed<readonly number[]> {
  const delays = parseDelays(text);
  return delays.ok && delays.value.some((delay) => delay > LONGEST_RETRY)
    ? refused("must be 365d at most, each")
    : delays;
}

/** `127.0.0.1:9100`, `[::1]:9100` or `localhost:9100`; port 0 picks a free one. */
export function parseHostAndPort(text: string): Parsed<AdminAddress> {
  const [, inner, name, digits = ""] =
    /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+)):(\d+)$/i.exec(text.trim()) ?? [];
  const [host, port] = [inner ?? name, parsePort(digits)];
  return host !== undefined && port.ok
    ? accepted({ host, port: port.value })
    : refused("must be a host and a port, such as 127.0.0.1:9100");
}

/** As a URL spells it, which is how the service requests it. A second slash would begin the name of a host. */
export function parsePath(text: string): Parsed<string> {
  const path = /^\/[^?#\s]*$/.test(text) ? new URL(`http://localhost${text}`).pathname : "";
  return /^\/(?!\/)/.test(path)
    ? accepted(path)
    : refused("must start with one / and have no query, such as /webhooks");
}

/** RFC 9110 5.1, 5.5: a token, and visible ASCII with inner white space. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?[ \t]*$/;

export function parseHeader(text: string): Parsed<HeaderLine> {
  const [, name, value = ""] = HEADER.exec(text) ?? [];
  if (name === undefined) return refused('must be "Name: value"');
  if (!mayAdd(name)) return refused("must not change a header that is signed or that frames the message");
  return accepted([name, value]);
}
