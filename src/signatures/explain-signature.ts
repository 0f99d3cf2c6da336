/** Finds what was signed: the variant of the message, key, algorithm or signature base that a signature matches. */

import { fieldLines, type HttpRequest } from "../http/message.ts";
import { ALGORITHMS } from "./algorithms.ts";
import { signatureBase } from "./base.ts";
import { matchingKeys } from "./key-rules.ts";
import type { VerificationKey } from "./verification-key.ts";
import { readSignature, type ReceivedSignature } from "./received.ts";
import { Report } from "./report.ts";
import { readDictionary } from "./structured.ts";
import { addressVariants } from "./variants/addresses.ts";
import { fieldVariants } from "./variants/fields.ts";
import { ALGORITHM_VARIANTS, keyVariants } from "./variants/keys-and-algorithms.ts";
import { orderVariants } from "./variants/orders.ts";
import type { Signing, SigningVariant } from "./variants/signing.ts";
import { SPELLING_VARIANTS } from "./variants/spellings.ts";
import type { Reason } from "../domain/reasons.ts";
import type { Hint } from "./verdict.ts";
import type { VerifyOptions } from "./verify.ts";

/** Signatures that are verified for one message with RSA-2048; a larger key gets fewer in proportion. */
const MAX_SIGNATURES = 4000;

/** `body` is the one that the digest matches, if known. */
export function explainSignature(
  request: HttpRequest,
  options: VerifyOptions,
  { code, body }: { readonly code: Reason | "ok"; readonly body: Uint8Array },
): Hint | undefined {
  const received = signatureOf(request, options);
  if (received === undefined) return undefined;
  const start = startOf(request, options, received, code);
  const variants = signingVariants(start, options.keys, body);
  const search = createSearch(received, options.keys);
  if (code === "alg_not_allowed" && search.holds(start)) return WRONG_ALG;
  for (const variant of variants) {
    const signing = variant.apply(start);
    if (search.holds(signing)) return signingHint([variant], signing);
  }
  for (const [at, first] of variants.entries()) {
    for (const second of variants.slice(at + 1)) {
      if (second.kind === first.kind) continue;
      const signing = second.apply(first.apply(start));
      if (search.holds(signing)) return signingHint([first, second], signing);
      if (search.exhausted()) return undefined;
    }
  }
  return undefined;
}

/** The likeliest first. */
function signingVariants(
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

const WRONG_ALG: Hint = {
  variant: "alg left out",
  advice:
    "The signature matches; only its alg parameter is wrong. The signer has to use the name that RFC 9421 6.2 registers (rsa-v1_5-sha256, not RS256), or leave alg out.",
};

function signatureOf({ headers }: HttpRequest, { policy }: VerifyOptions): ReceivedSignature | undefined {
  try {
    return readSignature(headers, policy, new Report(policy));
  } catch {
    return undefined;
  }
}

function startOf(
  request: HttpRequest,
  { keys, policy }: VerifyOptions,
  { components, params, keyid }: ReceivedSignature,
  code: Reason | "ok",
): Signing {
  const inputs = readDictionary(fieldLines(request.headers, "signature-input"));
  const written = inputs.members.find(({ key }) => key === policy.label)?.text ?? params;
  return {
    request,
    components,
    params,
    written,
    label: policy.label,
    keys: code === "key_not_found" || code === "key_ambiguous" ? [] : matchingKeys(keys, keyid),
    algorithm: { name: policy.algorithm, verify: ALGORITHMS[policy.algorithm].verify },
    spell: (base) => base,
  };
}

interface Search {
  /** Whether the signature matches; the same signing is tried once. */
  holds(signing: Signing): boolean;
  exhausted(): boolean;
}

function createSearch({ signature }: ReceivedSignature, keys: readonly VerificationKey[]): Search {
  const seen = new Set<string>();
  const bits = Math.max(2048, ...keys.map(({ key }) => key.asymmetricKeyDetails?.modulusLength ?? 0));
  let budget = Math.ceil((MAX_SIGNATURES * 2048) / bits);
  const isNew = (text: string, algorithm: string, key: VerificationKey): boolean =>
    seen.size !== seen.add(`${algorithm}\n${keys.indexOf(key)}\n${text}`).size;
  return {
    exhausted: () => budget <= 0,
    holds: (signing) => {
      const text = textOf(signing);
      if (text === undefined) return false;
      const { algorithm, keys: tried } = signing;
      return tried.some((key) => {
        if (!isNew(text, algorithm.name, key) || budget-- <= 0) return false;
        try {
          return algorithm.verify(Buffer.from(text, "latin1"), key.key, signature);
        } catch {
          return false;
        }
      });
    },
  };
}

/** The text signed in this variant; undefined if it has no signature base. */
function textOf({ components, params, request, spell }: Signing): string | undefined {
  try {
    return spell(signatureBase(components, params, request));
  } catch {
    return undefined;
  }
}

function signingHint(variants: readonly SigningVariant[], signing: Signing): Hint {
  return {
    variant: variants.map(({ variant }) => variant).join(" + "),
    advice: [...new Set(variants.map(({ advice }) => advice(signing)))].join("\n"),
  };
}
