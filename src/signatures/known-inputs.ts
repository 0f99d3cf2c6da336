/**
 * The Signature-Input of senders whose signatures verified. One that differs from it in its time and its nonce alone says the
 * same, and is not parsed again: half of the time of a verification without RSA (verify bench).
 */
import type { Component } from "./components.ts";
import { LABEL } from "./policy.ts";

/** What Signature-Input says of the signature. */
export interface SignatureInput {
  readonly components: readonly Component[];
  /** The value of `@signature-params`: the canonical form, which is what was signed. */
  readonly params: string;
  /** The names of the signature's parameters, as written. */
  readonly parameters: readonly string[];
  /** Unix seconds, as `expires`. */
  readonly created: number | null;
  readonly expires: number | null;
  readonly keyid: string | null;
  readonly alg: string | null;
}

/** Forms that are kept: a service has one or two. */
const MAX_KNOWN = 8;

const known = new Map<string, SignatureInput>();

/**
 * What differs between two messages of a sender: the value of `created`, an Integer of 0 or more (RFC 8941 3.3.1), and of `nonce`,
 * a String without escapes (3.3.3).
 */
const VARYING = /;created=(0|[1-9]\d{0,14})(?=;|$)|;nonce="[ !#-[\]-~]*"(?=;|$)/g;

/** What the field says; undefined if it is not known. */
export function recallInput(text: string): SignatureInput | undefined {
  const { form, created } = inputForm(text);
  const input = known.get(form);
  if (input === undefined) return undefined;
  const { components, parameters, keyid, alg } = input;
  return { components, params: text.slice(LABEL.length + 1), parameters, created, expires: null, keyid, alg };
}

/** Only for a signature that verified: nobody else can fill the table. `text` is the field as received. */
export function rememberInput(text: string, input: SignatureInput): void {
  // A signature with `expires` has a different text each time.
  if (input.expires !== null || text !== `${LABEL}=${input.params}`) return;
  const { form, values } = inputForm(text);
  const varying = input.parameters.filter((name) => name === "created" || name === "nonce").length;
  // Where another string holds the same text, or a value is written otherwise, nobody can tell what varies.
  if (values !== varying || text.split(/;(?:created|nonce)=/).length - 1 !== varying) return;
  known.set(form, input);
  const [oldest] = known.keys();
  if (known.size > MAX_KNOWN && oldest !== undefined) known.delete(oldest);
}

/**
 * The text without the values that vary, and how many they are: so a text whose value is missing has another form. The parser reads
 * two texts of a form alike up to the first of these values, after it up to the second, and so on.
 */
function inputForm(text: string): {
  readonly form: string;
  readonly values: number;
  readonly created: number | null;
} {
  let values = 0;
  let created: number | null = null;
  const rest = text.replace(VARYING, (_, time: string | undefined) => {
    values += 1;
    if (time === undefined) return ";nonce=";
    created = Number(time);
    return ";created=";
  });
  return { form: `${values} ${rest}`, values, created };
}
