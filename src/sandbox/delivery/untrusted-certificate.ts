/** Why a webhook could not be posted, and what to do if the receiver's certificate is not trusted. */
import { messageOf } from "../../domain/errors.ts";
import { certificateReason, systemCode } from "../../http/exchange.ts";

/** The codes of OpenSSL and Node for a certificate that the system does not trust. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** `mayTrust`: whether `--insecure` applies to this address. */
export function describeSendError(error: unknown, url: URL, mayTrust: boolean): string {
  if (!UNTRUSTED.has(systemCode(error))) return messageOf(error);
  const remedy = mayTrust ? ". To accept it, start the sandbox with --insecure" : "";
  return `not sent: the certificate of ${url.host} is not trusted (${certificateReason(error)})${remedy}`;
}
