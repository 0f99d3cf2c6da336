/** Why a webhook is rejected, or accepted with a warning: each code with its meaning, its HTTP status and the advice. */

/** What each reason means, in the order of the checks; apart from the other tables, since paylink-webhooks needs no words for it. */
export const REFUSAL_MEANINGS = {
  tls_failed: "no TLS connection was made: the sender does not accept the certificate, or speaks no TLS",
  http_parse_error: "this is not an HTTP/1.1 request",
  headers_too_large: "the header section is larger than any webhook needs",
  bad_request_target: "the request target is not a path",
  wrong_host: "Host names another machine, which --no-verify refuses",
  not_found: "this path takes no webhooks",
  method_not_allowed: "the method is not POST",
  unsupported_media_type: "the media type is not application/json",
  unsupported_content_coding: "the body has a Content-Encoding",
  unsupported_transfer_coding: "the transfer coding is not chunked",
  request_timeout: "the request was not complete in time",
  body_too_large: "the body is larger than the limit",
  body_incomplete: "the connection ended before the body did",
  unsigned: "there is neither Signature nor Signature-Input",
  signature_in_body:
    "this is the callback of DNA's e-commerce plugins, with an HMAC in its body: not a webhook of the specification, and never believed",
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
  coverage_missing: "a component that must be signed is not signed: at least content-digest",
  created_missing: "the signature has no created time, and --require-created is set",
  created_in_future: "the created time of the signature is in the future",
  signature_too_old:
    "the signature is older than --tolerance allows, and the webhook was not received before",
  signature_expired: "the expires time of the signature has passed",
  key_not_found: "the signature names a key that is not configured",
  key_unusable: "the key is not meant for verifying",
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
  component_sf_type_unknown: "sf or key is used on a field whose structure is unknown",
  req_on_request: "req is used on a request; it is for responses",
  query_param_ambiguous: "the covered query parameter occurs more than once",
  component_value_invalid: "a covered value is not allowed in a signature base",
  duplicate_header: "a field that may occur only once occurs twice",
  weak_key: "the key is too weak: RSA needs 2048 bits",
  signature_invalid:
    "the signature does not match the message and the key: something was changed, or another key signed it",
  content_digest_unsupported: "Content-Digest has no secure algorithm",
  content_digest_malformed: "Content-Digest is not a dictionary as RFC 9530 requires",
  content_digest_mismatch: "the body is not the one that was signed",
  body_invalid_utf8: "the signed body is not UTF-8; refused only with --strict",
  body_not_json: "the signed body is not JSON; refused only with --strict",
  body_duplicate_member: "the signed body has a duplicate member; refused only with --strict",
  body_schema: "the signed record breaks the specification's table of fields; refused only with --strict",
  terminal_mismatch: "the signed record is of another terminal than --require-terminal names, or of none",
  body_parsed:
    "paylink-webhooks got a body that had already been read or parsed, so its bytes are gone: paylink help webhooks",
  key_invalid: "the key of paylink-webhooks cannot be used",
  file_unreadable: "the key file of paylink-webhooks cannot be read",
  not_reached:
    "a source of keys cannot be read, and no other key verifies the signature; the service sends the webhook again",
  internal_error: "the receiver itself failed, so the service sends the webhook again",
  not_stored: "the event could not be stored; the service sends it again",
};

export type RefusalCode = keyof typeof REFUSAL_MEANINGS;

/** Found before the signature is looked at: the head or the body of the request. */
export type MessageReason =
  | "bad_request_target"
  | "method_not_allowed"
  | "unsupported_content_coding"
  | "unsupported_transfer_coding"
  | "body_too_large"
  | "body_incomplete";

/** Found by a listener alone. */
type ListenerReason =
  | "tls_failed"
  | "http_parse_error"
  | "headers_too_large"
  | "wrong_host"
  | "not_found"
  | "unsupported_media_type"
  | "request_timeout"
  | "terminal_mismatch"
  | "not_stored";

