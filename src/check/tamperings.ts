/** Tampered webhooks by name: `trigger --tamper` sends one, `check` sends those that must be refused. */
import { createPublicKey, createSecretKey, generateKeyPairSync } from "node:crypto";
import type { HeaderLine, HttpRequest } from "../http/message.ts";
import { contentDigest } from "../signatures/digest.ts";
import type { SigningKey } from "../signatures/keys.ts";
import { DERIVED_COVER, SERVICE_COVER, type CoveredComponents } from "./signature-form.ts";
import { signedWebhook, type WebhookOptions } from "./signed-webhook.ts";

export interface Tampering {
  readonly name: string;
  readonly sent: string;
  /** The consequence of accepting it. */
  readonly matters: string;
  /** `refused`: by every endpoint; `limited`: where its limits say so; `authentic`: signed, but breaks the specification. */
  readonly kind: "refused" | "limited" | "authentic";
  /** The tampering is detected only if the signature covers one of these components; empty for most. */
  readonly detectedBy: CoveredComponents;
  readonly tamper: (body: Uint8Array, sender: WebhookOptions) => HttpRequest;
}

const FORGED = "Anyone between the service and the endpoint could change what was paid.";
const REPLAYED = "Anyone who saw one webhook could send it again at any time.";
const INVENTED = "Anyone could invent a payment.";
const SPLIT = "Two programs would read the same message differently.";

/** `sent` is the end of a sentence that begins "a webhook". */
function refused(
  name: string,
  sent: string,
  matters: string,
  tamper: Tampering["tamper"],
  detectedBy: CoveredComponents = [],
): Tampering {
  return { name, sent: `a webhook ${sent}`, matters, kind: "refused", detectedBy, tamper };
}

function limited(name: string, sent: string, tamper: Tampering["tamper"]): Tampering {
  const matters = "Without limits, one sender can keep the endpoint busy.";
  return { name, sent: `a webhook ${sent}`, matters, kind: "limited", detectedBy: [], tamper };
}

function authentic(name: string, sent: string, tamper: Tampering["tamper"]): Tampering {
  const matters = "It is authentic but breaks the specification: store it and look into it.";
  return { name, sent: `a webhook ${sent}`, matters, kind: "authentic", detectedBy: [], tamper };
}

/**
 * The cover to tamper under: the one that was chosen, or the service's, or one with derived components where only they
 * reveal the tampering. Undefined if the chosen cover does not reveal it.
 */
export function coverToTamper(
  { detectedBy }: Tampering,
  chosen: CoveredComponents | undefined,
): CoveredComponents | undefined {
  const covers = chosen === undefined ? [SERVICE_COVER, DERIVED_COVER] : [chosen];
  return covers.find((cover) => detectedBy.length === 0 || detectedBy.some((name) => cover.includes(name)));
}

/** Returns the new value of a field; undefined drops the line. */
type Change = (value: string) => string | undefined;

function changed(request: HttpRequest, name: string, change: Change): HttpRequest {
  return { ...request, headers: changedLines(request.headers, name, change) };
}

function changedLines(headers: readonly HeaderLine[], name: string, change: Change): HeaderLine[] {
  return headers.flatMap(([spelled, value]): HeaderLine[] => {
    if (spelled.toLowerCase() !== name) return [[spelled, value]];
    const newValue = change(value);
    return newValue === undefined ? [] : [[spelled, newValue]];
  });
}

const without = (request: HttpRequest, ...names: string[]): HttpRequest =>
  names.reduce((rest, name) => changed(rest, name, () => undefined), request);

const plus = (request: HttpRequest, ...lines: HeaderLine[]): HttpRequest => ({
  ...request,
  headers: [...request.headers, ...lines],
});

/** Corrects Content-Length. */
const withBody = (request: HttpRequest, body: Uint8Array): HttpRequest => ({
  ...changed(request, "content-length", () => String(body.length)),
  body,
});

