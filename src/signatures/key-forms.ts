/** The forms in which people and secret stores keep public keys: unwraps each to DER or to JSON Web Keys, or names what it is instead. */
import { isPlainObject, jsonOf } from "../values/json.ts";

/** What holds keys: the DER of one, a JSON Web Key, or what it is instead. */
export type KeyForm =
  | { readonly form: "der"; readonly der: Buffer }
  /** `place` is where it stands in a set. */
  | { readonly form: "jwk"; readonly jwk: Record<string, unknown>; readonly place?: string }
  | { readonly form: "refused"; readonly what: string; readonly isEncryptedKey?: true };

const refusedForm = (what: string): readonly KeyForm[] => [{ form: "refused", what }];

const isRead = ({ form }: KeyForm): boolean => form !== "refused";

/** Base64 in base64: a secret store may encode what was encoded before. */
const MAX_WRAPPINGS = 3;

/** Every key in a file or a text. What is refused is named by its form and never quoted: it may be a secret. */
export function keyFormsIn(input: Uint8Array | string, wrappings = MAX_WRAPPINGS): readonly KeyForm[] {
  if (typeof input !== "string") {
    if (isUtf16(input)) return refusedForm("it is UTF-16 text: save it as UTF-8");
    if (isDer(input)) return derForms(Buffer.from(input));
  }
  const text = bareText(input);
  if (text === "") return refusedForm("it is empty");
  const json = jsonIn(text);
  const forms = json === undefined ? [] : jsonForms(json, wrappings);
  return json !== undefined && (forms.some(isRead) || !text.includes(BEGIN))
    ? forms
    : textForms(unescaped(text), wrappings);
}

const BEGIN = "-----BEGIN ";
const NO_FORM = "it is not PEM, DER, a certificate or a JSON Web Key, and not base64 of one of them";

/** Keys and certificates are sequences (X.690 8.9), whose length comes second. */
const isDer = ({ 0: tag, 1: size = 0, length }: Uint8Array): boolean =>
  tag === 0x30 && (size >= 0x80 || size === length - 2);

/** Of the sequence that the bytes begin with, together with its tag and its length. */
function derLength(bytes: Buffer): number {
  const size = bytes[1] ?? 0;
  if (size < 0x80) return size + 2;
  const octets = size - 0x80;
  return octets >= 1 && octets <= 4 && bytes.length > octets + 2
    ? bytes.readUIntBE(2, octets) + octets + 2
    : bytes.length;
}

/** Several may stand one after the other, as `cat` joins files, each perhaps with a line end. */
function derForms(bytes: Buffer): readonly KeyForm[] {
  const forms: KeyForm[] = [];
  for (let rest = bytes; rest.length > 0;) {
    if (rest[0] !== 0x30)
      return [...forms, { form: "refused", what: `${rest.length} bytes after its DER are no key` }];
    const length = derLength(rest);
    forms.push({ form: "der", der: rest.subarray(0, length) });
    rest = rest.subarray(length);
    while (rest.length > 0 && /[\s\0]/.test(String.fromCharCode(rest[0] ?? 0))) rest = rest.subarray(1);
  }
  return forms;
}

/** By its byte order mark, or by the zeros of ASCII text in it. */
const isUtf16 = ([first, second, third, fourth]: Uint8Array): boolean =>
  (first === 0xff && second === 0xfe) ||
  (first === 0xfe && second === 0xff) ||
  (first === 0 && second !== 0 && third === 0) ||
  (first !== 0 && second === 0 && third !== 0 && fourth === 0);