/** Found afterwards: the webhook is authentic, but its record violates the specification. */
export type RecordReason = "body_invalid_utf8" | "body_not_json" | "body_duplicate_member" | "body_schema";

/**
 * Nothing about the webhook: paylink-webhooks got a parsed body or no usable key, or, in a listener too, the verification itself
 * failed.
 */
export type ApplicationReason =
  | "body_parsed"
  | "key_invalid"
  | "file_unreadable"
  | "not_reached"
  | "internal_error";

/** Found while the signature is verified. */
export type Reason = Exclude<RefusalCode, MessageReason | ListenerReason | RecordReason | ApplicationReason>;

/** Characters of what a refusal says of itself: a sender can put more than a terminal or a log should show into it. */
const MAX_DETAIL = 500;

export const boundDetail = (detail: string): string =>
  detail.length > MAX_DETAIL ? `${detail.slice(0, MAX_DETAIL - 1)}…` : detail;

interface ReasonRow {
  /** Of the answer. A head that breaks a limit or is ambiguous may have another (`receiver/admit.ts`). */
  readonly status: number;
  /** What to do, where no variant of the message explains the refusal; undefined where there is nothing to do. */
  readonly advice?: string;
}

/** Every failure to verify is answered 401, whatever the step. */
const unverified = (advice: string): ReasonRow => ({ status: 401, advice });

const FIELD = "The field breaks RFC 9421 or RFC 8941. If no proxy changed it, the sender must fix it.";
const REMOVED =
  "A proxy or framework may have removed the header. Configure the proxy or framework to keep it.";
const TWICE = "Programs differ in which of the two values they use. Find out what added the second one.";
const OTHER_COMPONENT =
  "The message does not have a covered component in that form. Configure proxies to forward headers and target unchanged.";
const USE_CURRENT_KEY = "Use the key that the service signs with now, or the URL of its key set.";
const SIGNED_SO =
  "The sender must sign the component: anything that is not signed can be changed in transit.";
const DIGEST = "The sender must send a Content-Digest with sha-256 (RFC 9530).";

/** With --strict: without it, the webhook is accepted. */
const VIOLATION: ReasonRow = {
  status: 422,
  advice: "The webhook is authentic: look the payment up before you act on it.",
};

const MESSAGE_REASONS: Readonly<
  Record<MessageReason | Exclude<ListenerReason, "terminal_mismatch" | "not_stored">, ReasonRow>
> = {
  // Nobody gets the status: there is no connection to answer on.
  tls_failed: {
    status: 400,
    advice: "Use a certificate of a public authority, with its whole chain, in --tls-cert.",
  },
  http_parse_error: {
    status: 400,
    advice: "No HTTP server accepts this message: capture it again.",
  },
  headers_too_large: { status: 431 },
  bad_request_target: { status: 400 },
  wrong_host: { status: 421 },
  not_found: { status: 404 },
  method_not_allowed: { status: 405, advice: "Webhooks use POST." },
  unsupported_media_type: { status: 415 },
  unsupported_content_coding: {
    status: 415,
    advice: "The service sends webhooks uncompressed: find out what compressed this one.",
  },
  unsupported_transfer_coding: { status: 501 },
  request_timeout: { status: 408 },
  body_too_large: {
    status: 413,
    advice: "The limit is 64 KiB unless --max-body says otherwise; a webhook has a few KiB.",
  },
  body_incomplete: {
    status: 400,
    advice: "Capture all of the body, or find out what closed the connection.",
  },
};