/** Replaces the match of the pattern and keeps every other byte. */
const edited = (body: Uint8Array, pattern: RegExp, replace: (match: string) => string): Uint8Array =>
  Buffer.from(Buffer.from(body).toString("latin1").replace(pattern, replace), "latin1");

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const ANOTHER_BODY = bytesOf("another body");

/** The record with another amount of the same length, so that only the digest reveals it. */
const forged = (body: Uint8Array): Uint8Array =>
  edited(body, /(?<="amountTrans":-?)\d/, (digit) => (digit === "9" ? "1" : "9"));

/** With the body and its digest: the payment differs from the one that was signed. */
const CONTENT: readonly Tampering[] = [
  refused("body", "whose amount was changed after it was signed", FORGED, (body, sender) =>
    withBody(signedWebhook(body, sender), forged(body)),
  ),
  refused("body-and-digest", "whose amount was changed, with a digest that matches", FORGED, (body, sender) =>
    changed(withBody(signedWebhook(body, sender), forged(body)), "content-digest", () =>
      contentDigest(forged(body)),
    ),
  ),
  refused("digest", "signed over the digest of another body", FORGED, (body, sender) =>
    signedWebhook(body, {
      ...sender,
      headers: (headers) => changedLines(headers, "content-digest", () => contentDigest(ANOTHER_BODY)),
    }),
  ),
  refused("digest-missing", "without Content-Digest", FORGED, (body, sender) =>
    without(signedWebhook(body, sender), "content-digest"),
  ),
  refused("digest-malformed", "whose Content-Digest is not a byte sequence", FORGED, (body, sender) =>
    signedWebhook(body, {
      ...sender,
      headers: (headers) => changedLines(headers, "content-digest", (value) => value.replaceAll(":", '"')),
    }),
  ),
  refused("digest-algorithm", "with only an MD5 digest, which can be forged", FORGED, (body, sender) =>
    signedWebhook(body, {
      ...sender,
      headers: (headers) => changedLines(headers, "content-digest", () => "md5=:1B2M2Y8AsgTpgAmY7PhCfg==:"),
    }),
  ),
  refused("digest-second", "with the right SHA-256 and the SHA-512 of another body", FORGED, (body, sender) =>
    signedWebhook(body, {
      ...sender,
      headers: (headers) =>
        changedLines(
          headers,
          "content-digest",
          (value) => `${value}, ${contentDigest(ANOTHER_BODY, "sha-512")}`,
        ),
    }),
  ),
  refused("digest-duplicate", "with a second Content-Digest line, of another body", SPLIT, (body, sender) =>
    plus(signedWebhook(body, sender), ["Content-Digest", contentDigest(ANOTHER_BODY)]),
  ),
  refused("replay", "with the signature of another genuine webhook", REPLAYED, (body, sender) => {
    const genuine = signedWebhook(forged(body), sender);
    return withBody(genuine, body);
  }),
];

