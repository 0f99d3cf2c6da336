/** What the signer may have done otherwise: other keys and algorithms, another order, and mistakes in the signature base. */
import {
  constants,
  createHash,
  verify as cryptoVerify,
  type KeyObject,
  type VerifyKeyObjectInput,
} from "node:crypto";
import { isInnerList, parseList, type BareItem } from "structured-headers";
import { ALGORITHMS, keyKind, type Algorithm } from "../algorithms.ts";
import { signatureParams } from "../base.ts";
import type { Component } from "../components.ts";
import type { Signing, SigningVariant, VerifyingAlgorithm } from "./signing.ts";
import type { VerificationKey } from "../keys.ts";

export function keyVariants({ keys: tried }: Signing, keys: readonly VerificationKey[]): SigningVariant[] {
  return keys.flatMap((key, at) => {
    const name = key.keyid === null ? `key number ${at + 1}, which has no id` : `key ${key.keyid}`;
    return tried.includes(key)
      ? []
      : {
          kind: "key",
          variant: `key=${key.keyid ?? `#${at + 1}`}`,
          apply: (signing) => [{ ...signing, keys: [key] }],
          advice: `The signature matches ${name}, which its keyid does not name: the key set is out of date or its ids are wrong. Fetch the service's keys again, or use only that key.`,
        };
  });
}

const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_AUTO } = constants;

const rsa =
  (digest: string, options: Pick<VerifyKeyObjectInput, "padding" | "saltLength">) =>
  (base: Uint8Array, key: KeyObject, signature: Uint8Array): boolean =>
    key.asymmetricKeyType === "rsa" && cryptoVerify(digest, base, { key, ...options }, signature);

const PSS = { padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_AUTO };
const V1_5 = { padding: RSA_PKCS1_PADDING };
const hashed = (base: Uint8Array, encoding: "hex" | "base64"): Buffer =>
  Buffer.from(createHash("sha256").update(base).digest(encoding));
const V1_5_SHA256 = rsa("sha256", V1_5);

/** Only with keys of its own type: with an RSA key, node:crypto would verify RSA under any name. */
const registered =
  (algorithm: Algorithm) =>
  (base: Uint8Array, key: KeyObject, signature: Uint8Array): boolean => {
    const kinds: readonly string[] = ALGORITHMS[algorithm].keyKinds;
    return kinds.includes(keyKind(key)) && ALGORITHMS[algorithm].verify(base, key, signature);
  };

export const ALGORITHM_VARIANTS: readonly SigningVariant[] = (
  [
    ["rsa-pss-sha512", registered("rsa-pss-sha512")],
    ["RSA-PSS with SHA-256", rsa("sha256", PSS)],
    ["RSA-PSS with SHA-512", rsa("sha512", PSS)],
    ["rsa-v1_5-sha512", rsa("sha512", V1_5)],
    ["rsa-v1_5-sha384", rsa("sha384", V1_5)],
    ["rsa-v1_5-sha1", rsa("sha1", V1_5)],
    ["ecdsa-p256-sha256", registered("ecdsa-p256-sha256")],
    ["ecdsa-p384-sha384", registered("ecdsa-p384-sha384")],
    ["ed25519", registered("ed25519")],
    [
      "the hash of the base signed",
      (base, key, signature) =>
        V1_5_SHA256(createHash("sha256").update(base).digest(), key, signature) ||
        V1_5_SHA256(hashed(base, "hex"), key, signature) ||
        V1_5_SHA256(hashed(base, "base64"), key, signature),
    ],
  ] as const satisfies readonly (readonly [string, VerifyingAlgorithm["verify"]])[]
).map(([name, verify]) => ({
  kind: "algorithm",
  variant: `algorithm=${name}`,
  apply: (signing) => [{ ...signing, algorithm: { name, verify } }],
  advice: `The signature verifies as ${name}, but only rsa-v1_5-sha256 (RSASSA-PKCS1-v1_5 with SHA-256) is accepted. The signer has to use it.`,
}));

/** More than this have too many orders to try: 4 have 24. */
const MAX_ORDERED = 4;

