/** Judges a received webhook: signature and digest first, and only then the record in its body. Renews the keys if a newer one may verify. */
import type { Reason, Warning } from "../domain/reasons.ts";
import { parseJsonObject } from "../values/parse-json.ts";
import { LateRecord, type ReadRecord } from "../domain/transaction.ts";
import { refusal, type Refusal } from "../http/refusal.ts";
import type { HttpRequest } from "../http/message.ts";
import type { VerificationKey } from "../signatures/keys.ts";
import type { Policy } from "../signatures/policy.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { verify, type VerifyOptions } from "../signatures/verify.ts";

/** Signature and digest were judged; the record has been read only if somebody asked for it. */
export interface Judgement {
  readonly verdict: Verdict;
  /** Its record is null also if the webhook is not authentic. */
  readonly content: ReadRecord;
  /** No known key verifies it, and a source of keys cannot be read: one of its keys may. */
  readonly lacksKey?: boolean;
}

/** The content of a webhook that is not read. */
export const UNREAD: ReadRecord = { record: null, violations: [], isWhole: false };

export interface JudgeOptions {
  readonly keys: readonly VerificationKey[];
  readonly policy: Policy;
  readonly now: Date;
  /** Also reads the record of a webhook that does not verify, which a receiver then accepts and marks. */
  readonly unverified?: boolean;
}

/** A signature counts whole seconds. */
export const verifyOptions = ({ keys, policy, now }: JudgeOptions): VerifyOptions => ({
  keys,
  policy,
  now: Math.floor(now.getTime() / 1000),
});

export function judge(request: HttpRequest, options: JudgeOptions): Judgement {
  const { unverified = false } = options;
  const verdict = named(verify(request, verifyOptions(options)), request);
  const isRead = verdict.verdict === "valid" || unverified;
  return { verdict, content: isRead ? new LateRecord(request.body) : UNREAD };
}

/** Bytes; such a callback has a few hundred, and unsigned content is not worth reading more. */
export const MAX_CALLBACK = 16 * 1024;

/** The members that it always has. `errorCode` may be missing from a payment that succeeded. */
const CALLBACK_MEMBERS = ["id", "amount", "currency", "invoiceId", "success", "signature"];

/** The callback of DNA's e-commerce plugins, JSON or a form, gets its own reason. Nothing else in it is read. */
function named(verdict: Verdict, { body }: HttpRequest): Verdict {
  if (verdict.code !== "unsigned" || body.length > MAX_CALLBACK) return verdict;
  const text = new TextDecoder().decode(body);
  const json = parseJsonObject(text);
  const form = new URLSearchParams(json === undefined ? text : "");
  const has = (name: string): boolean => form.has(name) || (json !== undefined && Object.hasOwn(json, name));
  if (!CALLBACK_MEMBERS.every(has) || has("uti")) return verdict;
  return {
    ...verdict,
    code: "signature_in_body",
    failure: { check: "signature-fields", detail: IN_BODY },
  };
}

const IN_BODY =
  "this is the callback of DNA's e-commerce plugins, with an HMAC in its body; a webhook of the specification has an RFC 9421 signature in its header fields";

/** Why a webhook that does not verify is refused. */
export const refusedAs = ({
  verdict: { code, failure },
  lacksKey = false,
}: Judgement): Refusal<Reason | "not_reached"> =>
  lacksKey
    ? refusal("not_reached", `${failure?.detail ?? code}, and a source of keys cannot be read now`)
    : refusal(code === "ok" ? "signature_invalid" : code, failure?.detail ?? "");

export const warned = (verdict: Verdict, warning: Warning): Verdict => ({
  ...verdict,
  warnings: [...verdict.warnings, warning],
});

export interface RenewalOptions extends Omit<JudgeOptions, "keys" | "now"> {
  /** Resolves with the keys in use now. */
  readonly keys: () => Promise<readonly VerificationKey[]>;
  /** Called if a newer key may verify a signature. Resolves with false if the last renewal is too recent. */
  readonly renewKeys?: (() => Promise<boolean>) | undefined;
  /** Whether a source of keys cannot be read now. */
  readonly lacksKeys?: (() => boolean) | undefined;
}

/** Judges a request at a moment, which is stored with it so that it can be judged again. */
export type TimedJudge = (request: HttpRequest, now: Date) => Promise<Judgement>;

/** Renews the keys and judges again if no known key verifies the signature: a new key may, also one that replaces another under its id. */
export function createJudge(options: RenewalOptions): TimedJudge {
  const { policy, unverified = false, keys, renewKeys, lacksKeys } = options;
  const judgeNow = async (request: HttpRequest, now: Date): Promise<Judgement> =>
    judge(request, { keys: await keys(), policy, now, unverified });
  return async (request, now) => {
    const known = await judgeNow(request, now);
    if (!isForOtherKey(known) || renewKeys === undefined) return known;
    const judgement = (await renewKeys()) ? await judgeNow(request, now) : known;
    return isForOtherKey(judgement) && lacksKeys?.() === true ? { ...judgement, lacksKey: true } : judgement;
  };
}

/** The codes for a signature that no key verifies. */
const NO_KEY_VERIFIES: ReadonlySet<string> = new Set<Reason>([
  "key_not_found",
  "signature_invalid",
  "key_unusable",
  "alg_key_mismatch",
  "key_type_mismatch",
  "weak_key",
]);

const isForOtherKey = ({ verdict: { code } }: Judgement): boolean => NO_KEY_VERIFIES.has(code);
