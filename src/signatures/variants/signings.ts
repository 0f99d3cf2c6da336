/** Every variant of a signing that is worth a try, the likeliest first. */

import type { VerificationKey } from "../keys.ts";
import { addressVariants } from "./addresses.ts";
import { fieldVariants } from "./fields.ts";
import { ALGORITHM_VARIANTS, keyVariants } from "./keys.ts";
import { orderVariants } from "./orders.ts";
import type { Signing, SigningVariant } from "./signing.ts";
import { SPELLING_VARIANTS } from "./spellings.ts";

/** `body` is the one that the digest is of, where known. */
export function signingVariants(
  start: Signing,
  keys: readonly VerificationKey[],
  body: Uint8Array,
): SigningVariant[] {
  return [
    ...addressVariants(start),
    ...fieldVariants(start, body),
    ...keyVariants(start, keys),
    ...ALGORITHM_VARIANTS,
    ...SPELLING_VARIANTS,
    ...orderVariants(start),
  ];
}
