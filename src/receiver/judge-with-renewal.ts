/** Judges webhooks, and renews the keys if a newer one may verify a signature. */
import type { HttpRequest } from "../http/message.ts";
import type { VerificationKey } from "../signatures/keys.ts";
import type { Reason } from "../domain/reasons.ts";
import type { Verdict } from "../signatures/verdict.ts";
import { judge, type Judgement, type JudgeOptions } from "./judge.ts";

interface RenewalOptions extends Omit<JudgeOptions, "keys" | "now"> {
  /** The keys in use now. */
  readonly keys: () => readonly VerificationKey[];
  /** Called if a newer key may verify a signature. Resolves with false if the last renewal is too recent. */
  readonly renewKeys?: (() => Promise<boolean>) | undefined;
}

/** Judges a request at a moment, which is stored with it so that it can be judged again. */
export type TimedJudge = (request: HttpRequest, now: Date) => Promise<Judgement>;

/** Renews the keys and judges again if a newer key may have made the signature. */
export function createJudge(options: RenewalOptions): TimedJudge {
  const { policy, maxBody, recordAt, unverified = false, keys, renewKeys } = options;
  const judgeAt = (request: HttpRequest, now: Date): Judgement =>
    judge(request, { keys: keys(), policy, maxBody, recordAt, unverified, now });
  return async (request, now) => {
    const judgement = judgeAt(request, now);
    if (renewKeys === undefined || !mayBeNewKey(judgement.verdict, keys())) return judgement;
    return (await renewKeys()) ? judgeAt(request, now) : judgement;
  };
}

/** The codes for a signature that no key verifies. */
const NO_KEY_VERIFIES: ReadonlySet<string> = new Set<Reason>([
  "signature_invalid",
  "key_ambiguous",
  "key_unusable",
  "alg_key_mismatch",
  "key_type_mismatch",
  "weak_key",
]);

/** If the signature or a key has no id, the only sign of a new key is that the old ones do not verify. */
const mayBeNewKey = ({ code, keyid }: Verdict, keys: readonly VerificationKey[]): boolean =>
  code === "key_not_found" ||
  (NO_KEY_VERIFIES.has(code) && (keyid === null || keys.some((key) => key.keyid === null)));