export function orderVariants({ components, params }: Signing): SigningVariant[] {
  const [list] = parseList(params);
  const parameters = list !== undefined && isInnerList(list) ? [...list[1]] : [];
  const advice =
    "A proxy or a framework reordered Signature-Input, and the signature covers the order. Configure it to leave the header unchanged.";
  const reordered = (
    variant: string,
    listed: readonly Component[],
    given: readonly (readonly [string, BareItem])[],
  ): SigningVariant => ({
    kind: "order",
    variant,
    apply: (signing) => [{ ...signing, components: listed, params: signatureParams(listed, new Map(given)) }],
    advice,
  });
  return [
    ...orders(parameters).map((given) => reordered("signature parameters reordered", components, given)),
    ...orders(components).map((listed) => reordered("covered components reordered", listed, parameters)),
  ];
}

function orders<T>(items: readonly T[]): T[][] {
  return items.length < 2 || items.length > MAX_ORDERED ? [] : permutations(items).slice(1);
}

function permutations<T>(items: readonly T[]): T[][] {
  if (items.length < 2) return [[...items]];
  return items.flatMap((item, at) =>
    permutations([...items.slice(0, at), ...items.slice(at + 1)]).map((rest) => [item, ...rest]),
  );
}

interface Spelling {
  readonly variant: string;
  /** What the signer did. */
  readonly fault: string;
  readonly spell: (base: string, signing: Signing) => string;
}

const SPELLINGS: readonly Spelling[] = [
  {
    variant: "CRLF between the lines",
    fault: "separated the lines by CRLF instead of LF",
    spell: (base) => base.replaceAll("\n", "\r\n"),
  },
  {
    variant: "the label in @signature-params",
    fault: "put the label in front of the value of @signature-params",
    spell: (base, { label }) => onLine(base, "@signature-params", (params) => `${label}=${params}`),
  },
  {
    variant: "a line break at the end",
    fault: "ended the base with a line break",
    spell: (base) => `${base}\n`,
  },
  {
    variant: "Signature-Input as written",
    fault: "signed Signature-Input as it is written, not in its canonical form",
    spell: (base, { written }) => onLine(base, "@signature-params", () => written),
  },
  {
    variant: "an empty text for an absent query",
    fault: "wrote an absent @query as an empty text instead of ?",
    spell: (base) => onLine(base, "@query", (query) => (query === "?" ? "" : query)),
  },
  {
    variant: "@query without its ?",
    fault: "wrote @query without its question mark",
    spell: (base) => onLine(base, "@query", (query) => query.replace(/^\?/, "")),
  },
  {
    variant: "the default port kept",
    fault: "kept the port that the scheme implies (RFC 9421 2.2.3)",
    spell: withDefaultPort,
  },
  {
    variant: "@target-uri without its path",
    fault: "left the lone / off @target-uri",
    spell: (base) => onLine(base, "@target-uri", (uri) => uri.replace(/^(https?:\/\/[^/]+)\/$/, "$1")),
  },
  {
    variant: "the method in @request-target",
    fault: "wrote @request-target with the method, as the old draft did",
    spell: (base, { request }) =>
      onLine(base, "@request-target", (target) => `${request.method.toLowerCase()} ${target}`),
  },
  {
    variant: "names without quotes",
    fault: "wrote the names of components without quotes",
    spell: (base) => base.replace(/^"([^"\n]+)"/gm, "$1"),
  },
  {
    variant: "no space after the colon",
    fault: "left out the space after the colon",
    spell: (base) => base.replace(/^("[^"\n]+"[^:\n]*): /gm, "$1:"),
  },
  {
    variant: "@signature-params left out",
    fault: "left out the line @signature-params",
    spell: (base) => base.replace(/\n?"@signature-params": [^\n]*$/, ""),
  },
];

export const SPELLING_VARIANTS: readonly SigningVariant[] = SPELLINGS.map(({ variant, fault, spell }) => ({
  kind: "spelling",
  variant: `signer: ${variant}`,
  apply: (signing) => [{ ...signing, spell: (base) => spell(base, signing) }],
  advice: `The signer ${fault}; RFC 9421 2.5 defines the signature base. The signer has to fix this.`,
}));

/** The base with another value in the line of one component. */
function onLine(base: string, name: string, change: (value: string) => string): string {
  const start = `"${name}": `;
  const lines = base.split("\n");
  return lines
    .map((line) => (line.startsWith(start) ? start + change(line.slice(start.length)) : line))
    .join("\n");
}

function withDefaultPort(base: string, { request: { scheme } }: Signing): string {
  const port = scheme === "https" ? 443 : 80;
  const authority = onLine(base, "@authority", (host) => `${host}:${port}`);
  return onLine(authority, "@target-uri", (uri) =>
    uri.replace(/^(https?:\/\/[^/:?]+)(?=[/?]|$)/, `$1:${port}`),
  );
}