const SIGNATURE_REASONS: Readonly<Record<Reason, ReasonRow>> = {
  unsigned: unverified("This is not a webhook of the service, or a proxy removes both fields."),
  signature_in_body: unverified(
    "Give such callbacks an address of their own, where the plugin or your code checks their HMAC. Set only callbackUrl and failureCallbackUrl of payment links to this one; if this came from a link, ask the service for webhooks signed as RFC 9421 says.",
  ),
  signature_missing: unverified(REMOVED),
  signature_input_missing: unverified(REMOVED),
  signature_input_malformed: unverified(FIELD),
  signature_malformed: unverified(FIELD),
  limit_exceeded: { status: 400 },
  duplicate_label: unverified(TWICE),
  label_mismatch: unverified(REMOVED),
  label_not_found: unverified("The service signs with the label sig1. Other signatures are ignored."),
  duplicate_param: unverified(TWICE),
  signature_param_invalid: unverified(FIELD),
  coverage_missing: unverified(SIGNED_SO),
  created_missing: unverified(
    "It is not known whether the service sends a created time: set --require-created only if it does.",
  ),
  created_in_future: unverified("A clock may be wrong, here or at the service."),
  signature_too_old: unverified(
    "If your service sends webhooks again with their first signature, raise --tolerance to their age. Otherwise, a clock is wrong, or somebody replays an old webhook.",
  ),
  signature_expired: unverified("A clock may be wrong, here or at the service."),
  key_not_found: unverified(USE_CURRENT_KEY),
  key_unusable: unverified("Use a key that is meant for verifying signatures."),
  alg_not_allowed: unverified("The configuration sets the algorithm; a message cannot choose it."),
  alg_key_mismatch: unverified(USE_CURRENT_KEY),
  key_type_mismatch: unverified(USE_CURRENT_KEY),
  duplicate_component: unverified(TWICE),
  component_missing: unverified(OTHER_COMPONENT),
  component_unknown: unverified(FIELD),
  component_not_applicable: unverified(FIELD),
  component_param_unknown: unverified(FIELD),
  component_param_incompatible: unverified(FIELD),
  component_sf_type_unknown: unverified(FIELD),
  req_on_request: unverified(FIELD),
  query_param_ambiguous: unverified(TWICE),
  component_value_invalid: unverified(OTHER_COMPONENT),
  duplicate_header: unverified(TWICE),
  weak_key: unverified("A key this weak can be broken. The service must use RSA with at least 2048 bits."),
  signature_invalid: unverified(
    "A covered component was changed in transit, or another key signed it. Compare the signature base that paylink verify shows with the sender's.",
  ),
  content_digest_unsupported: unverified(DIGEST),
  content_digest_malformed: unverified(DIGEST),
  content_digest_mismatch: unverified(
    "The body was changed in transit, or belongs to another signature. Capture the bytes as they arrive.",
  ),
};

/** Every reason. `verify`, `listen` and the library read this table. */
export const REASONS: Readonly<Record<RefusalCode, ReasonRow>> = {
  ...MESSAGE_REASONS,
  ...SIGNATURE_REASONS,
  body_invalid_utf8: VIOLATION,
  body_not_json: VIOLATION,
  body_duplicate_member: VIOLATION,
  body_schema: VIOLATION,
  terminal_mismatch: {
    status: 422,
    advice:
      "The webhook is authentic, but belongs to another shop or system: let the service post it there. To accept it anyway: paylink events accept <id>.",
  },
  body_parsed: { status: 500 },
  key_invalid: { status: 500 },
  file_unreadable: { status: 500 },
  not_reached: { status: 503 },
  internal_error: { status: 500 },
  not_stored: { status: 503 },
};

export const isReason = (code: unknown): code is Reason =>
  typeof code === "string" && Object.hasOwn(SIGNATURE_REASONS, code);

export const isRefusalCode = (code: string): code is RefusalCode => Object.hasOwn(REASONS, code);

export const statusOf = (code: RefusalCode): number => REASONS[code].status;

/** What anyone may be told who sent a webhook that is refused. */
export interface PublicProblem {
  /** Of the answer. */
  readonly status: number;
  /** The reason; `not_verified` for whatever does not verify. */
  readonly code: RefusalCode | "not_verified";
  /** What the code means. */
  readonly detail: string;
}