/** Without byte order mark, white space and quotes, which shells and variables leave. */
function bareText(input: Uint8Array | string): string {
  const decoded = typeof input === "string" ? input : Buffer.from(input).toString("utf8");
  const bare = decoded.replace(/^\uFEFF/, "").trim();
  const [, , inner = bare] = /^(["'`])(.*)\1$/s.exec(bare) ?? [];
  return inner.trim();
}

/** Without what variables, JSON, the runners of CI and word processors make of a text: `\n`, also escaped twice, `%0A`, and long dashes. */
const unescaped = (text: string): string =>
  text
    .replace(/%([\da-f]{2})/gi, (_, octet: string) => String.fromCharCode(Number.parseInt(octet, 16)))
    .replace(
      /[-\u2010-\u2015\u2212]{2,8}(BEGIN|END) ([^-\n]{1,64}?)[-\u2010-\u2015\u2212]{2,8}/g,
      "-----$1 $2-----",
    )
    .replace(/(?:\\+r)?\\+n/g, "\n")
    .replace(/\r\n?/g, "\n")
    .replace(/\\+"/g, '"')
    .trim();

/** The value of a text that is JSON as a whole: a list or an object. */
const jsonIn = (text: string): unknown => (/^[[{]/.test(text) ? jsonOf(text) : undefined);

/**
 * What a text holds beside each other: PEM blocks, JSON, and base64. Where there is a key, other words are comments, as they are
 * before a PEM block (RFC 7468 5.2).
 */
function textForms(text: string, wrappings: number): readonly KeyForm[] {
  const foreign = FOREIGN.find(({ pattern }) => pattern.test(text));
  if (foreign !== undefined) return refusedForm(foreign.what);
  const pem = pemForms(text);
  const { values, words } = jsonValuesIn(text.replace(PEM_BLOCK, "\n\n"));
  const json = values.flatMap((value) => jsonForms(jsonIn(value), wrappings));
  // Around a PEM block stands the JSON that it is a text of.
  const others = [...(pem.length > 0 ? json.filter(isRead) : json), ...encodedForms(words, wrappings)];
  const forms = [...pem, ...others];
  return forms.length > 0 ? forms : refusedForm(NO_FORM);
}

/** From a BEGIN line to an END line (RFC 7468 2), whatever their labels; one of the two may be missing. */
const PEM_BLOCK =
  /-----BEGIN ([^-\n]{1,64})-----((?:[^-]|-(?!----))*)(-----END [^-\n]{1,64}-----)?|-----END [^-\n]{1,64}-----/g;

function pemForms(text: string): readonly KeyForm[] {
  let cut = 0;
  const forms = [...text.matchAll(PEM_BLOCK)].flatMap(([, label, body = "", end]): readonly KeyForm[] => {
    if (label !== undefined && end !== undefined) return blockForms(label, body);
    cut += 1;
    return [];
  });
  if (cut === 0) return forms;
  const blocks = cut === 1 ? "a PEM block" : `${cut} PEM blocks`;
  return [
    ...forms,
    ...refusedForm(
      forms.length === 0
        ? "it is PEM text without its END line"
        : `${blocks} without BEGIN or END line: the text was cut`,
    ),
  ];
}

/** What a block holds is in its DER, and its label may be another's. White space may be lost or added. */
function blockForms(label: string, body: string): readonly KeyForm[] {
  if (/ENCRYPTED/.test(label) || /^\s*Proc-Type:/.test(body))
    return [{ form: "refused", what: "it is an encrypted private key", isEncryptedKey: true }];
  const der = encodedBytes(body);
  if (der === undefined || !isDer(der))
    return refusedForm(`its PEM block "${label}" does not hold a key that can be read`);
  // What OpenSSL trusts a certificate for follows it.
  return label.startsWith("TRUSTED") ? derForms(der).slice(0, 1) : derForms(der);
}

/** Strings, whose brackets do not count; the last one may have no end. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"?|[[\]{}]/gs;

/** The JSON values of a text, of several lines or one after the other, from the first that begins a line; and the words between them. */
function jsonValuesIn(text: string): { readonly values: readonly string[]; readonly words: string } {
  let at = text.search(/^[ \t]*[[{]/m);
  if (at === -1) return { values: [], words: text };
  const values: string[] = [];
  const words = [text.slice(0, at)];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(JSON_TOKEN)) {
    const isOpening = token === "{" || token === "[";
    if (index < at || token.startsWith('"') || (depth === 0 && !isOpening)) continue;
    depth += isOpening ? 1 : -1;
    const end = isOpening ? index : index + 1;
    if (depth === (isOpening ? 1 : 0)) {
      (isOpening ? words : values).push(text.slice(at, end));
      at = end;
    }
  }
  (depth === 0 ? words : values).push(text.slice(at));
  return { values, words: words.join("\n") };
}

/** A key, a set of keys, or a list of either, in which a key may also be a text; in one envelope too. Undefined is no JSON. */
function jsonForms(value: unknown, wrappings: number, place?: string): readonly KeyForm[] {
  const listForms = (entries: readonly unknown[]): readonly KeyForm[] =>
    entries.flatMap((entry, at) => jsonForms(entry, wrappings, `entry ${at + 1} of the set`));
  if (value === undefined) return refusedForm("it starts like JSON, but is not valid JSON");
  if (Array.isArray(value)) return listForms(value);
  if (typeof value === "string" && wrappings > 0) return keyFormsIn(value, wrappings - 1);
  if (isPlainObject(value) && "keys" in value)
    return Array.isArray(value["keys"])
      ? listForms(value["keys"])
      : refusedForm("its keys member is not a list");
  if (isPlainObject(value) && "kty" in value)
    return [{ form: "jwk", jwk: value, ...(place === undefined ? {} : { place }) }];
  const [wrapped, ...others] =
    isPlainObject(value) && place === undefined ? Object.values(value).filter(holdsKeys) : [];
  return wrapped === undefined || others.length > 0
    ? refusedForm(`${place ?? "it"} is not a JSON Web Key`)
    : jsonForms(wrapped, wrappings);
}

const holdsKeys = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some((entry: unknown) => isPlainObject(entry) && "kty" in entry)
    : isPlainObject(value) && ("kty" in value || Array.isArray(value["keys"]));

/** Keys in formats that only other programs read, and texts that are not keys. */
const FOREIGN: readonly { readonly pattern: RegExp; readonly what: string }[] = [
  {
    pattern: /^(?:ssh-|ecdsa-sha2-|---- BEGIN SSH2)/,
    what: "it is an OpenSSH key: ssh-keygen -e -m PKCS8 -f <file> prints it as PEM",
  },
  { pattern: /<RSAKeyValue>/i, what: "it is an XML key (RSAKeyValue): give it as PEM or as a JSON Web Key" },
  { pattern: /^</, what: "it is an HTML or XML page" },
];

/** Where one text of base64 may end and another begin: a comma, an empty line or padding, and any line end. */
const BASE64_ENDS = [/[,;]|\n\s*\n|(?<==)\s*\n/, /\n/];

/** Base64 that is wrapped is one text as a whole; else each paragraph is one, or each line. */
function encodedForms(text: string, wrappings: number, ends = BASE64_ENDS): readonly KeyForm[] {
  const whole = decodedForms(text, wrappings);
  const [end, ...finer] = ends;
  if (end === undefined || whole.every(isRead)) return whole;
  const forms = text.split(end).flatMap((part) => encodedForms(part, wrappings, finer));
  return forms.some(isRead) ? forms : whole;
}

/** Empty for words that cannot be a key. */
function decodedForms(text: string, wrappings: number): readonly KeyForm[] {
  if (!/[\w+/-]{40}/.test(text)) return [];
  const foreign = FOREIGN.find(({ pattern }) => pattern.test(text.trim()));
  if (foreign !== undefined) return refusedForm(foreign.what);
  const bytes = encodedBytes(text);
  return bytes === undefined || wrappings === 0 ? refusedForm(NO_FORM) : keyFormsIn(bytes, wrappings - 1);
}

/** Of base64, base64url or hexadecimal text; undefined for any other. */
function encodedBytes(text: string): Buffer | undefined {
  const compact = text.replace(/\s+/g, "");
  if (/^30[\da-f]{100,}$/i.test(compact)) return Buffer.from(compact, "hex");
  return /^[\w+/-]+={0,2}$/.test(compact) ? Buffer.from(compact, "base64") : undefined;
}
