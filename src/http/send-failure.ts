/** Kinds of failed exchanges, by what somebody has to do about each. */
import { codeOf } from "../values/system-reason.ts";
import { ProxyFailure, SandboxNotRunning, SendError, SendTimeout } from "./exchange.ts";

/**
 * `refused`: nothing listens at the port. `unreachable`: no route, or connecting took too long. `not_http`: what answers is not
 * HTTP, or not without TLS. `certificate`: its authority is not known here. `closed`: the connection was closed before an answer.
 */
export const SEND_FAILURES = [
  "refused",
  "unknown_host",
  "unreachable",
  "certificate",
  "certificate_dates",
  "certificate_name",
  "no_tls",
  "tls",
  "not_http",
  "proxy",
  "timeout",
  "closed",
  "other",
] as const;

export type SendFailure = (typeof SEND_FAILURES)[number];

/** By the codes of Node, OpenSSL and undici, of which the first match counts. An error of undici may have a name alone. */
const BY_CODE: readonly (readonly [pattern: RegExp, failure: SendFailure])[] = [
  [/^ECONNREFUSED$/, "refused"],
  [/^(?:ENOTFOUND|EAI_\w+)$/, "unknown_host"],
  [/^(?:EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "unreachable"],
  [/^(?:ERR_SSL_(?:WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH_TOO_LONG)|EPROTO)$/, "no_tls"],
  [/^CERT_(?:HAS_EXPIRED|NOT_YET_VALID)$/, "certificate_dates"],
  [/^(?:ERR_TLS_CERT_ALTNAME_|HOSTNAME_MISMATCH)/, "certificate_name"],
  [/^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_)/, "certificate"],
  [/^ERR_(?:SSL|TLS)_/, "tls"],
  [/^(?:HPE_\w+|HTTPParserError)$/, "not_http"],
  [/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "closed"],
];

/** Of a `SendError`, or of an error that the system, OpenSSL or a client of a broker gave. */
export function sendFailure(error: unknown): SendFailure {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof ProxyFailure) return "proxy";
  if (error instanceof SendTimeout) return error.sent ? "timeout" : "unreachable";
  const codes = [codeOf(error), codeOf(cause), cause instanceof Error ? cause.name : ""];
  const known = BY_CODE.find(([pattern]) => codes.some((code) => pattern.test(code)))?.[1];
  return known ?? (error instanceof SendError && error.sent ? "closed" : "other");
}

const LASTING: ReadonlySet<SendFailure> = new Set([
  "certificate",
  "certificate_dates",
  "certificate_name",
  "no_tls",
]);

/** Whether something must be done first: about a sandbox that does not run, a certificate, or a proxy that refuses (4xx). */
export function isLasting(error: SendError): boolean {
  const { cause } = error;
  const refusal = cause instanceof ProxyFailure ? cause.status : undefined;
  if (refusal !== undefined) return refusal >= 400 && refusal < 500;
  return error instanceof SandboxNotRunning || LASTING.has(sendFailure(error));
}
