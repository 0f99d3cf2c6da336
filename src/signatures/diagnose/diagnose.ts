/** Explains why a message does not verify: tries variants of it and names the one that matches. Accepts none of them. */
import type { Reason } from "../../domain/reasons.ts";
import { fieldLines, type HttpRequest } from "../../http/message.ts";
import { ALGORITHMS } from "../algorithms.ts";
import { signatureBase } from "../base.ts";
import { matchingKeys } from "../key-rules.ts";
import { readSignature, type ReceivedSignature } from "../received.ts";
import { Report } from "../report.ts";
import { readDictionary } from "../structured.ts";
import type { Hint, Verdict } from "../verdict.ts";
import type { VerificationKey } from "../keys.ts";
import type { VerifyOptions } from "../verify.ts";
import { explainBody } from "./body.ts";
import { ALGORITHM_VARIANTS, keyVariants, orderVariants, SPELLING_VARIANTS } from "./signer.ts";
import { explain, type Search, type Signing } from "./signing.ts";
import { addressVariants, fieldVariants } from "./transit.ts";

/** Failures that another message, key or algorithm may explain. */
const SIGNATURE_FAILURES: ReadonlySet<"ok" | Reason> = new Set([
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
  const { code } = verdict;
  const body =
    code === "content_digest_mismatch" || code === "signature_invalid" ? explainBody(request) : undefined;
  const signature = SIGNATURE_FAILURES.has(code)
    ? explainSignature(request, options, { code, body: body?.signed ?? request.body })
    : undefined;
  const hints = [signature, body?.hint].flatMap((hint) => hint ?? []);
  return hints.length > 0 ? hints : fieldHints(request, options.now, verdict);
}

interface FieldHint extends Hint {
  readonly applies: (request: HttpRequest, verdict: Verdict, now: number) => boolean;
}

const has = ({ headers }: HttpRequest, name: string): boolean => fieldLines(headers, name).length > 0;

const FIELD_HINTS: readonly FieldHint[] = [
  {
    variant: "a signature of the old draft",
    advice:
      "Signature has keyId=…,headers=… : it follows draft-cavage, which RFC 9421 replaced and which cannot be verified. The sender has to sign by RFC 9421.",
    applies: ({ headers }, { code }) =>
      ["unsigned", "signature_input_missing", "signature_malformed"].includes(code) &&
      [...fieldLines(headers, "signature"), ...fieldLines(headers, "authorization")].some((line) =>
        /keyId=/.test(line),
      ),
  },
  {
    variant: "created in milliseconds",
    advice: "created counts milliseconds; RFC 9421 2.3 counts seconds. The signer has to fix this.",
    applies: (_, { code, created }, now) =>
      code === "created_in_future" && created !== null && Math.abs(created / 1000 - now) < 10 * YEAR,
  },
  {
    variant: "an old capture",
    advice:
      "The signature was valid when it was made. To verify the capture as of that time, add --at with the time.",
    applies: (_, { code }) => code === "signature_too_old" || code === "signature_expired",
  },
  {
    variant: "a clock that is wrong",
    advice: "Check this machine's clock (NTP); the service's clock may also be ahead.",
    applies: (_, { code }) => code === "created_in_future",
  },
  {
    variant: "Digest for Content-Digest",
    advice:
      "The message has the older Digest field and no Content-Digest (RFC 9530). The sender has to send and cover Content-Digest.",
    applies: (request, { code }) =>
      (code === "coverage_missing" || code === "component_missing") &&
      has(request, "digest") &&
      !has(request, "content-digest"),
  },
  {
    variant: "Content-Digest in another spelling",
    advice:
      "Content-Digest is written sha-256=:BASE64=: with the name in lower case and the base64 of the bytes between colons (RFC 9530 2).",
    applies: (_, { code }) => code === "content_digest_malformed",
  },
  {
    variant: "the body was read already",
    advice:
      "The body is empty, but Content-Length says otherwise: something read the stream first, as express.json() or request.json() do. Verify the raw bytes before that.",
    applies: ({ headers, body }, { code }) =>
      code === "content_digest_mismatch" &&
      body.length === 0 &&
      Number(fieldLines(headers, "content-length")[0] ?? 0) > 0,
  },
  {
    variant: "gzip undone",
    advice:
      "Content-Encoding says gzip but the body is not compressed: something decompressed it, and the digest is over the compressed bytes (RFC 9530 2). Verify before decompressing: express.raw({ inflate: false }).",
    applies: ({ headers, body }, { code }) =>
      code === "content_digest_mismatch" &&
      fieldLines(headers, "content-encoding").some((line) => /gzip/i.test(line)) &&
      !(body[0] === 0x1f && body[1] === 0x8b),
  },
];

const YEAR = 365 * 86_400;

/** The first hint that applies, if any. */
function fieldHints(request: HttpRequest, now: number, verdict: Verdict): Hint[] {
  const found = FIELD_HINTS.find(({ applies }) => applies(request, verdict, now));
  return found === undefined ? [] : [{ variant: found.variant, advice: found.advice }];
}

/** Signatures that are verified for one message with RSA-2048; a larger key gets fewer in proportion. */
const MAX_SIGNATURES = 4000;

/** `body` is the one that the digest matches, if known. */
function explainSignature(
  request: HttpRequest,
  options: VerifyOptions,
  { code, body }: { readonly code: Reason | "ok"; readonly body: Uint8Array },
): Hint | undefined {
  const received = signatureOf(request, options);
  if (received === undefined) return undefined;
  const start = startOf(request, options, received, code);
  const search = createSearch(received, options.keys);
  if (code === "alg_not_allowed" && search.matches(start)) return WRONG_ALG;
  // The likeliest first.
  const variants = [
    ...addressVariants(start),
    ...fieldVariants(start, body),
    ...keyVariants(start, options.keys),
    ...ALGORITHM_VARIANTS,
    ...SPELLING_VARIANTS,
    ...orderVariants(start),
  ];
  return explain(start, variants, search)?.hint;
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

/** Verifies each signing once. */
function createSearch({ signature }: ReceivedSignature, keys: readonly VerificationKey[]): Search<Signing> {
  const seen = new Set<string>();
  const bits = Math.max(2048, ...keys.map(({ key }) => key.asymmetricKeyDetails?.modulusLength ?? 0));
  let budget = Math.ceil((MAX_SIGNATURES * 2048) / bits);
  const isNew = (text: string, algorithm: string, key: VerificationKey): boolean =>
    seen.size !== seen.add(`${algorithm}\n${keys.indexOf(key)}\n${text}`).size;
  return {
    maxFirst: Infinity,
    isExhausted: () => budget <= 0,
    matches: (signing) => {
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

export interface TracedLine {
  /** The line exactly as in the base. */
  readonly line: string;
  readonly origin: string;
}

/** `address` says where scheme and authority were taken from. */
export function traceBase(base: string | null, request: HttpRequest, address: string): TracedLine[] {
  if (base === null) return [];
  return base.split("\n").map((line) => ({ line, origin: originOf(line, request, address) }));
}

function originOf(line: string, request: HttpRequest, address: string): string {
  const [, name = ""] = /^"([^"]*)"/.exec(line) ?? [];
  if (name.startsWith("@")) return DERIVED[name]?.(address) ?? "the request line: its target";
  const { headers } = request;
  const places = headers.flatMap(([spelled], at) => (spelled.toLowerCase() === name ? [at] : []));
  const spelled = headers[places[0] ?? 0]?.[0] ?? name;
  return `header ${places.length > 1 ? "lines" : "line"} ${places.map((at) => at + 1).join(", ")}: ${spelled}`;
}

const DERIVED: Readonly<Record<string, (address: string) => string>> = {
  "@method": () => "the request line: its method",
  "@target-uri": (address) => `scheme and authority from ${address}; the target from the request line`,
  "@authority": (address) => address,
  "@scheme": (address) => address,
  "@signature-params": () => "Signature-Input: the text after the label",
};
