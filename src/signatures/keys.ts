/** Keys that verify and sign, read from PEM, DER, certificates, JWK and JWKS, with what their source says about them. */
import {
  createPrivateKey,
  createPublicKey,
  X509Certificate,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { JWK_ALGORITHM } from "./policy.ts";
import { isPlainObject } from "../domain/json.ts";
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";
import { messageOf } from "../domain/system-reason.ts";

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
  /** `rsa`, `rsa-pss`, `ec`, `ed25519` and so on. */
  readonly kind: string;
  /** Of an RSA modulus; 0 for other keys. */
  readonly bits: number;
  /** Why the key must not be used; null where it is strong. */
  readonly weakness: string | null;
  /** Secure where the padding is checked, but unusual. */
  readonly smallExponent: boolean;
}

const NOTHING: KeyDescription = { keyid: null, alg: null, use: null, keyOps: null, validity: null };

export function verificationKey(key: KeyObject, description: Partial<KeyDescription> = {}): VerificationKey {
  const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
  const isRsa = modulusLength !== undefined && publicExponent !== undefined;
  return {
    ...NOTHING,
    ...description,
    key,
    kind: key.asymmetricKeyType ?? key.type,
    bits: isRsa ? modulusLength : 0,
    weakness: isRsa ? weaknessOf(modulusLength, publicExponent) : null,
    smallExponent: isRsa && publicExponent < 65537n,
  };
}

/** With an exponent of 1 every forgery verifies; one of thousands of bits takes milliseconds a message. */
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

/** Leaves out the entries of a set that cannot be read, with a warning. */
export function readKeys(input: Uint8Array | string): Parsed<KeysRead> {
  const text = textOf(input);
  const readings = text.includes("-----BEGIN ")
    ? readPem(text)
    : text.startsWith("{")
      ? readJson(text)
      : [attempt(() => readDer(input, text))];
  const keys = readings.flatMap((reading) => reading.key ?? []);
  const warnings = readings.flatMap((reading) => reading.warning ?? []);
  return keys.length > 0 ? accepted({ keys, warnings }) : refused(warnings.join("; ") || "it has no key");
}

/** A private key; `keyid` replaces the `kid` of a JWK. */
export function readSigningKey(input: Uint8Array | string, keyid?: string): Parsed<SigningKey> {
  const text = textOf(input);
  try {
    if (text.startsWith("{")) {
      const jwk: unknown = JSON.parse(text);
      if (!isPlainObject(jwk)) return refused("a JWK is a JSON object");
      const key = createPrivateKey({ key: keyMembers(jwk, PRIVATE_MEMBERS), format: "jwk" });
      return accepted({ keyid: keyid ?? textMember(jwk, "kid"), key });
    }
    const key = text.includes("-----BEGIN ")
      ? createPrivateKey(text)
      : createPrivateKey({ key: Buffer.from(input), format: "der", type: "pkcs8" });
    return accepted({ keyid: keyid ?? null, key });
  } catch (error) {
    const words = text.includes("PUBLIC KEY-----") ? "it is a public key" : "it is not a private key";
    return refused(`${words}: ${messageOf(error)}`);
  }
}

/** The public part of an RSA key, as an entry of a key set (RFC 7517 4). */
export function publicJwk(key: KeyObject, keyid: string): JsonWebKey {
  const publicKey = key.type === "private" ? createPublicKey(key) : key;
  const members = keyMembers({ ...publicKey.export({ format: "jwk" }) }, PUBLIC_MEMBERS);
  return { ...members, kid: keyid, use: "sig", alg: JWK_ALGORITHM };
}

interface Reading {
  readonly key?: VerificationKey;
  readonly warning?: string;
}

const PRIVATE_WARNING = "this is a private key; only its public part is used, and a public key is enough";

function attempt(read: () => Reading, which = "a key"): Reading {
  try {
    return read();
  } catch (error) {
    return { warning: `${which} could not be read: ${messageOf(error)}` };
  }
}

/** Line breaks as an environment variable may hold them: a backslash and a letter. */
const ESCAPED_BREAKS = /(?:\\r)?\\n/g;

/** From a BEGIN line to the END line of the same label (RFC 7468 2). */
const PEM_BLOCK = /-----BEGIN ([^-\r\n]{1,64})-----[^-]*-----END \1-----/g;

