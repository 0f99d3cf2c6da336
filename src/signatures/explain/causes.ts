/** Finds out what happened to a webhook between the service and this machine. Nothing that it tries is accepted. */
import { constants, verify as cryptoVerify } from "node:crypto";
import { fieldLines, type HttpRequest } from "../../http/message.ts";
import { receivedBase } from "../base.ts";
import type { VerificationKey } from "../keys.ts";
import { matchingKeys, MAX_TRIED, withoutRepeats } from "../key-rules.ts";
import type { ReceivedSignature } from "../received.ts";
import type { Verdict } from "../verdict.ts";
import { isSignature, type VerifyOptions } from "../verify.ts";
import { changeOf } from "./changed-body.ts";
import { receivedSignature } from "./verdict-words.ts";
import { addressVariants, combined, digestVariants, fieldVariants, type Diagnosis } from "./transit.ts";

/** The checks whose failure another message or key may explain. */
const EXPLAINED: ReadonlySet<string> = new Set(["key", "algorithm", "signature-base", "signature-value"]);

export function failureCauses(request: HttpRequest, options: VerifyOptions, verdict: Verdict): Diagnosis[] {
  const { code, failure } = verdict;
  const body =
    code === "content_digest_mismatch" || code === "signature_invalid" ? changeOf(request) : undefined;
  const received = EXPLAINED.has(failure?.check ?? "") ? receivedSignature(request) : undefined;
  const signature =
    received && causeOfSignature(request, body?.length ?? request.body.length, received, options);
  const hints = [signature, body].flatMap((hint) => hint ?? []);
  if (hints.length > 0) return hints.map(({ variant, advice }) => ({ variant, advice }));
  return hasTypedQuotes(request) ? [TYPED_QUOTES] : causeOfTime(verdict, options.now);
}

const SIGNED_FIELDS = ["signature-input", "signature", "content-digest"];

/** Quotes, dashes and spaces that word processors and chats put in the place of plain ones, as text or as the bytes of UTF-8. */
const hasTypedQuotes = ({ headers }: HttpRequest): boolean =>
  SIGNED_FIELDS.flatMap((name) => fieldLines(headers, name)).some((value) =>
    /[\u2010-\u201f\u00a0\u00ab\u00bb]|\xe2\x80[\x90-\x9f]|\xc2[\xa0\xab\xbb]/.test(value),
  );

const TYPED_QUOTES: Diagnosis = {
  variant: "typographic quotes",
  advice:
    'A signature field has quotes, dashes or spaces that a word processor or a chat has put in the place of plain ones (“ ” – for " and -). Capture the request again as it arrived, without such a program on the way; the sender did not send these.',
};

function causeOfTime({ code, created }: Verdict, now: number): Diagnosis[] {
  if (code === "signature_too_old" || code === "signature_expired") return [OLD_CAPTURE];
  const isMilliseconds = created !== null && Math.abs(created / 1000 - now) < 10 * YEAR;
  return code === "created_in_future" && isMilliseconds ? [IN_MILLISECONDS] : [];
}

const YEAR = 365 * 86_400;

const OLD_CAPTURE: Diagnosis = {
  variant: "an old capture",
  advice:
    "The signature may have been valid when the webhook arrived. To verify it as of that time, add --at with the time. If your service sends webhooks again with their first signature, raise --tolerance.",
};

const IN_MILLISECONDS: Diagnosis = {
  variant: "created in milliseconds",
  advice: "created is in milliseconds, but RFC 9421 2.3 requires seconds. The signer has to fix this.",
};

/** `length` is that of the body that was signed, if it is known. */
function causeOfSignature(
  request: HttpRequest,
  length: number,
  received: ReceivedSignature,
  { keys }: VerifyOptions,
): Diagnosis | undefined {
  const named = namedKeys(keys, received.keyid);
  const base = baseText(request, received);
  if (base !== undefined) {
    const other = keys.find(
      (key) => key.kind === "rsa" && !named.includes(key) && isSignature(base, key, received.signature),
    );
    if (other !== undefined) return anotherKey(other, received.keyid);
    if (named.some((key) => isPss(base, key, received.signature))) return PSS;
  }
  // A variant that changes nothing that is covered explains nothing.
  const seen = new Set([base?.toString("latin1")]);
  const variants = [
    ...addressVariants(request),
    ...digestVariants(request),
    ...fieldVariants(request, received, length),
  ];
  for (const variant of combined(variants)) {
    const text = baseText(variant.apply(request), received);
    if (text === undefined || seen.size === seen.add(text.toString("latin1")).size) continue;
    if (named.some((key) => isSignature(text, key, received.signature))) return variant;
  }
  return undefined;
}

/** Only RSA keys: the signature is that of one. */
function namedKeys(keys: readonly VerificationKey[], keyid: string | null): readonly VerificationKey[] {
  try {
    const matching = matchingKeys(keys, keyid).filter(({ kind }) => kind === "rsa");
    return withoutRepeats(matching).slice(0, MAX_TRIED);
  } catch {
    return [];
  }
}

function baseText(request: HttpRequest, received: ReceivedSignature): Buffer | undefined {
  try {
    return Buffer.from(receivedBase(received, request), "latin1");
  } catch {
    return undefined;
  }
}

const anotherKey = ({ keyid }: VerificationKey, named: string | null): Diagnosis => ({
  variant: keyid === null ? "another configured key" : `key ${keyid}`,
  advice: `The signature matches ${keyid === null ? "a configured key without an id" : `the configured key "${keyid}"`}, but it names ${named === null ? "none" : `"${named}"`}. Configure the key with the id that the service uses: the service's key set (a JWKS, or its URL) has both.`,
});

const PSS: Diagnosis = {
  variant: "rsa-pss",
  advice:
    "The signature is RSA-PSS. The service signs with rsa-v1_5-sha256 (PKCS#1 v1.5); paylink accepts nothing else.",
};

/** With either digest, and any salt. */
const isPss = (base: Uint8Array, { key }: VerificationKey, signature: Uint8Array): boolean =>
  ["sha256", "sha512"].some((digest) =>
    cryptoVerify(
      digest,
      base,
      { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO },
      signature,
    ),
  );
