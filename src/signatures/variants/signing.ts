/** Everything that a signature depends on, and what a variant of it is. */

import type { KeyObject } from "node:crypto";
import type { HttpRequest } from "../../http/message.ts";
import type { Component } from "../components.ts";
import type { VerificationKey } from "../keys.ts";

export interface Signing {
  readonly request: HttpRequest;
  readonly components: readonly Component[];
  /** The value of `@signature-params`, canonical. */
  readonly params: string;
  /** The same as it stood in Signature-Input. */
  readonly written: string;
  readonly label: string;
  /** Undefined where the message's keyid picks none. */
  readonly key: VerificationKey | undefined;
  readonly algorithm: VerifyingAlgorithm;
  /** How the signer put the base together; one that keeps to RFC 9421 changes nothing. */
  readonly spell: (base: string) => string;
}

export interface VerifyingAlgorithm {
  readonly name: string;
  readonly verify: (base: Uint8Array, key: KeyObject, signature: Uint8Array) => boolean;
}

export interface SigningVariant {
  /** Two variants of one kind never explain together. */
  readonly kind: string;
  readonly variant: string;
  readonly apply: (signing: Signing) => Signing;
  /** What to do, given all that was changed. */
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
