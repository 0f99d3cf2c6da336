/** Why a webhook is refused, or accepted with a warning: each code with its meaning, the advice and the HTTP status. */

/** Found while the signature is verified. */
export type Reason =
  | "unsigned"
  | "signature_missing"
  | "signature_input_missing"
  | "signature_input_malformed"
  | "signature_malformed"
  | "limit_exceeded"
  | "duplicate_label"
  | "label_mismatch"
  | "label_not_found"
  | "duplicate_param"
  | "signature_param_invalid"
  | "coverage_missing"
  | "created_missing"
  | "created_in_future"
  | "signature_too_old"
  | "signature_expired"
  | "key_not_found"
  | "key_ambiguous"
  | "key_unusable"
  | "alg_not_allowed"
  | "alg_key_mismatch"
  | "key_type_mismatch"
  | "duplicate_component"
  | "component_missing"
  | "component_unknown"
  | "component_not_applicable"
  | "component_param_unknown"
  | "component_param_incompatible"
  | "component_sf_type_unknown"
  | "req_on_request"
  | "query_param_ambiguous"
  | "component_value_invalid"
  | "duplicate_header"
  | "weak_key"
  | "signature_invalid"
  | "content_digest_unsupported"
  | "content_digest_malformed"
  | "content_digest_mismatch";

/** Found before: the head or the body of the request. */
export type MessageReason =
  | "bad_request_target"
  | "method_not_allowed"
  | "unsupported_transfer_coding"
  | "body_too_large"
  | "body_incomplete";

/** Found afterwards: the webhook is authentic, but its record violates the specification. */
export type RecordReason = "body_invalid_utf8" | "body_not_json" | "body_duplicate_member" | "body_schema";

/** Found by `paylink/webhooks`: the body was read or parsed before it was verified, or there is no key. */
export type ApplicationReason =
  "body_parsed" | "key_required" | "key_invalid" | "file_unreadable" | "not_reached";

/** Found by a listener alone. */
type ListenerReason =
  | "http_parse_error"
  | "headers_too_large"
  | "not_found"
  | "unsupported_media_type"
  | "request_timeout"
  | "chunks_too_small"
  | "overloaded"
  | "not_stored";

export type RefusalCode = Reason | MessageReason | RecordReason | ApplicationReason | ListenerReason;

interface Row {
  /** Of the answer. A head that breaks a limit or is ambiguous may have another (`receiver/admit.ts`). */
  readonly status: number;
  /** Completes "the webhook is refused because". */
  readonly meaning: string;
  /** What to do, where no variant of the message explains the refusal; undefined where there is nothing to do. */
  readonly advice?: string;
}

/** Every failure to verify is answered 401, whatever the step. */
const unverified = (meaning: string, advice: string): Row => ({ status: 401, meaning, advice });

const FIELD = "The field breaks RFC 9421 or RFC 8941. If no proxy changed it, the sender must fix it.";
const REMOVED =
  "A proxy or framework may have removed the header. Configure it to forward the header unchanged.";
const TWICE =
  "Programs differ in which of two values they use, so neither is accepted. Find out what added the second.";
const OTHER_COMPONENT =
  "The signature covers a component that this message does not have in that form. Configure proxies to forward headers and target unchanged.";
const OTHER_KEY = "Use the key that the service signs with now, or the URL of its key set.";
const SIGNED_SO = "The sender must sign this component. An unsigned component can be changed in transit.";
const DIGEST = "The sender must send a Content-Digest with sha-256 (RFC 9530).";

const violation = (meaning: string): Row => ({
  status: 422,
  meaning: `${meaning}; refused only with --strict`,
  advice: "The webhook is authentic: look the payment up before you act on it.",
});

/** In the order of the checks, as all of these tables. */
const BEFORE: Readonly<Record<MessageReason | Exclude<ListenerReason, "not_stored">, Row>> = {
  http_parse_error: {
    status: 400,
    meaning: "this is not an HTTP/1.1 request",
    advice: "No HTTP server accepts this message. If the capture was edited, capture the webhook again.",
  },
  headers_too_large: { status: 431, meaning: "the header section is larger than that of any webhook" },
  bad_request_target: { status: 400, meaning: "the request target is not a path" },
  not_found: { status: 404, meaning: "the path is not the one of --path" },
  method_not_allowed: { status: 405, meaning: "the method is not POST", advice: "Webhooks use POST." },
  unsupported_transfer_coding: { status: 501, meaning: "the transfer coding is not chunked" },
  unsupported_media_type: {
    status: 415,
    meaning: "the media type is not application/json or application/*+json",
  },
  request_timeout: { status: 408, meaning: "the request was not complete in time" },
  body_too_large: {
    status: 413,
    meaning: "the body is larger than --max-body allows",
    advice: "The limit is 1 MiB; a webhook has a few KiB.",
  },
  body_incomplete: {
    status: 400,
    meaning: "the connection ended before the body did",
    advice: "The body is incomplete. Capture all of it, or find out what closed the connection.",
  },
  chunks_too_small: {
    status: 400,
    meaning: "the body has more and smaller chunks than any honest sender needs",
  },
  overloaded: {
    status: 503,
    meaning: "too many requests arrived at the same time; the service sends it again",
  },
};

