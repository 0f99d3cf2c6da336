/** Keys that verify and sign, read from PEM, DER, certificates, JWK and JWKS, with what their source says about them. */
import {
  createPrivateKey,
  createPublicKey,
  X509Certificate,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { keyFormsIn, type KeyForm } from "./key-forms.ts";
import { ALGORITHM, JWK_ALGORITHM } from "./policy.ts";
import { thumbprintOf } from "./thumbprint.ts";
import { accepted, refused, type Parsed } from "../values/parse-result.ts";

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
  /** Its source gives ids to no key: a signature may name it by any. */
  readonly isAnonymous: boolean;
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
    isAnonymous: (description.keyid ?? null) === null,
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

/** The keys of a source, and the parts of it that are no keys. */
export interface KeysRead {
  readonly keys: readonly VerificationKey[];
  /** What is not used of the source, and why: told once, never quoted. */
  readonly remarks: readonly string[];
}

export interface SigningKey {
  readonly keyid: string | null;
  readonly key: KeyObject;
}

/** What one source may hold: reading takes some 50 µs an entry, on the thread that receives webhooks. */
const MAX_ENTRIES = 500;

/** Reads the keys of a source in their order, and names the parts that are no keys. Private keys are never used. */
export function readKeys(input: Uint8Array | string): KeysRead {
  const forms = keyFormsIn(input);
  const readings = forms.slice(0, MAX_ENTRIES).map(readForm);
  const issuers = issuersAmong(readings.flatMap(({ certificate }) => certificate ?? []));
  const keys = readings.flatMap(({ key, certificate }) =>
    key === undefined || (certificate !== undefined && issuers.has(certificate)) ? [] : [key],
  );
  const isAnonymous = keys.every(({ keyid }) => keyid === null);
  const remarks = readings.flatMap(({ key, remark }) => remark ?? (key && remarkOn(key)) ?? []);
  return {
    keys: keys.map((key) => ({ ...key, isAnonymous })),
    remarks:
      forms.length > MAX_ENTRIES
        ? [...remarks, `only the first ${MAX_ENTRIES} of its ${forms.length} entries are read`]
        : remarks,
  };
}

/** What is said of a key that was meant, and cannot verify. A key for something else, which many sets have, is left aside. */
function remarkOn({ weakness, kind, alg }: VerificationKey): string | undefined {
  if (weakness !== null) return `${weakness}; it is not used`;
  return kind === "rsa" && alg !== null && !JOSE_ALGORITHM.test(alg) && alg !== ALGORITHM
    ? `the key has the alg "${alg}", which no standard has; it is not used. Webhooks are signed with ${JWK_ALGORITHM}`
    : undefined;
}

/** The registered names (RFC 7518 3.1 and 4.1). */
const JOSE_ALGORITHM = /^(?:[RPEH]S(?:256|384|512)|EdDSA|RSA1_5|RSA-OAEP(?:-256)?)$/;

/** Certificates of one issuer's name whose signatures are checked. */
const MAX_ISSUED = 8;

/**
 * A certificate that issued another one of its source is its chain, and signs no webhook. The signature says so: several may have one
 * name. One that was renewed with its key has not issued the earlier one.
 */
function issuersAmong(certificates: readonly X509Certificate[]): ReadonlySet<X509Certificate> {
  const issued = new Map<string, X509Certificate[]>();
  for (const one of certificates) {
    const named = issued.get(one.issuer);
    if (named === undefined) issued.set(one.issuer, [one]);
    else if (named.length < MAX_ISSUED) named.push(one);
  }
  return new Set(
    certificates.filter(({ subject, publicKey }) =>
      issued.get(subject)?.some((one) => !one.publicKey.equals(publicKey) && one.verify(publicKey)),
    ),
  );
}

/** Whether a text has a private key or a shared secret among its keys, in any form that is read. */
export const holdsSecretKey = (text: string): boolean =>
  keyFormsIn(text).some(
    (form) =>
      (form.form === "jwk" && isSecretJwk(form.jwk)) ||
      (form.form === "der" && privateKeyIn(form.der) !== undefined) ||
      (form.form === "refused" && form.isEncryptedKey === true),
  );

/** The first private key; `keyid` replaces the `kid` of a JWK. */
export function readSigningKey(input: Uint8Array | string, keyid?: string): Parsed<SigningKey> {
  const forms = keyFormsIn(input);
  for (const form of forms) {
    const key = signingKeyIn(form);
    const kid = form.form === "jwk" ? jwkText(form.jwk, "kid") : null;
    if (key !== undefined) return accepted({ keyid: keyid ?? kid, key });
  }
  if (forms.some((form) => readForm(form).key !== undefined)) return refused("it is a public key");
  const [first] = forms;
  if (first === undefined || first.form === "refused") return refused(first?.what ?? "it contains no key");
  return refused(first.form === "jwk" ? "it is not a JSON Web Key" : "it is not a private key");
}

const signingKeyIn = (form: KeyForm): KeyObject | undefined =>
  form.form === "jwk"
    ? tryRead(() => createPrivateKey({ key: keyMembers(form.jwk, PRIVATE_MEMBERS), format: "jwk" }))
    : form.form === "der"
      ? privateKeyIn(form.der)
      : undefined;

/** The public part of a key as PEM. Throws a TypeError for a shared secret, which has none. */
export const publicPem = (key: KeyObject): string =>
  (key.type === "public" ? key : createPublicKey(key)).export({ type: "spki", format: "pem" }).toString();

/** The public part of an RSA key, as an entry of a key set (RFC 7517 4). */
export function publicJwk(key: KeyObject, keyid: string): JsonWebKey {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  const members = keyMembers({ ...publicKey.export({ format: "jwk" }) }, PUBLIC_MEMBERS);
  return { ...members, kid: keyid, use: "sig", alg: JWK_ALGORITHM };
}

interface KeyTextReading {
  readonly key?: VerificationKey;
  /** That the key was read from. */
  readonly certificate?: X509Certificate;
  /** What it is instead of a key. */
  readonly remark?: string;
}

function readForm(form: KeyForm): KeyTextReading {
  if (form.form === "refused") return { remark: form.what };
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
function readDer(der: Buffer): KeyTextReading {
  if (privateKeyIn(der) !== undefined) return { remark: `it ${PRIVATE}` };
  for (const type of ["spki", "pkcs1"] as const) {
    const key = tryRead(() => createPublicKey({ key: der, format: "der", type }));
    if (key !== undefined) return { key: verificationKey(key) };
  }
  const certificate = tryRead(() => fromCertificate(new X509Certificate(der)));
  return certificate ?? { remark: "its DER is neither a public key nor a certificate" };
}

const fromCertificate = (certificate: X509Certificate): KeyTextReading => ({
  key: verificationKey(certificate.publicKey, {
    validity: { from: Date.parse(certificate.validFrom) / 1000, to: Date.parse(certificate.validTo) / 1000 },
  }),
  certificate,
});

const PUBLIC_MEMBERS = ["kty", "crv", "n", "e", "x", "y"] as const;
const PRIVATE_MEMBERS = [...PUBLIC_MEMBERS, "d", "p", "q", "dp", "dq", "qi"] as const;

const isSecretJwk = (jwk: Record<string, unknown>): boolean => jwk["kty"] === "oct" || "d" in jwk;

function readJwk(jwk: Record<string, unknown>, place = "it"): KeyTextReading {
  if (jwk["kty"] === "oct") return { remark: `${place} is a shared secret (kty oct), not a public key` };
  if ("d" in jwk) return { remark: `${place} ${PRIVATE}` };
  const key = tryRead(() => createPublicKey({ key: keyMembers(jwk, PUBLIC_MEMBERS), format: "jwk" }));
  if (key === undefined) return { remark: `${place} is not a JSON Web Key of a public key` };
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
