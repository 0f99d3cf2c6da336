/** The request that the application gets: the bytes and signature headers as received, without what only the sender vouches for. */
import { addressOf, fieldLines, type HeaderLine, type HttpRequest } from "../http/message.ts";
import type { WebhookEvent } from "./events.ts";

/** What is forwarded: the request, and the verdict that says which of its headers are authentic. */
export type Forwarded = Pick<WebhookEvent, "request" | "verdict">;

/** Fields of a single connection (RFC 9110 7.6.1), and fields that each connection sets itself. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
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

/** Fields that applications trust: forwarded only if the signature covers them, since any sender can set them. */
const TRUSTED = /^(?:authorization|cookie|forwarded|x-forwarded-.*)$/;

/** Fields that the application needs unchanged to verify the signature. */
const SIGNED: ReadonlySet<string> = new Set([
  "content-digest",
  "content-type",
  "signature",
  "signature-input",
]);

const isForConnection = (name: string): boolean => NOT_FORWARDED.has(name) || name.startsWith("proxy-");

/** Whether the user may add a header of this name. */
export const mayAdd = (name: string): boolean =>
  name.toLowerCase() === "host" || (!isForConnection(name.toLowerCase()) && !SIGNED.has(name.toLowerCase()));

/** A header that is added replaces those of the same name. */
export function forwardRequest(
  { request, verdict }: Forwarded,
  url: URL,
  added: readonly HeaderLine[],
): HttpRequest {
  const { method, scheme, authority, body } = request;
  const covered = new Set(verdict.verdict === "valid" ? verdict.covered : []);
  const forConnection = namedByConnection(request, verdict.covered);
  const received = request.headers.filter(([spelled]) => {
    const name = spelled.toLowerCase();
    if (isForConnection(name) || forConnection.has(name)) return false;
    return !TRUSTED.test(name) || covered.has(name);
  });
  const own: readonly HeaderLine[] = [["Host", url.host], ...addressHeaders(scheme, authority)];
  // An address that the sender signed is authentic.
  const others = [...without(own, received), ...received];
  return {
    method,
    ...addressOf(url),
    headers: [...without(others, added), ["Content-Length", String(body.length)], ...added],
    body,
  };
}

/** The fields that the sender declares to be of its connection (RFC 9110 7.6.1), without those that are signed. */
function namedByConnection({ headers }: HttpRequest, covered: readonly string[]): ReadonlySet<string> {
  const signed = new Set(covered.map((component) => component.replace(/;.*$/s, "")));
  const named = fieldLines(headers, "connection").flatMap((line) => line.toLowerCase().split(/[\s,]+/));
  return new Set(named.filter((name) => !SIGNED.has(name) && !signed.has(name)));
}

/** To verify the signature, the application has to know which address was signed. */
const addressHeaders = (scheme: string, authority: string): HeaderLine[] =>
  authority === ""
    ? []
    : [
        ["X-Forwarded-Host", authority],
        ["X-Forwarded-Proto", scheme],
      ];

/** The lines whose names are not among those of `others`. */
function without(lines: readonly HeaderLine[], others: readonly HeaderLine[]): HeaderLine[] {
  const names = new Set(others.map(([name]) => name.toLowerCase()));
  return lines.filter(([name]) => !names.has(name.toLowerCase()));
}