/** Never says which step of the verification failed, nor anything of this machine: both are for the log. */
export const publicProblem = (code: RefusalCode, status: number = statusOf(code)): PublicProblem =>
  statusOf(code) === 401 && code !== "unsigned"
    ? { status, code: "not_verified", detail: "the webhook does not verify" }
    : { status, code, detail: REFUSAL_MEANINGS[code] };

/**
 * In the order in which a verdict lists them. What is about the service is the same for every webhook: `listen` shows it
 * once.
 */
export const WARNINGS = {
  multiple_signatures: "webhook",
  non_canonical_signature_input: "webhook",
  non_canonical_base64: "webhook",
  signature_has_parameters: "webhook",
  unknown_signature_param: "webhook",
  content_digest_alg_ignored: "webhook",
  content_digest_without_sha256: "service",
  content_length_computed: "service",
  method_not_covered: "service",
  target_not_covered: "service",
  content_type_not_covered: "service",
  created_missing: "service",
  weak_exponent: "service",
  certificate_expired: "service",
  order_paid_before: "webhook",
  duplicate_delivery: "webhook",
} as const;
export type Warning = keyof typeof WARNINGS;

export const WARNING_MEANINGS: Readonly<Record<Warning, string>> = {
  multiple_signatures: "there are several signatures; only the selected one was checked",
  non_canonical_signature_input: "Signature-Input has white space that the signed form does not have",
  non_canonical_base64: "base64 without padding, or with unused bits set",
  signature_has_parameters: "the signature has parameters, which are ignored",
  unknown_signature_param: "Signature-Input has a parameter that RFC 9421 does not define",
  content_digest_alg_ignored: "Content-Digest has an insecure or unknown algorithm, which was ignored",
  content_digest_without_sha256:
    "Content-Digest has no sha-256, the only algorithm that the service documents",
  content_length_computed:
    "the signed Content-Length did not arrive: a gateway dropped it. It was computed from the body, which the digest proves",
  method_not_covered: "the method is not signed: it may have been changed in transit",
  target_not_covered: "the address is not signed: the webhook may have been sent to another address",
  content_type_not_covered: "the content type is not signed: it may have been changed in transit",
  created_missing: "the signature has no creation time: it can be replayed at any time",
  weak_exponent: "the key's public exponent is below 65537",
  certificate_expired: "the key's certificate has expired, or is not valid yet",
  order_paid_before: "another payment of this order was approved before: the order may be paid twice",
  duplicate_delivery: "the same webhook was received before",
};

export const isWarning = (code: unknown): code is Warning =>
  typeof code === "string" && Object.hasOwn(WARNINGS, code);

/** How each framework gives access to the bytes of a body: the advice for a body that was parsed before it was verified. */
export const RAW_BODY_FIXES: string = [
  'Express: express.raw({ type: "application/json" }) on this route, before express.json()',
  "NestJS: NestFactory.create(AppModule, { rawBody: true }), on Fastify with new FastifyAdapter() before the options, and pass the request of @Req() itself, not its raw",
  'Fastify: addContentTypeParser("application/json", (request, payload, done) => done(null)), and pass request; with fastify-raw-body too, with its options encoding: false and runFirst: true',
  "Koa: pass ctx.req, before a body parser",
  "Next.js: in a route handler, verify before request.json(); under pages/api, export const config = { api: { bodyParser: false } }",
  "Hono: pass c.req.raw, before c.req.json()",
  "h3, Nitro and Nuxt: pass event.req (in h3 1 event.node.req) before readBody(event); after readRawBody(event, false), pass { method, url, headers, body } with its bytes",
  'Elysia: { parse: "none" } on this route, and pass request',
  "React Router, Remix, SvelteKit and other Web requests: verify before request.json() or request.formData()",
  "AWS Lambda: pass the event, before anything parses event.body",
]
  .map((fix) => `  ${fix}`)
  .join("\n");
