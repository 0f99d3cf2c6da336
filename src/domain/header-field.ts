/** The header fields of a connection, which no message of an application may set. */

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
