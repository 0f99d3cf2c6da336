/** Why a webhook is refused, code by code, in the order in which verification looks; `verify` says it of one webhook. */
import type { Breach } from "../../domain/transaction.ts";
import type { Reason } from "../../signatures/verdict.ts";

/** Before there is a webhook to verify. */
const HTTP = {
  http_parse_error: "what came is no HTTP/1.1 request",
  headers_too_large: "the header section is larger than any webhook's",
  bad_request_target: "the request target is not a path",
  not_found: "the path is not the one that --path names",
  method_not_allowed: "the method is not POST",
  unsupported_transfer_coding: "the transfer coding is another one than chunked",
  unsupported_media_type: "the media type is not application/json",
  request_timeout: "the request did not end in time",
  body_too_large: "the body is larger than --max-body allows",
  body_incomplete: "the connection ended before the body did",
};

const SIGNATURE: Readonly<Record<Reason, string>> = {
  unsigned: "neither Signature nor Signature-Input is there",
  signature_missing: "Signature-Input stands alone",
  signature_input_missing: "Signature stands alone",
  signature_input_malformed: "Signature-Input is not the dictionary that RFC 9421 4.1 asks for",
  signature_malformed: "Signature is no dictionary of byte sequences, or its base64 is broken",
  limit_exceeded: "there are more header lines, signatures or components than any honest sender needs",
  duplicate_label: "two signatures bear one label, and readers differ in which they take",
  label_mismatch: "a label stands in one of the two fields alone",
  label_not_found: "no signature bears the label that counts, sig1",
  duplicate_param: "a parameter of the signature is given twice",
  signature_param_invalid: "a parameter is of a wrong type, or expires lies before created",
  coverage_missing: "what has to be signed is not: at least content-digest",
  created_missing: "the signature does not say when it was made, and --require-created insists",
  created_in_future: "the signature claims to be made later than now",
  signature_too_old: "the signature is older than --tolerance allows",
  signature_expired: "the signature's own expires has passed",
  key_not_found: "the signature names a key that is not among the configured ones",
  key_ambiguous:
    "two configured keys have the id, or the signature has none and there are more than four keys",
  key_unusable: "the key is not meant for verifying, or not valid at the time",
  alg_not_allowed: "the signature's alg is not the configured one, which no message can choose",
  alg_key_mismatch: "the key is bound to another algorithm",
  key_type_mismatch: "the key is of another kind than the algorithm takes",
  duplicate_component: "a component is covered twice",
  component_missing: "a covered field is not in the message",
  component_unknown: "a covered @name is none of RFC 9421",
  component_not_applicable: "a covered component belongs to responses, and this is a request",
  component_param_unknown: "a component has a parameter that RFC 9421 does not know",
  component_param_incompatible: "parameters of a component exclude one another",
  component_sf_type_unknown: "sf is asked of a field whose structure is not known",
  req_on_request: "req is asked of a request, which answers none",
  query_param_ambiguous: "the covered query parameter comes more than once",
  component_value_invalid: "a covered value cannot stand in a signature base",
  duplicate_header: "a field that may come once comes twice",
  weak_key: "the key can be broken or forged: RSA needs 2048 bits",
  signature_invalid:
    "the signature does not fit the message and the key: something was changed, or another key signed",
  content_digest_unsupported: "Content-Digest has no algorithm that proves anything",
  content_digest_malformed: "Content-Digest is not the dictionary that RFC 9530 asks for",
  content_digest_mismatch: "the body is not the one that was signed",
};

/** Breaches of the record, after a good signature. */
const RECORD: Readonly<Record<Breach["code"], string>> = {
  body_invalid_utf8: "the signed body is not UTF-8; refused with --strict alone",
  body_not_json: "the signed body is not JSON; refused with --strict alone",
  body_duplicate_member: "the signed body has a member twice; refused with --strict alone",
  body_schema: "the signed record breaks the specification's table of fields; refused with --strict alone",
};

/** After everything else: what is not kept is not acknowledged. */
const STORE = { not_stored: "the event could not be kept; the service sends it again" };

export const MEANINGS: Readonly<Record<string, string>> = { ...HTTP, ...SIGNATURE, ...RECORD, ...STORE };