/** With the two signature fields: missing, malformed, mislabelled, or covering too little. */
const SIGNATURE: readonly Tampering[] = [
  refused("signature", "with one bit of its signature flipped", INVENTED, (body, sender) =>
    changed(signedWebhook(body, sender), "signature", flipped),
  ),
  refused("unsigned", "without a signature", INVENTED, (body, sender) =>
    without(signedWebhook(body, sender), "signature", "signature-input"),
  ),
  refused("signature-missing", "without Signature", INVENTED, (body, sender) =>
    without(signedWebhook(body, sender), "signature"),
  ),
  refused("signature-input-missing", "without Signature-Input", INVENTED, (body, sender) =>
    without(signedWebhook(body, sender), "signature-input"),
  ),
  refused("signature-malformed", "whose Signature is not a byte sequence", INVENTED, (body, sender) =>
    changed(signedWebhook(body, sender), "signature", (value) => value.replaceAll(":", "")),
  ),
  refused(
    "signature-input-malformed",
    "whose Signature-Input has an unclosed list",
    INVENTED,
    (body, sender) =>
      changed(signedWebhook(body, sender), "signature-input", (value) => value.replace(")", "")),
  ),
  refused("label", "signed under another label than sig1", INVENTED, (body, sender) =>
    signedWebhook(body, { ...sender, label: "other" }),
  ),
  refused("label-mismatch", "whose two fields name different labels", INVENTED, (body, sender) =>
    changed(signedWebhook(body, sender), "signature", (value) => value.replace("sig1=", "sig2=")),
  ),
  refused(
    "label-duplicate",
    "with the label sig1 twice, in two Signature-Input lines",
    SPLIT,
    (body, sender) =>
      plus(signedWebhook(body, sender), ["Signature-Input", `sig1=("@method");created=${sender.created}`]),
  ),
  refused("component-missing", "that covers a header it does not have", INVENTED, (body, sender) =>
    without(
      signedWebhook(body, {
        ...sender,
        cover: [...sender.form.cover, "x-request-id"],
        headers: (headers) => [...headers, ["X-Request-Id", ""]],
      }),
      "x-request-id",
    ),
  ),
  refused(
    "coverage",
    "whose signature does not cover Content-Digest, and so not the body",
    FORGED,
    (body, sender) =>
      signedWebhook(body, {
        ...sender,
        cover: sender.form.cover.filter((name) => name !== "content-digest"),
      }),
  ),
  refused("coverage-empty", "whose signature covers nothing", FORGED, (body, sender) =>
    signedWebhook(body, { ...sender, cover: [] }),
  ),
  refused(
    "coverage-removed",
    "with a component removed from the list after signing",
    FORGED,
    (body, sender) =>
      changed(signedWebhook(body, sender), "signature-input", (value) =>
        value.replace(listOf(sender.form.cover), listOf(sender.form.cover.slice(0, -1))),
      ),
  ),
];

/** The list of components as Signature-Input has it. */
const listOf = (cover: CoveredComponents): string => `(${cover.map((name) => `"${name}"`).join(" ")})`;

/** Flips a bit of the second-last byte, so that the base64 stays canonical. */
function flipped(value: string): string {
  const [, label = "", base64 = ""] = /^([^=]+)=:([^:]*):$/.exec(value) ?? [];
  const bytes = Buffer.from(base64, "base64");
  const at = Math.max(0, bytes.length - 2);
  bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at);
  return `${label}=:${bytes.toString("base64")}:`;
}

const HOUR = 3600;

/** With the time, the key and the algorithm of the signature. */
const SIGNING: readonly Tampering[] = [
  refused("created", "signed an hour ago", REPLAYED, (body, sender) =>
    signedWebhook(body, dated(sender, sender.created - HOUR)),
  ),
  refused("created-moved", "signed an hour ago, with created changed to now", REPLAYED, (body, sender) =>
    changed(signedWebhook(body, dated(sender, sender.created - HOUR)), "signature-input", (value) =>
      value.replace(/created=\d+/, `created=${sender.created}`),
    ),
  ),
  refused("created-future", "with created an hour in the future", REPLAYED, (body, sender) =>
    signedWebhook(body, dated(sender, sender.created + HOUR)),
  ),
  refused("created-type", "whose created is a string, not a number", REPLAYED, (body, sender) =>
    changed(signedWebhook(body, dated(sender, sender.created)), "signature-input", (value) =>
      value.replace(/created=(\d+)/, 'created="$1"'),
    ),
  ),
  refused("expired", "whose expires has passed", REPLAYED, (body, sender) =>
    signedWebhook(body, { ...sender, created: sender.created - 120, expires: sender.created - 60 }),
  ),
  refused("key", "signed by another key with the same keyid", INVENTED, (body, sender) =>
    signedWebhook(body, { ...sender, key: impostor(sender) }),
  ),
  refused(
    "algorithm",
    "signed by HMAC with the public key as its secret, as its alg says",
    INVENTED,
    (body, sender) =>
      signedWebhook(body, { ...sender, key: publicKeyAsSecret(sender), algorithm: "hmac-sha256" }),
  ),
  refused("algorithm-pss", "signed by the right key with RSA-PSS", INVENTED, (body, sender) =>
    signedWebhook(body, { ...sender, algorithm: "rsa-pss-sha512" }),
  ),
  refused("algorithm-unknown", "whose alg is not registered", INVENTED, (body, sender) =>
    signedWebhook(body, { ...sender, alg: "none" }),
  ),
];

