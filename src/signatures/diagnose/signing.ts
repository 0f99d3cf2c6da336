/** Everything that a signature depends on, and variants of it. */
import type { KeyObject } from "node:crypto";
import type { HttpRequest } from "../../http/message.ts";
import type { Component } from "../components.ts";
import type { VerificationKey } from "../keys.ts";

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

export interface SigningVariant {
  /** Two variants of one kind are not combined. */
  readonly kind: string;
  readonly variant: string;
  readonly apply: (signing: Signing) => Signing;
  /** What to do, given every change of the signing. */
  readonly advice: (signing: Signing) => string;
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
    apply: (signing) => ({ ...signing, request: change(signing.request) }),
    advice,
  };
}
