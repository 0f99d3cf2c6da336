/** Ways to spoil a webhook, each by name: what `trigger --tamper` sends, and what `check` holds an endpoint to. */
import { createPublicKey, createSecretKey, generateKeyPairSync } from "node:crypto";
import type { HeaderLine, HttpRequest } from "../http/message.ts";
import { contentDigest } from "../signatures/digest.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { COVERED, signedWebhook, type Sender } from "./webhook.ts";

export interface Tampering {
  readonly name: string;
  /** As the negative vectors are grouped. */
  readonly group:
    | "parse"
    | "labels"
    | "params"
    | "alg"
    | "key"
    | "coverage"
    | "component"
    | "tamper"
    | "digest"
    | "limits"
    | "transport"
    | "payload";
  /** What is sent: the end of a sentence that begins "a webhook". */
  readonly sent: string;
  /** What taking it would mean. */
  readonly matters: string;
  /** `refused` by every endpoint; `limited` where the endpoint may set its own limits; `authentic`, though it breaks the specification. */
  readonly kind: "refused" | "limited" | "authentic";
  readonly spoil: (body: Uint8Array, sender: Sender) => HttpRequest;
}

/** The header lines with one field's values changed; `undefined` drops the line. */
function changed(
  request: HttpRequest,
  name: string,
  change: (value: string) => string | undefined,
): HttpRequest {
  return { ...request, headers: changedLines(request.headers, name, change) };
}

function changedLines(
  headers: readonly HeaderLine[],
  name: string,
  change: (value: string) => string | undefined,
): HeaderLine[] {
  return headers.flatMap(([spelled, value]): HeaderLine[] => {
    if (spelled.toLowerCase() !== name) return [[spelled, value]];
    const now = change(value);
    return now === undefined ? [] : [[spelled, now]];
  });
}

const without = (request: HttpRequest, ...names: string[]): HttpRequest =>
  names.reduce((rest, name) => changed(rest, name, () => undefined), request);

const plus = (request: HttpRequest, ...lines: HeaderLine[]): HttpRequest => ({
  ...request,
  headers: [...request.headers, ...lines],
});

/** Another body under the headers of the first, Content-Length kept right. */
const withBody = (request: HttpRequest, body: Uint8Array): HttpRequest => ({
  ...changed(request, "content-length", () => String(body.length)),
  body,
});

/** The record with ten times the amount: what a thief would like to be taken for true. */
function forged(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString("latin1");
  const richer = text.replace(/("amountTrans":)(\d)/, "$19$2");
  return Buffer.from(richer === text ? `${text} ` : richer, "latin1");
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

/** One bit of the last byte but one, so that the base64 stays canonical. */
function flipped(value: string): string {
  const [, label = "", base64 = ""] = /^([^=]+)=:([^:]*):$/.exec(value) ?? [];
  const bytes = Buffer.from(base64, "base64");
  const at = Math.max(0, bytes.length - 2);
  bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at);
  return `${label}=:${bytes.toString("base64")}:`;
}

/** Another RSA key under the very keyid of the genuine one. */
const impostor = ({ key }: Sender): SigningKey => ({
  keyid: key.keyid,
  key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey,
});

/** The public key as the secret of an HMAC: whoever lets the message choose its algorithm verifies it. */
const publicKeyAsSecret = ({ key }: Sender): SigningKey => ({
  keyid: key.keyid,
  key: createSecretKey(Buffer.from(createPublicKey(key.key).export({ type: "spki", format: "pem" }))),
});

const otherDigest = (headers: readonly HeaderLine[]): HeaderLine[] =>
  changedLines(headers, "content-digest", () => contentDigest(text("another body")));

const HOUR = 3600;

const FORGED = "Anybody on the way could change what was paid.";
const REPLAYED = "Whoever has seen one webhook could send it again, for ever.";
const ANYBODY = "Anybody could make up a payment.";
const SPLIT = "Two readers of the same message would each believe another half of it.";

