/** Finds what changed a body in transit: the variant of it that its Content-Digest matches. */

import type { HttpRequest } from "../http/message.ts";
import { checkDigest } from "./digest.ts";
import { BODY_VARIANTS, type BodyVariant } from "./variants/bodies.ts";
import type { Hint } from "./verdict.ts";

/** Limits on the work for one message: bytes hashed, and bodies tried. */
const MAX_HASHED = 64 * 1024 * 1024;
const MAX_BODIES = 20_000;
/** Variants that are combined with a second one: all but those with hundreds of spellings. */
const MAX_FIRST = 600;
/** Bytes that these variants may hold together. */
const MAX_KEPT = 16 * 1024 * 1024;

export interface BodyExplanation {
  readonly hint: Hint;
  /** The body that was signed. */
  readonly body: Uint8Array;
}

/** The first variant, or pair of variants, that the digest matches. */
export function explainBody({ headers, body }: HttpRequest): BodyExplanation | undefined {
  const digest = checkDigest(headers, body);
  if (digest.ok || digest.reason !== "content_digest_mismatch") return undefined;
  const received = Buffer.from(body);
  let budget = Math.min(MAX_BODIES, Math.ceil(MAX_HASHED / (received.length + 1)));
  const maxFirst = Math.min(MAX_FIRST, Math.ceil(MAX_KEPT / (received.length + 1)));
  const matches = (candidate: Uint8Array): boolean => budget-- > 0 && checkDigest(headers, candidate).ok;
  const singles: { variant: BodyVariant; body: Buffer }[] = [];
  for (const variant of BODY_VARIANTS) {
    for (const candidate of variant.candidates(received, headers)) {
      if (matches(candidate)) return { hint: bodyHint([variant]), body: candidate };
      if (budget <= 0) return undefined;
      if (singles.length < maxFirst) singles.push({ variant, body: Buffer.from(candidate) });
    }
  }
  for (const { variant: first, body: changed } of singles) {
    for (const second of BODY_VARIANTS) {
      if (second.kind === first.kind) continue;
      for (const candidate of second.candidates(changed, headers)) {
        if (matches(candidate)) return { hint: bodyHint([first, second]), body: candidate };
        if (budget <= 0) return undefined;
      }
    }
  }
  return undefined;
}

function bodyHint(variants: readonly BodyVariant[]): Hint {
  return {
    variant: variants.map(({ variant }) => variant).join(" + "),
    advice: [...new Set(variants.map(({ advice }) => advice))].join("\n"),
  };
}
