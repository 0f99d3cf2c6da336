/** Tampered webhooks by name, which every endpoint must refuse: `trigger --tamper` sends one, `check` sends all. */
import {
  constants,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { addressOf, type HeaderLine, type HttpRequest } from "../http/message.ts";
import { contentDigest } from "../signatures/digest.ts";
import { DERIVED_COVER, SERVICE_COVER, type CoveredComponents } from "../signatures/cover.ts";
import { type Differences, signedWebhook, type WebhookOptions } from "./signed-webhook.ts";
import type { TamperingName } from "./tampering-names.ts";

export interface Tampering extends TamperingRule {
  readonly name: string;
}

interface TamperingRule {
  /** What is sent: `a webhook without a signature`. */
  readonly description: string;
  /** Of accepting it. */
  readonly consequence: string;
  /** The tampering is detected only if the signature covers one of these components; empty for most. */
  readonly detectedBy: CoveredComponents;
  /** A 5xx refuses it too: some servers answer 501 to a method that they do not know. */
  readonly refusedBy5xx?: boolean;
  readonly tamper: Tamper;
}

type Tamper = (body: Uint8Array, sender: WebhookOptions) => HttpRequest;

const FORGED = "Anyone between the service and the endpoint could change what was paid.";
const REPLAYED = "Anyone who saw one webhook could send it again at any time.";
const INVENTED = "Anyone could invent a payment.";
const SPLIT = "Two programs would read the same message differently.";

/** `what` is the end of a sentence that begins "a webhook". */
function tampering(
  what: string,
  consequence: string,
  tamper: Tamper,
  detectedBy: CoveredComponents = [],
): TamperingRule {
  return { description: `a webhook ${what}`, consequence, detectedBy, tamper };
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

/** What a webhook is signed with instead. */
type Replaced = Differences & Partial<WebhookOptions>;

type Change = (request: HttpRequest, sender: WebhookOptions) => HttpRequest;

/** Signs the webhook with differences from the service's, and changes it afterwards. */
const signedWith =
  (differences: (sender: WebhookOptions) => Replaced, ...changes: Change[]): Tamper =>
  (body, sender) =>
    changes.reduce(
      (request, change) => change(request, sender),
      signedWebhook(body, { ...sender, ...differences(sender) }),
    );

export const after = (...changes: Change[]): Tamper => signedWith(() => ({}), ...changes);

/** Signs the webhook with another value of Content-Digest. */
const withDigest = (change: (value: string) => string): Tamper =>
  signedWith(() => ({ headers: (headers) => changedLines(headers, "content-digest", change) }));

/** `change` returns the new value of a field. */
const field =
  (name: string, change: (value: string, sender: WebhookOptions) => string): Change =>
  (request, sender) => ({
    ...request,
    headers: changedLines(request.headers, name, (value) => change(value, sender)),
  });

const changedLines = (
  headers: readonly HeaderLine[],
  name: string,
  change: (value: string) => string,
): HeaderLine[] =>
  headers.map(([spelled, value]) => [spelled, spelled.toLowerCase() === name ? change(value) : value]);

const drop =
  (...names: string[]): Change =>
  (request) => ({
    ...request,
    headers: request.headers.filter(([spelled]) => !names.includes(spelled.toLowerCase())),
  });

const plus = (request: HttpRequest, ...lines: HeaderLine[]): HttpRequest => ({
  ...request,
  headers: [...request.headers, ...lines],
});

/** A second signature in both fields, as a relay may add. */
export const addSignature = (label: string, input: string): readonly Change[] => [
  field("signature-input", (value) => `${value}, ${label}=${input}`),
  field("signature", (value) => `${value}, ${label}=:AAAA:`),
];

/** Corrects Content-Length. */
const replaceBody = (request: HttpRequest, body: Uint8Array): HttpRequest => ({
  ...request,
  headers: changedLines(request.headers, "content-length", () => String(body.length)),
  body,
});

const ANOTHER_BODY = Buffer.from("another body");

/** The record with another amount of the same length, so that only the digest reveals it. */
function forgedBody(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString("latin1");
  const changed = text.replace(/(?<="amountTrans":-?)\d/, (digit) => (digit === "9" ? "1" : "9"));
  return Buffer.from(changed, "latin1");
}

const forge: Change = (request) => replaceBody(request, forgedBody(request.body));

/** Seconds. */
export const HOUR = 3600;

/** In the order in which `check` sends them. */
const RULES: Readonly<Record<TamperingName, TamperingRule>> = {
  body: tampering("whose amount was changed after it was signed", FORGED, after(forge)),
  "body-and-digest": tampering(
    "whose amount was changed, with a digest that matches",
    FORGED,
    after(forge, drop("content-digest"), (request) =>
      plus(request, ["Content-Digest", contentDigest(request.body)]),
    ),
  ),
  digest: tampering(
    "signed over the digest of another body",
    FORGED,
    withDigest(() => contentDigest(ANOTHER_BODY)),
  ),
  "digest-missing": tampering("without Content-Digest", FORGED, after(drop("content-digest"))),
  "digest-malformed": tampering(
    "whose Content-Digest is not a byte sequence",
    FORGED,
    withDigest((value) => value.replaceAll(":", '"')),
  ),
  "digest-algorithm": tampering(
    "with only an MD5 digest, which can be forged",
    FORGED,
    withDigest(() => "md5=:1B2M2Y8AsgTpgAmY7PhCfg==:"),
  ),
  "digest-second": tampering(
    "with the right SHA-256 and the SHA-512 of another body",
    FORGED,
    withDigest((value) => `${value}, ${contentDigest(ANOTHER_BODY, "sha-512")}`),
  ),
  "digest-duplicate": tampering(
    "with a second Content-Digest line, of another body",
    SPLIT,
    after((request) => plus(request, ["Content-Digest", contentDigest(ANOTHER_BODY)])),
  ),
  replay: tampering("with the signature of another genuine webhook", REPLAYED, (body, sender) =>
    replaceBody(signedWebhook(forgedBody(body), sender), body),
  ),
  signature: tampering("with one bit of its signature flipped", INVENTED, after(field("signature", flipped))),
  unsigned: tampering("without a signature", INVENTED, after(drop("signature", "signature-input"))),
  "signature-missing": tampering("without Signature", INVENTED, after(drop("signature"))),
  "signature-input-missing": tampering("without Signature-Input", INVENTED, after(drop("signature-input"))),
  "signature-malformed": tampering(
    "whose Signature is not a byte sequence",
    INVENTED,
    after(field("signature", (value) => value.replaceAll(":", ""))),
  ),
  "signature-input-malformed": tampering(
    "whose Signature-Input has an unclosed list",
    INVENTED,
    after(field("signature-input", (value) => value.replace(")", ""))),
  ),
  label: tampering(
    "signed under another label than sig1",
    INVENTED,
    signedWith(() => ({ label: "other" })),
  ),
  "label-mismatch": tampering(
    "whose two fields name different labels",
    INVENTED,
    after(field("signature", (value) => value.replace("sig1=", "sig2="))),
  ),
  "label-duplicate": tampering(
    "with the label sig1 twice, in two Signature-Input lines",
    SPLIT,
    after((request, { created }) =>
      plus(request, ["Signature-Input", `sig1=("@method");created=${created}`]),
    ),
  ),
  "component-missing": tampering(
    "that covers a header it does not have",
    INVENTED,
    signedWith(
      ({ form }) => ({
        cover: [...form.cover, "x-request-id"],
        headers: (lines) => [...lines, ["X-Request-Id", ""]],
      }),
      drop("x-request-id"),
    ),
  ),
  coverage: tampering(
    "whose signature does not cover Content-Digest, and so not the body",
    FORGED,
    signedWith(({ form }) => ({ cover: form.cover.filter((name) => name !== "content-digest") })),
  ),
  "coverage-empty": tampering(
    "whose signature covers nothing",
    FORGED,
    signedWith(() => ({ cover: [] })),
  ),
  "coverage-removed": tampering(
    "with a component removed from the list after signing",
    FORGED,
    after(
      field("signature-input", (value, { form: { cover } }) =>
        value.replace(componentList(cover), componentList(cover.slice(0, -1))),
      ),
    ),
  ),
  created: tampering("signed an hour ago", REPLAYED, signedWith(dated(HOUR))),
  "created-moved": tampering(
    "signed an hour ago, with its created time changed to now",
    REPLAYED,
    signedWith(
      dated(HOUR),
      field("signature-input", (value, { created }) => value.replace(/created=\d+/, `created=${created}`)),
    ),
  ),
  "created-future": tampering(
    "with a created time an hour in the future",
    REPLAYED,
    signedWith(dated(-HOUR)),
  ),
  "created-type": tampering(
    "whose created time is a string, not a number",
    REPLAYED,
    signedWith(
      dated(0),
      field("signature-input", (value) => value.replace(/created=(\d+)/, 'created="$1"')),
    ),
  ),
  expired: tampering(
    "whose expires time has passed",
    REPLAYED,
    signedWith(({ created }) => ({ created: created - 120, expires: created - 60 })),
  ),
  key: tampering("signed by another key with the same keyid", INVENTED, signedWith(impostor)),
  algorithm: tampering(
    "signed with HMAC and the public key as the secret, as its alg says",
    INVENTED,
    signedWith(publicKeyAsSecret),
  ),
  "algorithm-pss": tampering("signed by the right key with RSA-PSS", INVENTED, signedWith(withPss)),
  "algorithm-unknown": tampering(
    "with an unregistered alg and a correct signature",
    "Nothing is forged here, but an endpoint that lets the message choose how it is verified can be deceived: only the agreed alg counts.",
    signedWith(() => ({ alg: "none" })),
  ),
  target: tampering(
    "signed for another address",
    "A webhook for another shop would be accepted here.",
    signedWith(elsewhere, (request, { url }) => ({ ...request, ...addressOf(url) })),
    ["@target-uri", "@path", "@request-target"],
  ),
  method: {
    ...tampering(
      "signed as POST and sent as PUT",
      "Webhooks are always sent with POST.",
      after((request) => ({ ...request, method: "PUT" })),
      ["@method"],
    ),
    refusedBy5xx: true,
  },
  "content-type": tampering(
    "whose content type was changed after signing",
    FORGED,
    after(field("content-type", () => "application/json; charset=utf-16")),
    ["content-type"],
  ),
  "content-type-duplicate": tampering(
    "with a second Content-Type line",
    SPLIT,
    after((request) => plus(request, ["Content-Type", "text/plain"])),
    ["content-type"],
  ),
};

export const TAMPERINGS: readonly Tampering[] = Object.entries(RULES).map(([name, rule]) => ({
  name,
  ...rule,
}));

/** The list of components as Signature-Input has it. */
const componentList = (cover: CoveredComponents): string => `(${cover.map((name) => `"${name}"`).join(" ")})`;

/** Flips a bit of the second-last byte, so that the base64 stays canonical. */
function flipped(value: string): string {
  const [, label = "", base64 = ""] = /^([^=]+)=:([^:]*):$/.exec(value) ?? [];
  const bytes = Buffer.from(base64, "base64");
  const at = Math.max(0, bytes.length - 2);
  bytes.writeUInt8((bytes[at] ?? 0) ^ 1, at);
  return `${label}=:${bytes.toString("base64")}:`;
}

/** Signed `age` seconds ago, always with `created`, which is tampered with. */
function dated(age: number): (sender: WebhookOptions) => Replaced {
  return ({ created, form }) => ({ created: created - age, form: { ...form, created: true } });
}

let cachedKey: KeyObject | undefined;

/** Makes it once: that takes a moment, in which an endpoint may close a connection unnoticed. */
export const impostorsKey = (): KeyObject =>
  (cachedKey ??= generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);

/** Another RSA key with the keyid of the genuine one. */
function impostor({ key: { keyid } }: WebhookOptions): Replaced {
  return { key: { keyid, key: impostorsKey() } };
}

/** The public key as the secret of an HMAC: an endpoint that lets the message choose the algorithm accepts it. */
function publicKeyAsSecret({ key: { key } }: WebhookOptions): Replaced {
  const pem = createPublicKey(key).export({ type: "spki", format: "pem" });
  return { alg: "hmac-sha256", signBase: (base) => createHmac("sha256", pem).update(base).digest() };
}

function withPss({ key: { key } }: WebhookOptions): Replaced {
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 };
  return { alg: "rsa-pss-sha512", signBase: (base) => sign("sha512", base, { key, ...padding }) };
}

/** The same host with another path. */
function elsewhere({ url }: WebhookOptions): Replaced {
  const other = new URL(url);
  other.pathname = `${url.pathname.replace(/\/$/, "")}/other`;
  return { url: other };
}
