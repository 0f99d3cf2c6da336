/** Keys that verify and sign, read from PEM, DER, certificates, JWK and JWKS, with what their source says about them. */
import {
  createPrivateKey,
  createPublicKey,
  X509Certificate,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { keyFormsIn, type KeyForm } from "./key-forms.ts";
import { JWK_ALGORITHM } from "./policy.ts";
import { thumbprintOf } from "./thumbprint.ts";
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";

/** What the source of a key says about it; null where it says nothing. */
interface KeyDescription {
  readonly keyid: string | null;
  /** JWK members as given (RFC 7517 4.2 to 4.4). */
  readonly alg: string | null;
  readonly use: string | null;
  readonly keyOps: readonly string[] | null;
  /** The dates of a certificate (RFC 5280 4.1.2.5), in Unix seconds. */
  readonly validity: { readonly from: number; readonly to: number } | null;
}

/** Holds what is read from the key itself, since reading that takes longer than the other checks of a message. */
export interface VerificationKey extends KeyDescription {
  readonly key: KeyObject;
  /** Of its public part (RFC 7638): the same for PEM, certificate and JWK of one key. */
  readonly thumbprint: string;
  /** `rsa`, `rsa-pss`, `ec`, `ed25519` and so on. */
  readonly kind: string;
  /** Of an RSA modulus; 0 for other keys. */
  readonly bits: number;
  /** Why the key must not be used; null where it is strong. */
  readonly weakness: string | null;
  /** Secure where the padding is checked, but unusual. */
  readonly smallExponent: boolean;
}

const NO_DESCRIPTION: KeyDescription = { keyid: null, alg: null, use: null, keyOps: null, validity: null };

export function verificationKey(key: KeyObject, description: Partial<KeyDescription> = {}): VerificationKey {
  const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
  const isRsa = modulusLength !== undefined && publicExponent !== undefined;
  return {
    ...NO_DESCRIPTION,
    ...description,
    key,
    thumbprint: thumbprintOf(key),
    kind: key.asymmetricKeyType ?? key.type,
    bits: isRsa ? modulusLength : 0,
    weakness: isRsa ? weaknessOf(modulusLength, publicExponent) : null,
    smallExponent: isRsa && publicExponent < 65537n,
  };
}

/** With an exponent of 1 every forgery verifies; with one of thousands of bits, verifying takes milliseconds per message. */
function weaknessOf(bits: number, exponent: bigint): string | null {
  if (bits < 2048) return `the key has ${bits} bits; the minimum is 2048`;
  if (bits > 16384) return `the key has ${bits} bits; the maximum is 16384`;
  if (exponent < 3n || exponent % 2n === 0n)
    return `the key's exponent is ${exponent}; it must be odd, and 3 or more`;
  if (exponent >= 1n << 64n) return "the key's exponent has more than 64 bits";
  return null;
}

interface KeysRead {
  readonly keys: VerificationKey[];
  readonly warnings: string[];
}

export interface SigningKey {
  readonly keyid: string | null;
  readonly key: KeyObject;
}

/** Leaves out what cannot be read of several keys, with a warning. Private keys are never used. */
export function readKeys(input: Uint8Array | string): Parsed<KeysRead> {
  const readings = keyFormsIn(input).map(readForm);
  const keys = readings.flatMap((reading) => reading.key ?? []);
  const warnings = readings.flatMap((reading) => reading.warning ?? []);
  return keys.length > 0
    ? accepted({ keys, warnings })
    : refused(warnings.join("; ") || "it contains no key");
}

/** Whether a text has a private key or a shared secret among its keys, in any form that is read. */
export const holdsSecretKey = (text: string): boolean =>
  keyFormsIn(text).some(
    (form) =>
      (form.form === "jwk" && isSecretJwk(form.jwk)) ||
      (form.form === "der" && privateKeyIn(form.der) !== undefined) ||
      (form.form === "refused" && form.isEncryptedKey === true),
  );

/** A private key; `keyid` replaces the `kid` of a JWK. */
export function readSigningKey(input: Uint8Array | string, keyid?: string): Parsed<SigningKey> {
  const [form] = keyFormsIn(input);
  if (form === undefined || form.form === "refused") return refused(form?.what ?? "it contains no key");
  if (form.form === "jwk") {
    const { jwk } = form;
    const key = tryRead(() => createPrivateKey({ key: keyMembers(jwk, PRIVATE_MEMBERS), format: "jwk" }));
    return key === undefined
      ? refused(readForm(form).key === undefined ? "it is not a JSON Web Key" : "it is a public key")
      : accepted({ keyid: keyid ?? jwkText(jwk, "kid"), key });
  }
  const key = privateKeyIn(form.der);
  if (key !== undefined) return accepted({ keyid: keyid ?? null, key });
  return refused(readForm(form).key === undefined ? "it is not a private key" : "it is a public key");
}

/** The public part of a key as PEM. Throws a TypeError for a shared secret, which has none. */
export const publicPem = (key: KeyObject): string =>
  (key.type === "public" ? key : createPublicKey(key)).export({ type: "spki", format: "pem" }).toString();

/** The public part of an RSA key, as an entry of a key set (RFC 7517 4). */
export function publicJwk(key: KeyObject, keyid: string): JsonWebKey {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  const members = keyMembers({ ...publicKey.export({ format: "jwk" }) }, PUBLIC_MEMBERS);
  return { ...members, kid: keyid, use: "sig", alg: JWK_ALGORITHM };
}

interface KeyOrWarning {
  readonly key?: VerificationKey;
  readonly warning?: string;
}

function readForm(form: KeyForm): KeyOrWarning {
  if (form.form === "refused") return { warning: form.what };
  return form.form === "der" ? readDer(form.der) : readJwk(form.jwk, form.place);
}

/** The key, or undefined where the bytes have another form. OpenSSL's messages do not help users. */
function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

const PRIVATE_TYPES = ["pkcs8", "pkcs1", "sec1"] as const;

/** DER does not name its content, so each form is tried. */
function privateKeyIn(der: Buffer): KeyObject | undefined {
  for (const type of PRIVATE_TYPES) {
    const key = tryRead(() => createPrivateKey({ key: der, format: "der", type }));
    if (key !== undefined) return key;
  }
  return undefined;
}

const PRIVATE = "is a private key: give its public key, which openssl pkey -pubout prints";

/** Private first, since Node reads private keys as public too. */
function readDer(der: Buffer): KeyOrWarning {
  if (privateKeyIn(der) !== undefined) return { warning: `it ${PRIVATE}` };
  for (const type of ["spki", "pkcs1"] as const) {
    const key = tryRead(() => createPublicKey({ key: der, format: "der", type }));
    if (key !== undefined) return { key: verificationKey(key) };
  }
  const certificate = tryRead(() => fromCertificate(new X509Certificate(der)));
  return certificate ?? { warning: "its DER is neither a public key nor a certificate" };
}

const fromCertificate = ({ publicKey, validFrom, validTo }: X509Certificate): KeyOrWarning => ({
  key: verificationKey(publicKey, {
    validity: { from: Date.parse(validFrom) / 1000, to: Date.parse(validTo) / 1000 },
  }),
});

const PUBLIC_MEMBERS = ["kty", "crv", "n", "e", "x", "y"] as const;
const PRIVATE_MEMBERS = [...PUBLIC_MEMBERS, "d", "p", "q", "dp", "dq", "qi"] as const;

const isSecretJwk = (jwk: Record<string, unknown>): boolean => jwk["kty"] === "oct" || "d" in jwk;

function readJwk(jwk: Record<string, unknown>, place = "it"): KeyOrWarning {
  if (jwk["kty"] === "oct") return { warning: `${place} is a shared secret (kty oct), not a public key` };
  if ("d" in jwk) return { warning: `${place} ${PRIVATE}` };
  const key = tryRead(() => createPublicKey({ key: keyMembers(jwk, PUBLIC_MEMBERS), format: "jwk" }));
  if (key === undefined) return { warning: `${place} is not a JSON Web Key of a public key` };
  const description = {
    keyid: jwkText(jwk, "kid"),
    alg: jwkText(jwk, "alg"),
    use: jwkText(jwk, "use"),
    keyOps: "key_ops" in jwk ? textList(jwk["key_ops"]) : null,
  };
  return { key: verificationKey(key, description) };
}

function keyMembers(jwk: Record<string, unknown>, names: readonly string[]): JsonWebKey {
  const members: JsonWebKey = {};
  for (const name of names) if (typeof jwk[name] === "string") members[name] = jwk[name];
  return members;
}

function jwkText(jwk: Record<string, unknown>, name: string): string | null {
  const value = jwk[name];
  return typeof value === "string" ? value : null;
}

function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry: unknown) => typeof entry === "string") : [];
}
