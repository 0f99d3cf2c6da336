/** Why a webhook is refused: each reason code with its meaning, in the order of the checks. */
import type { Violation } from "../../domain/transaction.ts";
import type { Reason } from "../../signatures/verdict.ts";

/** Found before there is a webhook to verify. */
const HTTP = {
  http_parse_error: "this is not an HTTP/1.1 request",
  headers_too_large: "the header section is larger than that of any webhook",
  bad_request_target: "the request target is not a path",
  not_found: "the path is not the one of --path",
  method_not_allowed: "the method is not POST",
  unsupported_transfer_coding: "the transfer coding is not chunked",
  unsupported_media_type: "the media type is not application/json or application/*+json",
  request_timeout: "the request was not complete in time",
  body_too_large: "the body is larger than --max-body allows",
  body_incomplete: "the connection ended before the body did",
  chunks_too_small: "the body has more and smaller chunks than any honest sender needs",
  overloaded: "too many requests arrived at the same time; the service sends it again",
};

const SIGNATURE: Readonly<Record<Reason, string>> = {
  unsigned: "there is neither Signature nor Signature-Input",
  signature_missing: "there is a Signature-Input but no Signature",
  signature_input_missing: "there is a Signature but no Signature-Input",
  signature_input_malformed: "Signature-Input is not a dictionary as RFC 9421 4.1 requires",
  signature_malformed: "Signature is not a dictionary of byte sequences, or its base64 is broken",
  limit_exceeded: "there are more header lines, signatures or components than any honest sender needs",
  duplicate_label: "two signatures have the same label, and programs differ in which one they read",
  label_mismatch: "a label is in only one of the two fields",
  label_not_found: "no signature has the required label, sig1",
  duplicate_param: "a parameter of the signature is given twice",
  signature_param_invalid: "a parameter has the wrong type, or expires is before created",
  coverage_missing: "a component that must be signed is not: at least content-digest",
  created_missing: "the signature has no created time, and --require-created is set",
  created_in_future: "the created time of the signature is in the future",
  signature_too_old: "the signature is older than --tolerance allows",
  signature_expired: "the expires time of the signature has passed",
  key_not_found: "the signature names a key that is not configured",
  key_ambiguous:
    "several configured keys have the id, or the signature has none and there are more than four keys",
  key_unusable: "the key is not meant for verifying, or was not valid at that time",
  alg_not_allowed: "the alg of the signature is not the configured one; a message cannot choose it",
  alg_key_mismatch: "the key is bound to another algorithm",
  key_type_mismatch: "the key type does not match the algorithm",
  duplicate_component: "a component is covered twice",
  component_missing: "a covered field is not in the message",
  component_unknown: "a covered @name is not defined in RFC 9421",
  component_not_applicable: "a covered component is for responses, and this is a request",
  component_param_unknown:
    "a component has a parameter that RFC 9421 does not define, or sf or bs, which the service never uses",
  component_param_incompatible: "the parameters of a component exclude each other",
  component_sf_type_unknown: "sf is used on a field whose structure is unknown",
  req_on_request: "req is used on a request; it is for responses",
  query_param_ambiguous: "the covered query parameter occurs more than once",
  component_value_invalid: "a covered value is not allowed in a signature base",
  duplicate_header: "a field that may occur once occurs twice",
  weak_key: "the key is too weak: RSA needs 2048 bits",
  signature_invalid:
    "the signature does not match the message and the key: something was changed, or another key signed it",
  content_digest_unsupported: "Content-Digest has no secure algorithm",
  content_digest_malformed: "Content-Digest is not a dictionary as RFC 9530 requires",
  content_digest_mismatch: "the body is not the one that was signed",
};

/** Violations of the record, found after the signature verified. */
const RECORD: Readonly<Record<Violation["code"], string>> = {
  body_invalid_utf8: "the signed body is not UTF-8; refused only with --strict",
  body_not_json: "the signed body is not JSON; refused only with --strict",
  body_duplicate_member: "the signed body has a duplicate member; refused only with --strict",
  body_schema: "the signed record breaks the specification's table of fields; refused only with --strict",
};

/** Found by paylink/webhooks in an application. */
const LIBRARY = {
  body_parsed:
    "paylink/webhooks got a body that was read or parsed before, so its bytes are gone: paylink help webhooks",
};

/** Found last: an event that cannot be stored is not acknowledged. */
const STORE = { not_stored: "the event could not be stored; the service sends it again" };

export const MEANINGS: Readonly<Record<string, string>> = {
  ...HTTP,
  ...SIGNATURE,
  ...RECORD,
  ...LIBRARY,
  ...STORE,
};
