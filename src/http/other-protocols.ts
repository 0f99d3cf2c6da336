/** Says what a sender speaks that is not HTTP/1.1, or why it makes no TLS connection: most are proxies that are set up otherwise. */

/** An error of Node's parser, or of a TLS handshake. */
export interface ClientError extends Error {
  readonly code?: string | undefined;
  /** What the parser got. */
  readonly rawPacket?: Uint8Array;
}

/** The two versions of the PROXY protocol of HAProxy, with which load balancers name the client. */
const PROXY_PROTOCOL = /^(?:PROXY |\r\n\r\n\0\r\nQUIT\n)/;
/** The type of the record that a TLS handshake begins with (RFC 8446 5.1). */
const HANDSHAKE = "\x16";

/** Undefined for what is only malformed. */
export function otherProtocol({ code, rawPacket = new Uint8Array() }: ClientError): string | undefined {
  const start = Buffer.from(rawPacket.subarray(0, 16)).toString("latin1");
  if (code === "HPE_PAUSED_H2_UPGRADE")
    return "the sender speaks HTTP/2 without TLS; set the proxy to HTTP/1.1";
  if (code === "HPE_CLOSED_CONNECTION")
    return "bytes follow a request that ends its connection; a proxy may have dropped the Content-Length of the body";
  if (PROXY_PROTOCOL.test(start))
    return "the sender speaks the PROXY protocol; turn it off in the load balancer";
  if (start.startsWith(HANDSHAKE))
    return "the sender speaks TLS, and this address is http; set the proxy to http, or listen with --tls-cert and --tls-key";
  return undefined;
}

/** Why there is no TLS connection; undefined where the sender only went away, as a port scanner does. */
export function handshakeFailure({ code = "" }: ClientError): string | undefined {
  if (code === "ERR_SSL_HTTP_REQUEST") return "the sender speaks http, and this address is https";
  if (/^ERR_SSL_\w*ALERT_(?:UNKNOWN_CA|(?:BAD_|NO_)?CERTIFICATE)/.test(code))
    return `the sender does not accept the certificate of this listener (${code})`;
  return code.startsWith("ERR_SSL_") ? `the TLS handshake failed (${code})` : undefined;
}