const SIGNATURE: Readonly<Record<Reason, Row>> = {
  unsigned: unverified(
    "there is neither Signature nor Signature-Input",
    "This is not a webhook of the service, or a proxy removes Signature and Signature-Input. Configure the proxy to forward both.",
  ),
  signature_missing: unverified("there is a Signature-Input but no Signature", REMOVED),
  signature_input_missing: unverified("there is a Signature but no Signature-Input", REMOVED),
  signature_input_malformed: unverified(
    "Signature-Input is not a dictionary as RFC 9421 4.1 requires",
    FIELD,
  ),
  signature_malformed: unverified(
    "Signature is not a dictionary of byte sequences, or its base64 is broken",
    FIELD,
  ),
  limit_exceeded: {
    status: 400,
    meaning: "there are more header lines, signatures or components than any honest sender needs",
  },
  duplicate_label: unverified(
    "two signatures have the same label, and programs differ in which one they read",
    TWICE,
  ),
  label_mismatch: unverified("a label is in only one of the two fields", REMOVED),
  label_not_found: unverified(
    "no signature has the required label, sig1",
    "The service signs with the label sig1. Other signatures are ignored.",
  ),
  duplicate_param: unverified("a parameter of the signature is given twice", TWICE),
  signature_param_invalid: unverified("a parameter has the wrong type, or expires is before created", FIELD),
  coverage_missing: unverified("a component that must be signed is not: at least content-digest", SIGNED_SO),
  created_missing: unverified(
    "the signature has no created time, and --require-created is set",
    "The service may not send it: require it only if it does.",
  ),
  created_in_future: unverified(
    "the created time of the signature is in the future",
    "A clock may be wrong, here or at the service.",
  ),
  signature_too_old: unverified(
    "the signature is older than --tolerance allows",
    "To allow older signatures, set the tolerance.",
  ),
  signature_expired: unverified(
    "the expires time of the signature has passed",
    "A clock may be wrong, here or at the service.",
  ),
  key_not_found: unverified("the signature names a key that is not configured", OTHER_KEY),
  key_ambiguous: unverified(
    "several configured keys have the id, or the signature has none and there are more than four keys",
    "Give only the key that the service signs with.",
  ),
  key_unusable: unverified(
    "the key is not meant for verifying, or was not valid at that time",
    "Use a key that is for verifying signatures and currently valid.",
  ),
  alg_not_allowed: unverified(
    "the alg of the signature is not the configured one; a message cannot choose it",
    "The configuration sets the algorithm; a message cannot choose it.",
  ),
  alg_key_mismatch: unverified("the key is bound to another algorithm", OTHER_KEY),
  key_type_mismatch: unverified("the key type does not match the algorithm", OTHER_KEY),
  duplicate_component: unverified("a component is covered twice", TWICE),
  component_missing: unverified("a covered field is not in the message", OTHER_COMPONENT),
  component_unknown: unverified("a covered @name is not defined in RFC 9421", FIELD),
  component_not_applicable: unverified("a covered component is for responses, and this is a request", FIELD),
  component_param_unknown: unverified(
    "a component has a parameter that RFC 9421 does not define, or sf or bs, which the service never uses",
    FIELD,
  ),
  component_param_incompatible: unverified("the parameters of a component exclude each other", FIELD),
  component_sf_type_unknown: unverified("sf or key is used on a field whose structure is unknown", FIELD),
  req_on_request: unverified("req is used on a request; it is for responses", FIELD),
  query_param_ambiguous: unverified("the covered query parameter occurs more than once", TWICE),
  component_value_invalid: unverified("a covered value is not allowed in a signature base", OTHER_COMPONENT),
  duplicate_header: unverified("a field that may occur once occurs twice", TWICE),
  weak_key: unverified(
    "the key is too weak: RSA needs 2048 bits",
    "Such a key can be broken. The service must use RSA with at least 2048 bits.",
  ),
  signature_invalid: unverified(
    "the signature does not match the message and the key: something was changed, or another key signed it",
    "A covered component was changed in transit, or another key signed it. Compare the signature base that paylink verify shows with the sender's, line by line.",
  ),
  content_digest_unsupported: unverified("Content-Digest has no secure algorithm", DIGEST),
  content_digest_malformed: unverified("Content-Digest is not a dictionary as RFC 9530 requires", DIGEST),
  content_digest_mismatch: unverified(
    "the body is not the one that was signed",
    "The body was changed in transit, or belongs to another signature. Capture the bytes as they arrive, and let paylink verify find the change.",
  ),
};

