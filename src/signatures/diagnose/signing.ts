/** Variants of what was signed, alone and in pairs, until one matches; and everything that a signature depends on. */
import type { KeyObject } from "node:crypto";
import type { HttpRequest } from "../../http/message.ts";
import type { Component } from "../components.ts";
import type { VerificationKey } from "../keys.ts";
import type { Hint } from "../verdict.ts";

export interface Signing {
  readonly request: HttpRequest;
  readonly components: readonly Component[];
  /** The value of `@signature-params`, canonical. */
  readonly params: string;
  /** The same as written in Signature-Input. */
  readonly written: string;
  readonly label: string;
  /** The keys to try; empty if the keyid names none. */
  readonly keys: readonly VerificationKey[];
  readonly algorithm: VerifyingAlgorithm;
  /** What the signer did to the base; a correct signer changes nothing. */
  readonly spell: (base: string) => string;
}

export interface VerifyingAlgorithm {
  readonly name: string;
  readonly verify: (base: Uint8Array, key: KeyObject, signature: Uint8Array) => boolean;
}

/** What may have been changed in a subject: a signing, or the body of a request. */
export interface Variant<Subject> {
  /** Two variants of one kind are not combined. */
  readonly kind: string;
  readonly variant: string;
  /** Every subject that may have been signed, made from the received one. */
  readonly apply: (subject: Subject) => Iterable<Subject>;
  /** What to do, which may depend on every change. */
  readonly advice: string | ((changed: Subject) => string);
}

export type SigningVariant = Variant<Signing>;

export interface Explanation<Subject> {
  readonly hint: Hint;
  /** What was signed. */
  readonly signed: Subject;
}

export interface Search<Subject> {
  readonly matches: (subject: Subject) => boolean;
  readonly isExhausted: () => boolean;
  /** The most changed subjects that are changed a second time. */
  readonly maxFirst: number;
}

/** The first variant, or pair of variants, that matches. */
export function explain<Subject>(
  received: Subject,
  variants: readonly Variant<Subject>[],
  { matches, isExhausted, maxFirst }: Search<Subject>,
): Explanation<Subject> | undefined {
  for (const variant of variants) {
    for (const changed of variant.apply(received)) {
      if (matches(changed)) return { hint: hintOf([variant], changed), signed: changed };
      if (isExhausted()) return undefined;
    }
  }
  let firsts = 0;
  for (const first of variants) {
    for (const once of first.apply(received)) {
      if (firsts++ === maxFirst) return undefined;
      for (const second of variants) {
        if (second.kind === first.kind) continue;
        for (const twice of second.apply(once)) {
          if (matches(twice)) return { hint: hintOf([first, second], twice), signed: twice };
          if (isExhausted()) return undefined;
        }
      }
    }
  }
  return undefined;
}

function hintOf<Subject>(variants: readonly Variant<Subject>[], changed: Subject): Hint {
  return {
    variant: variants.map(({ variant }) => variant).join(" + "),
    advice: [
      ...new Set(variants.map(({ advice }) => (typeof advice === "string" ? advice : advice(changed)))),
    ].join("\n"),
  };
}

export function onRequest(
  kind: string,
  variant: string,
  change: (request: HttpRequest) => HttpRequest,
  advice: SigningVariant["advice"],
): SigningVariant {
  return {
    kind,
    variant,
    apply: (signing) => [{ ...signing, request: change(signing.request) }],
    advice,
  };
}