export const TAMPERINGS: readonly Tampering[] = [
  tampering("tamper", "body", "whose amount was changed after it was signed", FORGED, (body, sender) =>
    withBody(signedWebhook(body, sender), forged(body)),
  ),
  tampering(
    "tamper",
    "body-and-digest",
    "whose amount was changed and digest made to fit",
    FORGED,
    (body, sender) =>
      changed(withBody(signedWebhook(body, sender), forged(body)), "content-digest", () =>
        contentDigest(forged(body)),
      ),
  ),
  tampering("digest", "digest", "signed over the digest of another body", FORGED, (body, sender) =>
    signedWebhook(body, sender, { headers: otherDigest }),
  ),
  tampering("digest", "digest-missing", "without Content-Digest", FORGED, (body, sender) =>
    without(signedWebhook(body, sender), "content-digest"),
  ),
  tampering(
    "digest",
    "digest-malformed",
    "whose Content-Digest is no byte sequence",
    FORGED,
    (body, sender) =>
      signedWebhook(body, sender, {
        headers: (headers) => changedLines(headers, "content-digest", (value) => value.replaceAll(":", '"')),
      }),
  ),
  tampering(
    "digest",
    "digest-algorithm",
    "with no digest but an MD5, which can be forged",
    FORGED,
    (body, sender) =>
      signedWebhook(body, sender, {
        headers: (headers) => changedLines(headers, "content-digest", () => "md5=:1B2M2Y8AsgTpgAmY7PhCfg==:"),
      }),
  ),
  tampering(
    "digest",
    "digest-second",
    "with a good SHA-256 beside a SHA-512 of another body",
    FORGED,
    (body, sender) =>
      signedWebhook(body, sender, {
        headers: (headers) =>
          changedLines(
            headers,
            "content-digest",
            (value) => `${value}, ${contentDigest(text("another body"), "sha-512")}`,
          ),
      }),
  ),
  tampering("tamper", "signature", "with one bit of its signature flipped", ANYBODY, (body, sender) =>
    changed(signedWebhook(body, sender), "signature", flipped),
  ),
  tampering("parse", "unsigned", "without a signature", ANYBODY, (body, sender) =>
    without(signedWebhook(body, sender), "signature", "signature-input"),
  ),
  tampering("parse", "signature-missing", "without Signature", ANYBODY, (body, sender) =>
    without(signedWebhook(body, sender), "signature"),
  ),
  tampering("parse", "signature-input-missing", "without Signature-Input", ANYBODY, (body, sender) =>
    without(signedWebhook(body, sender), "signature-input"),
  ),
  tampering("parse", "signature-malformed", "whose Signature is no byte sequence", ANYBODY, (body, sender) =>
    changed(signedWebhook(body, sender), "signature", (value) => value.replaceAll(":", "")),
  ),
  tampering(
    "parse",
    "signature-input-malformed",
    "whose Signature-Input has an unclosed list",
    ANYBODY,
    (body, sender) =>
      changed(signedWebhook(body, sender), "signature-input", (value) => value.replace(")", "")),
  ),
  tampering("params", "created", "signed an hour ago", REPLAYED, (body, sender) =>
    signedWebhook(body, sender, { created: sender.now - HOUR }),
  ),
  tampering("params", "created-moved", "signed an hour ago and dated now", REPLAYED, (body, sender) =>
    changed(signedWebhook(body, sender, { created: sender.now - HOUR }), "signature-input", (value) =>
      value.replace(/created=\d+/, `created=${sender.now}`),
    ),
  ),
  tampering("params", "created-future", "dated an hour ahead", REPLAYED, (body, sender) =>
    signedWebhook(body, sender, { created: sender.now + HOUR }),
  ),
  tampering("params", "created-type", "whose created is a text, not a number", REPLAYED, (body, sender) =>
    changed(signedWebhook(body, sender), "signature-input", (value) =>
      value.replace(/created=(\d+)/, 'created="$1"'),
    ),
  ),
  tampering("params", "expired", "that says itself that it has expired", REPLAYED, (body, sender) =>
    signedWebhook(body, sender, { created: sender.now - 120, expires: sender.now - 60 }),
  ),
  tampering("labels", "label", "signed under another label than sig1", ANYBODY, (body, sender) =>
    signedWebhook(body, sender, { label: "other" }),
  ),
  tampering("labels", "label-mismatch", "whose two fields name different labels", ANYBODY, (body, sender) =>
    changed(signedWebhook(body, sender), "signature", (value) => value.replace("sig1=", "sig2=")),
  ),
  tampering(
    "labels",
    "label-duplicate",
    "with the label sig1 twice, in two Signature-Input lines",
    SPLIT,
    (body, sender) =>
      plus(signedWebhook(body, sender), ["Signature-Input", `sig1=("@method");created=${sender.now}`]),
  ),
  tampering(
    "component",
    "digest-duplicate",
    "with a second Content-Digest line, of another body",
    SPLIT,
    (body, sender) =>
      plus(signedWebhook(body, sender), ["Content-Digest", contentDigest(text("another body"))]),
  ),
  tampering("component", "content-type-duplicate", "with a second Content-Type line", SPLIT, (body, sender) =>
    plus(signedWebhook(body, sender), ["Content-Type", "text/plain"]),
  ),
  tampering(
    "component",
    "component-missing",
    "that covers a header it does not have",
    ANYBODY,
    (body, sender) =>
      without(
        signedWebhook(body, sender, {
          covered: [...COVERED, "x-request-id"],
          headers: (headers) => [...headers, ["X-Request-Id", ""]],
        }),
        "x-request-id",
      ),
  ),
  tampering(
    "coverage",
    "coverage",
    "whose signature does not cover Content-Digest, nor so the body",
    FORGED,
    (body, sender) =>
      signedWebhook(body, sender, { covered: COVERED.filter((name) => name !== "content-digest") }),
  ),
  tampering("coverage", "coverage-empty", "whose signature covers nothing", FORGED, (body, sender) =>
    signedWebhook(body, sender, { covered: [] }),
  ),
  tampering(
    "tamper",
    "coverage-removed",
    "with a component taken off the list after signing",
    FORGED,
    (body, sender) =>
      changed(signedWebhook(body, sender), "signature-input", (value) => value.replace('"@target-uri" ', "")),
  ),
  tampering("key", "key", "signed by another key under the same keyid", ANYBODY, (body, sender) =>
    signedWebhook(body, sender, { key: impostor(sender) }),
  ),
  tampering(
    "alg",
    "algorithm",
    "signed by HMAC with the public key as its secret, as its alg says",
    ANYBODY,
    (body, sender) =>
      signedWebhook(body, sender, { key: publicKeyAsSecret(sender), algorithm: "hmac-sha256" }),
  ),
  tampering("alg", "algorithm-pss", "signed by the right key with RSA-PSS", ANYBODY, (body, sender) =>
    signedWebhook(body, sender, { algorithm: "rsa-pss-sha512" }),
  ),
  tampering("alg", "algorithm-unknown", "whose alg is none that is registered", ANYBODY, (body, sender) =>
    signedWebhook(body, sender, { alg: "none" }),
  ),
  tampering(
    "tamper",
    "target",
    "signed for another address",
    "A webhook for another shop would count here.",
    (body, sender) =>
      ((request) => ({ ...request, target: new URL(sender.url).pathname + new URL(sender.url).search }))(
        signedWebhook(body, { ...sender, url: elsewhere(sender.url) }),
      ),
  ),
  tampering(
    "tamper",
    "content-type",
    "whose content type was changed after signing",
    FORGED,
    (body, sender) =>
      changed(signedWebhook(body, sender), "content-type", () => "application/json; charset=utf-16"),
  ),
  tampering("tamper", "replay", "with the signature of another genuine webhook", REPLAYED, (body, sender) => {
    const genuine = signedWebhook(forged(body), sender);
    return withBody(genuine, body);
  }),
  tampering(
    "transport",
    "method",
    "sent by PUT, and signed so",
    "Webhooks are posted, and nothing else.",
    (body, sender) => signedWebhook(body, sender, { method: "PUT" }),
  ),
  limited("limits", "signatures", "with nine signatures", (body, sender) =>
    [1, 2, 3, 4, 5, 6, 7, 8].reduce(
      (request, number) =>
        changed(
          changed(request, "signature-input", (value) => `${value}, x${number}=("@method")`),
          "signature",
          (value) => `${value}, x${number}=:AAAA:`,
        ),
      signedWebhook(body, sender),
    ),
  ),
  limited("limits", "header-lines", "with 101 header lines", (body, sender) => {
    const request = signedWebhook(body, sender);
    const padding = Array.from({ length: 101 - request.headers.length }, (_, at): HeaderLine => [
      `X-${at}`,
      "x",
    ]);
    return plus(request, ...padding);
  }),
  limited("limits", "body-size", "with more than 1 MiB of body", (body, sender) =>
    signedWebhook(Buffer.concat([body, Buffer.alloc(1024 * 1024, " ")]), sender),
  ),
  authentic("not-json", "whose body is no JSON", (_, sender) => signedWebhook(text("hello"), sender)),
  authentic("not-utf8", "whose body is no UTF-8", (body, sender) =>
    signedWebhook(
      Buffer.concat([body.subarray(0, -1), Buffer.from([0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]),
      sender,
    ),
  ),
  authentic("duplicate-member", "whose record says transApproved twice", (body, sender) =>
    signedWebhook(edited(body, /\}$/, ',"transApproved":true}'), sender),
  ),
  authentic("null-member", "with a member that is null", (body, sender) =>
    signedWebhook(edited(body, /\}$/, ',"paymentId":null}'), sender),
  ),
  authentic("not-complete", "whose status is not Complete", (body, sender) =>
    signedWebhook(edited(body, /"status":"[^"]*"/, '"status":"Pending"'), sender),
  ),
];

/** The same place with another path: signed for it, sent here. */
function elsewhere(url: URL): URL {
  const other = new URL(url);
  other.pathname = `${url.pathname.replace(/\/$/, "")}/other`;
  return other;
}

const edited = (body: Uint8Array, pattern: RegExp, replacement: string): Uint8Array =>
  Buffer.from(Buffer.from(body).toString("latin1").replace(pattern, replacement), "latin1");

function tampering(
  group: Tampering["group"],
  name: string,
  sent: string,
  matters: string,
  spoil: Tampering["spoil"],
): Tampering {
  return { group, name, sent: `a webhook ${sent}`, matters, kind: "refused", spoil };
}

function limited(
  group: Tampering["group"],
  name: string,
  sent: string,
  spoil: Tampering["spoil"],
): Tampering {
  const matters = "Without limits one sender can keep the endpoint busy.";
  return { group, name, sent: `a webhook ${sent}`, matters, kind: "limited", spoil };
}

function authentic(name: string, sent: string, spoil: Tampering["spoil"]): Tampering {
  const matters = "It is authentic, and breaks the specification: it should be kept and looked into.";
  return { group: "payload", name, sent: `a webhook ${sent}`, matters, kind: "authentic", spoil };
}
