/** What the warnings of a verification mean, and which of them apply to every webhook of a service. */

/** How the sender signs: the same for every webhook, so `listen` shows each of these once. */
const OF_SERVICE: Readonly<Record<string, string>> = {
  method_not_covered: "the method is not signed: it may have been changed in transit",
  target_not_covered: "the address is not signed: the webhook may have been sent to another address",
  content_type_not_covered: "the content type is not signed: it may have been changed in transit",
  created_missing: "the signature has no creation time: it can be replayed at any time",
  content_digest_without_sha256:
    "Content-Digest has no sha-256, the only algorithm that the service documents",
  weak_exponent: "the key's public exponent is below 65537",
};

const OF_WEBHOOK: Readonly<Record<string, string>> = {
  multiple_signatures: "there are several signatures; only the selected one was checked",
  non_canonical_signature_input: "Signature-Input has white space that the signed form does not have",
  non_canonical_base64: "base64 without padding, or with unused bits set",
  signature_has_parameters: "the signature has parameters, which have no meaning",
  unknown_signature_param: "Signature-Input has a parameter that RFC 9421 does not define",
  content_digest_alg_ignored: "Content-Digest has an insecure or unknown algorithm, which was ignored",
  content_encoding_not_decoded: "the body has an unknown content coding, so its record was not read",
};

export const isOfService = (warning: string): boolean => Object.hasOwn(OF_SERVICE, warning);

/** The meaning of the warning; its code if it has none here. */
export const warningWords = (warning: string): string =>
  OF_SERVICE[warning] ?? OF_WEBHOOK[warning] ?? warning;