/** Always with `created`, which is tampered with. */
const dated = (sender: WebhookOptions, created: number): WebhookOptions => ({
  ...sender,
  created,
  form: { ...sender.form, created: true },
});

/** Another RSA key with the keyid of the genuine one. */
function impostor({ key }: WebhookOptions): SigningKey {
  return { keyid: key.keyid, key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey };
}

/** The public key as the secret of an HMAC: an endpoint that lets the message choose the algorithm accepts it. */
function publicKeyAsSecret({ key }: WebhookOptions): SigningKey {
  const pem = createPublicKey(key.key).export({ type: "spki", format: "pem" });
  return { keyid: key.keyid, key: createSecretKey(Buffer.from(pem)) };
}

/** With the address, method and media type of the request, and the limits on its size. */
const REQUEST: readonly Tampering[] = [
  refused(
    "target",
    "signed for another address",
    "A webhook for another shop would be accepted here.",
    (body, sender) => {
      const { target } = signedWebhook(body, sender);
      return { ...signedWebhook(body, { ...sender, url: elsewhere(sender.url) }), target };
    },
    ["@target-uri", "@path", "@request-target"],
  ),
  refused(
    "method",
    "signed as POST and sent as PUT",
    "Webhooks are always sent with POST.",
    (body, sender) => ({ ...signedWebhook(body, sender), method: "PUT" }),
    ["@method"],
  ),
  refused(
    "content-type",
    "whose content type was changed after signing",
    FORGED,
    (body, sender) =>
      changed(signedWebhook(body, sender), "content-type", () => "application/json; charset=utf-16"),
    ["content-type"],
  ),
  refused(
    "content-type-duplicate",
    "with a second Content-Type line",
    SPLIT,
    (body, sender) => plus(signedWebhook(body, sender), ["Content-Type", "text/plain"]),
    ["content-type"],
  ),
  limited("signatures", "with nine signatures", (body, sender) =>
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
  limited("header-lines", "with 101 header lines", (body, sender) => {
    const request = signedWebhook(body, sender);
    const padding = Array.from({ length: 101 - request.headers.length }, (_, at): HeaderLine => [
      `X-${at}`,
      "x",
    ]);
    return plus(request, ...padding);
  }),
  limited("body-size", "with more than 1 MiB of body", (body, sender) =>
    signedWebhook(Buffer.concat([body, Buffer.alloc(1024 * 1024, " ")]), sender),
  ),
];

/** The same host with another path. */
function elsewhere(url: URL): URL {
  const other = new URL(url);
  other.pathname = `${url.pathname.replace(/\/$/, "")}/other`;
  return other;
}

/** Records that break the specification, correctly signed: they are authentic. */
const RECORD: readonly Tampering[] = [
  authentic("not-json", "whose body is not JSON", (_, sender) => signedWebhook(bytesOf("hello"), sender)),
  authentic("not-utf8", "whose body is not UTF-8", (body, sender) =>
    signedWebhook(
      Buffer.concat([body.subarray(0, -1), Buffer.from([0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]),
      sender,
    ),
  ),
  authentic("duplicate-member", "whose record has transApproved twice", (body, sender) =>
    signedWebhook(
      edited(body, /\}$/, () => ',"transApproved":true}'),
      sender,
    ),
  ),
  authentic("null-member", "with a member that is null", (body, sender) =>
    signedWebhook(
      edited(body, /\}$/, () => ',"paymentId":null}'),
      sender,
    ),
  ),
  authentic("not-complete", "whose status is not Complete", (body, sender) =>
    signedWebhook(
      edited(body, /"status":"[^"]*"/, () => '"status":"Pending"'),
      sender,
    ),
  ),
];

export const TAMPERINGS: readonly Tampering[] = [...CONTENT, ...SIGNATURE, ...SIGNING, ...REQUEST, ...RECORD];
