/** Why a message does not verify: variants of it are tried, and the one that verifies names the cause. None is accepted. */

import { fieldLines, type HttpRequest } from "../http/message.ts";
import { signatureBase } from "./base.ts";
import { BODY_VARIANTS, type BodyVariant } from "./variants/bodies.ts";
import { checkDigest } from "./digest.ts";
import { fieldHints } from "./variants/field-hints.ts";
import { selectKey, type VerificationKey } from "./keys.ts";
import { readSignature, type ReceivedSignature } from "./received.ts";
import { Report } from "./report.ts";
import { readDictionary } from "./structured.ts";
import type { Signing, SigningVariant } from "./variants/signing.ts";
import { signingVariants } from "./variants/signings.ts";
import type { Hint, Reason, Verdict } from "./verdict.ts";
import { ALGORITHMS } from "./algorithms.ts";
import type { VerifyOptions } from "./verify.ts";

/** Signatures that are verified, of RSA-2048; a larger key gets fewer in proportion. */
const MAX_SIGNATURES = 4000;
/** Bytes that are hashed. */
const MAX_HASHED = 64 * 1024 * 1024;
const MAX_BODIES = 20_000;

/** Where another message, key or algorithm may be what was signed. */
const MAY_BE_ANOTHER: ReadonlySet<"ok" | Reason> = new Set([
  "key_not_found",
  "key_ambiguous",
  "alg_not_allowed",
  "key_type_mismatch",
  "component_missing",
  "component_value_invalid",
  "duplicate_header",
  "signature_invalid",
]);

export function diagnose(request: HttpRequest, options: VerifyOptions, verdict: Verdict): Hint[] {
  if (verdict.verdict === "valid") return [];
  const body =
    verdict.code === "content_digest_mismatch" || verdict.code === "signature_invalid"
      ? explainBody(request)
      : undefined;
  const signature = MAY_BE_ANOTHER.has(verdict.code)
    ? explainSignature(request, options, body?.body ?? request.body)
    : undefined;
  const hints = [signature, body?.hint].flatMap((hint) => hint ?? []);
  return hints.length > 0 ? hints : fieldHints(request, options.now, verdict);
}

interface BodyExplanation {
  readonly hint: Hint;
  /** The body that was signed. */
  readonly body: Uint8Array;
}

/** The first variant, or pair of variants, under which the digest is that of the body. */
function explainBody({ headers, body }: HttpRequest): BodyExplanation | undefined {
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

/** First halves of a pair: enough for every variant that is not one of hundreds of spellings. */
const MAX_FIRST = 600;
/** Bytes that they may take together. */
const MAX_KEPT = 16 * 1024 * 1024;

function bodyHint(variants: readonly BodyVariant[]): Hint {
  return {
    variant: variants.map(({ variant }) => variant).join(" + "),
    advice: joined(variants.map(({ advice }) => advice)),
  };
}

function explainSignature(request: HttpRequest, options: VerifyOptions, body: Uint8Array): Hint | undefined {
  const received = signatureOf(request, options);
  if (received === undefined) return undefined;
  const start = startOf(request, options, received);
  const variants = signingVariants(start, options.keys, body);
  const search = createSearch(received, options.keys);
  if (search.holds(start)) return ALG_ALONE;
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

const ALG_ALONE: Hint = {
  variant: "alg left out",
  advice:
    "The signature is the service's, and only its alg parameter says otherwise. The signer has to name the algorithm as RFC 9421 6.2 registers it (rsa-v1_5-sha256, not RS256), or leave alg out.",
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
): Signing {
  const inputs = readDictionary(fieldLines(request.headers, "signature-input"));
  const written = inputs.members.find(({ key }) => key === policy.label)?.text ?? params;
  return {
    request,
    components,
    params,
    written,
    label: policy.label,
    key: keyOf(keys, keyid),
    algorithm: { name: policy.algorithm, verify: ALGORITHMS[policy.algorithm].verify },
    spell: (base) => base,
  };
}

function keyOf(keys: readonly VerificationKey[], keyid: string | null): VerificationKey | undefined {
  try {
    return selectKey(keys, keyid);
  } catch {
    return undefined;
  }
}

interface Search {
  /** Whether the signature is that of this signing; never asked twice of the same one. */
  holds(signing: Signing): boolean;
  exhausted(): boolean;
}

function createSearch({ signature }: ReceivedSignature, keys: readonly VerificationKey[]): Search {
  const seen = new Set<string>();
  const bits = Math.max(2048, ...keys.map(({ key }) => key.asymmetricKeyDetails?.modulusLength ?? 0));
  let budget = Math.ceil((MAX_SIGNATURES * 2048) / bits);
  const isNew = (text: string, { algorithm, key }: Signing): boolean =>
    seen.size !== seen.add(`${algorithm.name}\n${key === undefined ? -1 : keys.indexOf(key)}\n${text}`).size;
  return {
    exhausted: () => budget <= 0,
    holds: (signing) => {
      const text = textOf(signing);
      if (text === undefined || signing.key === undefined || !isNew(text, signing) || budget-- <= 0)
        return false;
      try {
        return signing.algorithm.verify(Buffer.from(text, "latin1"), signing.key.key, signature);
      } catch {
        return false;
      }
    },
  };
}

/** What would have been signed; undefined where this variant of the message has no signature base. */
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
    advice: joined(variants.map(({ advice }) => advice(signing))),
  };
}

const joined = (advice: readonly string[]): string => [...new Set(advice)].join("\n");
