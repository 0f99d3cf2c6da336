/**
 * The Signature-Input of senders whose signatures verified. One that differs from it in its time and its nonce alone says the
 * same, and is not read again: half of the time of a verification without RSA (verify bench).
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

interface KnownInput {
  /** Matches every such text; its group is the time. */
  readonly pattern: RegExp;
  readonly input: SignatureInput;
}

/** Forms of Signature-Input that are kept: a service has one or two. */
const MAX_KNOWN = 8;

const known: KnownInput[] = [];

/** What differs between two messages of a sender: an Integer (RFC 8941 3.3.1) and a String without escapes (3.3.3). */
const VARYING: ReadonlyMap<string, string> = new Map([
  ["created", "(0|[1-9]\\d{0,14})"],
  ["nonce", '"[ !#-[\\]-~]*"'],
]);

/** What the field says; undefined if it is not known. */
export function recallInput(text: string): SignatureInput | undefined {
  for (const { pattern, input } of known) {
    const values = pattern.exec(text);
    if (values === null) continue;
    const { components, parameters, keyid, alg } = input;
    const created = values[1] === undefined ? null : Number(values[1]);
    const params = text.slice(LABEL.length + 1);
    return { components, params, parameters, created, expires: null, keyid, alg };
  }
  return undefined;
}

/** Only for a signature that verified: nobody else can fill the list. `text` is the field as received. */
export function rememberInput(text: string, input: SignatureInput): void {
  // A signature with `expires` has a different text each time.
  if (input.expires !== null || text !== `${LABEL}=${input.params}`) return;
  const varying: string[] = [];
  const source = text.replace(VARYING_OR_SPECIAL, (found, name: string | undefined) => {
    if (name === undefined) return `\\${found}`;
    varying.push(name);
    return `;${name}=${VARYING.get(name)}`;
  });
  // Where another string holds the same text, nobody can tell which one is the parameter.
  if (varying.join() !== input.parameters.filter((name) => VARYING.has(name)).join()) return;
  known.unshift({ pattern: new RegExp(`^${source}$`), input });
  known.length = Math.min(known.length, MAX_KNOWN);
}

/** What differs, and what has a meaning in a regular expression. */
const VARYING_OR_SPECIAL = /;(created|nonce)=(?:\d+|"[^"\\]*")|[\\^$.*+?()[\]{}|/]/g;
