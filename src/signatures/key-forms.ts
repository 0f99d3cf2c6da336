/** The forms in which people and secret stores keep a public key: unwraps each to DER or to JSON Web Keys, or names what it is instead. */
import { isPlainObject } from "../domain/json.ts";

/** What holds keys: the DER of one, a JSON Web Key, or what it is instead. */
export type KeyForm =
  | { readonly form: "der"; readonly der: Buffer }
  /** `place` is where it stands in a set. */
  | { readonly form: "jwk"; readonly jwk: Record<string, unknown>; readonly place?: string }
  | { readonly form: "refused"; readonly what: string; readonly isEncryptedKey?: true };

const refusedForm = (what: string): readonly KeyForm[] => [{ form: "refused", what }];

/** Base64 in base64: a secret store may encode what was encoded before. */
const MAX_WRAPPINGS = 3;

/** Every key in a file or a text. What is refused is named by its form and never quoted: it may be a secret. */
export function keyFormsIn(input: Uint8Array | string, wrappings = MAX_WRAPPINGS): readonly KeyForm[] {
  if (typeof input !== "string") {
    if (isUtf16(input)) return refusedForm("it is UTF-16 text: save it as UTF-8");
    if (isDer(input)) return [{ form: "der", der: Buffer.from(input) }];
  }
  const text = plainText(input);
  if (text === "") return refusedForm("it is empty");
  if (text.includes("-----BEGIN ")) return pemForms(text);
  if (/^[[{]/.test(text)) return jsonForms(text);
  const foreign = FOREIGN.find(({ pattern }) => pattern.test(text));
  if (foreign !== undefined) return refusedForm(foreign.what);
  const bytes = encodedBytes(text);
  if (bytes === undefined || wrappings === 0) return refusedForm(NO_FORM);
  return keyFormsIn(bytes, wrappings - 1);
}

const NO_FORM = "it is not PEM, DER, a certificate or a JSON Web Key, and not base64 of one of them";

/** Keys and certificates are sequences (X.690 8.9), whose length comes second. */
const isDer = ({ 0: tag, 1: size = 0, length }: Uint8Array): boolean =>
  tag === 0x30 && (size >= 0x80 || size === length - 2);

/** By its byte order mark, or by the zeros of ASCII text in it. */
const isUtf16 = ([first, second, third, fourth]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) ||
  (first === 0xfe && second === 0xff) ||
  (first === 0 && second !== 0 && third === 0) ||
  (first !== 0 && second === 0 && third !== 0 && fourth === 0);

/** Without byte order mark, quotes and escapes, which variables, shells and JSON leave: `\n`, also escaped twice. */
function plainText(input: Uint8Array | string): string {
  const decoded = typeof input === "string" ? input : Buffer.from(input).toString("utf8");
  const bare = decoded.replace(/^\uFEFF/, "").trim();
  const [, , inner = bare] = /^(["'`])(.*)\1$/s.exec(bare) ?? [];
  const text = inner.trim();
  if (isJson(text)) return text;
  return text
    .replace(/(?:\\+r)?\\+n/g, "\n")
    .replace(/\r\n?/g, "\n")
    .replace(/\\+"/g, '"')
    .trim();
}

function isJson(text: string): boolean {
  if (!/^[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return !text.includes("-----BEGIN ");
  } catch {
    return false;
  }
}

/** From a BEGIN line to an END line (RFC 7468 2), whatever their labels. */
const PEM_BLOCK = /-----BEGIN ([^-\n]{1,64})-----((?:[^-]|-(?!----))*)-----END [^-\n]{1,64}-----/g;

/** The key of each block. A chain is not followed: its first certificate is the service's, the others sign certificates. */
function pemForms(text: string): readonly KeyForm[] {
  let certificates = 0;
  const forms = [...text.matchAll(PEM_BLOCK)].flatMap(([, label = "", body = ""]): readonly KeyForm[] =>
    label.endsWith("CERTIFICATE") && certificates++ > 0 ? [] : [pemForm(label, body)],
  );
  return forms.length > 0 ? forms : refusedForm("it is PEM text without its END line");
}

/** What a block holds is in its DER, and its label may be another's. White space may be lost or added. */
function pemForm(label: string, body: string): KeyForm {
  if (/ENCRYPTED/.test(label) || /^\s*Proc-Type:/.test(body))
    return { form: "refused", what: "it is an encrypted private key", isEncryptedKey: true };
  const der = encodedBytes(body);
  return der !== undefined && isDer(der)
    ? { form: "der", der }
    : { form: "refused", what: `its PEM block "${label}" does not hold a key that can be read` };
}

function jsonForms(text: string): readonly KeyForm[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's words would quote the text.
    return refusedForm("it starts like JSON, but is not valid JSON");
  }
  if (Array.isArray(parsed)) return setForms(parsed);
  if (!isPlainObject(parsed) || !("keys" in parsed)) return [jwkForm(parsed)];
  return Array.isArray(parsed["keys"])
    ? setForms(parsed["keys"])
    : refusedForm("its keys member is not a list");
}

const setForms = (entries: readonly unknown[]): readonly KeyForm[] =>
  entries.map((entry, at) => jwkForm(entry, `entry ${at + 1} of the set`));

function jwkForm(jwk: unknown, place?: string): KeyForm {
  if (!isPlainObject(jwk)) return { form: "refused", what: `${place ?? "it"} is not a JSON Web Key` };
  return { form: "jwk", jwk, ...(place === undefined ? {} : { place }) };
}

/** Keys in formats that only other programs read, and texts that are not keys. */
const FOREIGN: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  {
    pattern: /^(?:ssh-|ecdsa-sha2-|---- BEGIN SSH2)/,
    what: "it is an OpenSSH key: ssh-keygen -e -m PKCS8 -f <file> prints it as PEM",
  },
  { pattern: /<RSAKeyValue>/i, what: "it is an XML key (RSAKeyValue): give it as PEM or as a JSON Web Key" },
  { pattern: /^</, what: "it is an HTML or XML page" },
];

/** Of base64, base64url or hexadecimal text; undefined for any other. */
function encodedBytes(text: string): Buffer | undefined {
  const compact = text.replace(/\s+/g, "");
  if (/^30[\da-f]{100,}$/i.test(compact)) return Buffer.from(compact, "hex");
  return /^[\w+/-]+={0,2}$/.test(compact) ? Buffer.from(compact, "base64") : undefined;
}