/** Every reason. `help reasons`, `verify`, `listen` and the library read this table. */
export const REASONS: Readonly<Record<RefusalCode, Row>> = {
  ...BEFORE,
  ...SIGNATURE,
  body_invalid_utf8: violation("the signed body is not UTF-8"),
  body_not_json: violation("the signed body is not JSON"),
  body_duplicate_member: violation("the signed body has a duplicate member"),
  body_schema: violation("the signed record breaks the specification's table of fields"),
  body_parsed: {
    status: 500,
    meaning:
      "paylink/webhooks got a body that was read or parsed before, so its bytes are gone: paylink help webhooks",
  },
  key_required: { status: 500, meaning: "paylink/webhooks has no key to verify webhooks with" },
  key_invalid: { status: 500, meaning: "the key of paylink/webhooks cannot be used" },
  file_unreadable: { status: 500, meaning: "the key file of paylink/webhooks cannot be read" },
  not_reached: {
    status: 503,
    meaning: "paylink/webhooks cannot fetch its key; the service sends the webhook again",
  },
  not_stored: { status: 503, meaning: "the event could not be stored; the service sends it again" },
};

export const isReason = (code: unknown): code is Reason =>
  typeof code === "string" && Object.hasOwn(SIGNATURE, code);

export const statusOf = (code: RefusalCode): number => REASONS[code].status;

export type Warning =
  | "multiple_signatures"
  | "non_canonical_signature_input"
  | "non_canonical_base64"
  | "signature_has_parameters"
  | "unknown_signature_param"
  | "content_digest_alg_ignored"
  | "content_digest_without_sha256"
  | "content_encoding_not_decoded"
  | "method_not_covered"
  | "target_not_covered"
  | "content_type_not_covered"
  | "created_missing"
  | "weak_exponent"
  | "duplicate_delivery";

interface WarningRow {
  readonly meaning: string;
  /** How the sender signs: the same for every webhook, so `listen` shows it once. */
  readonly ofService: boolean;
}

const ofService = (meaning: string): WarningRow => ({ meaning, ofService: true });
const ofWebhook = (meaning: string): WarningRow => ({ meaning, ofService: false });

/** In the order in which a verdict lists them. */
export const WARNINGS: Readonly<Record<Warning, WarningRow>> = {
  multiple_signatures: ofWebhook("there are several signatures; only the selected one was checked"),
  non_canonical_signature_input: ofWebhook(
    "Signature-Input has white space that the signed form does not have",
  ),
  non_canonical_base64: ofWebhook("base64 without padding, or with unused bits set"),
  signature_has_parameters: ofWebhook("the signature has parameters, which have no meaning"),
  unknown_signature_param: ofWebhook("Signature-Input has a parameter that RFC 9421 does not define"),
  content_digest_alg_ignored: ofWebhook(
    "Content-Digest has an insecure or unknown algorithm, which was ignored",
  ),
  content_digest_without_sha256: ofService(
    "Content-Digest has no sha-256, the only algorithm that the service documents",
  ),
  content_encoding_not_decoded: ofWebhook(
    "the body has an unknown content coding, so its record was not read",
  ),
  method_not_covered: ofService("the method is not signed: it may have been changed in transit"),
  target_not_covered: ofService(
    "the address is not signed: the webhook may have been sent to another address",
  ),
  content_type_not_covered: ofService("the content type is not signed: it may have been changed in transit"),
  created_missing: ofService("the signature has no creation time: it can be replayed at any time"),
  weak_exponent: ofService("the key's public exponent is below 65537"),
  duplicate_delivery: ofWebhook("the same webhook was received before"),
};

export const isWarning = (code: unknown): code is Warning =>
  typeof code === "string" && Object.hasOwn(WARNINGS, code);

export type Framework = "express" | "fastify" | "next" | "hono";

/** How each framework gives access to the bytes of a body: the advice for a body that was parsed before it was verified. */
export const RAW_BODY_FIXES: Readonly<Record<Framework, string>> = {
  express: 'Express: express.raw({ type: "application/json" }) on this route, before express.json()',
  fastify:
    'Fastify: addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body, done) => done(null, body))',
  next: "Next.js: in a route handler, verify before request.json(); under pages/api, export const config = { api: { bodyParser: false } }",
  hono: "Hono: verify before c.req.json(); the bytes are in await c.req.arrayBuffer()",
};