/** The key of each block. A chain is not followed: its first certificate is the service's, the others sign certificates. */
function readPem(text: string): Reading[] {
  let certificates = 0;
  return [...text.replace(ESCAPED_BREAKS, "\n").matchAll(PEM_BLOCK)].flatMap(([block, label = ""]) =>
    label.endsWith("CERTIFICATE") && certificates++ > 0 ? [] : attempt(() => readBlock(block, label)),
  );
}

function readBlock(block: string, label: string): Reading {
  if (label.endsWith("CERTIFICATE")) return fromCertificate(new X509Certificate(block));
  const key = verificationKey(createPublicKey(block));
  return label.endsWith("PRIVATE KEY") ? { key, warning: PRIVATE_WARNING } : { key };
}

/**
 * DER, or its bare base64. DER does not name its content, so each form is tried: private first, since Node reads private
 * keys as public too.
 */
function readDer(input: Uint8Array | string, text: string): Reading {
  const base64 = text.replace(ESCAPED_BREAKS, "").replace(/\s+/g, "");
  const der = /^[A-Za-z0-9+/]+=*$/.test(base64) ? Buffer.from(base64, "base64") : Buffer.from(input);
  const priv = (type: "pkcs8" | "pkcs1") => () => {
    const key = createPrivateKey({ key: der, format: "der", type });
    return { key: verificationKey(createPublicKey(key)), warning: PRIVATE_WARNING };
  };
  const pub = (type: "spki" | "pkcs1") => () => ({
    key: verificationKey(createPublicKey({ key: der, format: "der", type })),
  });
  const certificate = (): Reading => fromCertificate(new X509Certificate(der));
  for (const form of [priv("pkcs8"), priv("pkcs1"), pub("spki"), pub("pkcs1"), certificate]) {
    const reading = attempt(form);
    if (reading.key !== undefined) return reading;
  }
  const what = text.startsWith("<")
    ? "it is an HTML or XML page"
    : "it is not PEM, DER, a certificate or a JSON Web Key";
  return { warning: what };
}

const fromCertificate = ({ publicKey, validFrom, validTo }: X509Certificate): Reading => ({
  key: verificationKey(publicKey, {
    validity: { from: Date.parse(validFrom) / 1000, to: Date.parse(validTo) / 1000 },
  }),
});

function readJson(text: string): Reading[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return [{ warning: `it is not JSON: ${messageOf(error)}` }];
  }
  if (!isPlainObject(parsed) || !("keys" in parsed)) return [attempt(() => readJwk(parsed))];
  if (!Array.isArray(parsed["keys"])) return [{ warning: "its keys are not a list" }];
  return parsed["keys"].map((entry: unknown, at) =>
    attempt(() => readJwk(entry), `entry ${at + 1} of the set`),
  );
}

const PUBLIC_MEMBERS = ["kty", "crv", "n", "e", "x", "y"] as const;
const PRIVATE_MEMBERS = [...PUBLIC_MEMBERS, "d", "p", "q", "dp", "dq", "qi"] as const;

function readJwk(jwk: unknown): Reading {
  if (!isPlainObject(jwk)) throw new TypeError("a JWK is a JSON object");
  const publicKey = createPublicKey({ key: keyMembers(jwk, PUBLIC_MEMBERS), format: "jwk" });
  const key = verificationKey(publicKey, {
    keyid: textMember(jwk, "kid"),
    alg: textMember(jwk, "alg"),
    use: textMember(jwk, "use"),
    keyOps: "key_ops" in jwk ? textList(jwk["key_ops"]) : null,
  });
  return "d" in jwk ? { key, warning: PRIVATE_WARNING } : { key };
}

function keyMembers(jwk: Record<string, unknown>, names: readonly string[]): JsonWebKey {
  const members: JsonWebKey = {};
  for (const name of names) if (typeof jwk[name] === "string") members[name] = jwk[name];
  return members;
}

function textMember(jwk: Record<string, unknown>, name: string): string | null {
  const value = jwk[name];
  return typeof value === "string" ? value : null;
}

function textList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry: unknown) => typeof entry === "string") : [];
}

function textOf(input: Uint8Array | string): string {
  const text = typeof input === "string" ? input : Buffer.from(input).toString("utf8");
  return text.replace(/^\uFEFF/, "").trim();
}
