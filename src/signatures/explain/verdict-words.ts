/** A verdict in sentences, and the text that was signed. */
import type { HttpRequest } from "../../http/message.ts";
import { receivedBase } from "../base.ts";
import { checkDigest } from "../digest.ts";
import { ALGORITHM, LABEL } from "../policy.ts";
import { VerificationProgress } from "../progress.ts";
import { readSignature, type ReceivedSignature } from "../received.ts";
import { CHECKS, type CheckName, type Verdict, type VerifyingKey } from "../verdict.ts";

/** One check and its result. A check that was not reached is not listed. */
export interface CheckResult {
  /** Its name, such as `freshness` or `content-digest`. */
  readonly check: string;
  readonly ok: boolean;
  /** What was found, for people: its words may change. */
  readonly detail: string;
}

/** What was judged, and when, in Unix seconds. */
interface JudgedRequest {
  readonly verdict: Pick<Verdict, "keyid" | "created" | "covered" | "warnings" | "key" | "failure">;
  readonly request: HttpRequest;
  readonly now: number;
}

const CHECK_NAMES = Object.keys(CHECKS).filter((name): name is CheckName => Object.hasOwn(CHECKS, name));

/** The checks in order, up to the first that failed. */
export function checksOf(judged: JudgedRequest): CheckResult[] {
  const { failure } = judged.verdict;
  const at = CHECK_NAMES.findIndex((name) => name === failure?.check);
  const passed = failure === null ? CHECK_NAMES : CHECK_NAMES.slice(0, Math.max(0, at));
  const received = receivedSignature(judged.request);
  const checks = passed.map((check) => ({ check, ok: true, detail: PASSED[check]({ ...judged, received }) }));
  return failure === null ? checks : [...checks, { ...failure, ok: false }];
}

interface CheckFacts extends JudgedRequest {
  /** Undefined where it could not be read. */
  readonly received: ReceivedSignature | undefined;
}

const PASSED: Readonly<Record<CheckName, (facts: CheckFacts) => string>> = {
  "signature-fields": () => "Signature-Input and Signature are present",
  "signature-input": () => "a dictionary",
  signature: () => "a dictionary",
  labels: () => `${LABEL} is in both fields`,
  components: ({ verdict: { covered, warnings } }) =>
    `${covered.length} covered${warnings.includes("non_canonical_signature_input") ? "; white space differs from the canonical form" : ""}`,
  "signature-bytes": ({ received }) => `${received?.signature.length ?? 0} bytes`,
  parameters: ({ received }) => received?.parameters.join(", ") || "none",
  coverage: () => "content-digest and all required components are covered",
  freshness: ({ verdict: { created }, now }) => {
    if (created === null) return "no created time";
    return created > now ? `created ${created - now} s ahead` : `created ${now - created} s ago`;
  },
  key: ({ verdict: { key, keyid } }) => keyWords(key, keyid),
  algorithm: () => ALGORITHM,
  "signature-base": ({ verdict: { covered } }) => `${covered.length + 1} lines`,
  "key-strength": ({ verdict: { key } }) =>
    key === null ? "RSA of 2048 bits or more" : `RSA of ${key.bits} bits`,
  "signature-value": ({ verdict: { key, keyid } }) => `${ALGORITHM} verifies with ${keyWords(key, keyid)}`,
  "content-digest": ({ request: { headers, body } }) => {
    const digest = checkDigest(headers, body);
    return `${digest.ok ? digest.verified.join(", ") : ""} over ${body.length} bytes`;
  },
};

function keyWords(key: VerifyingKey | null, named: string | null): string {
  const keyid = key === null ? named : key.keyid;
  if (keyid !== null) return `key ${keyid}`;
  return key === null ? "the configured keys" : `configured key ${key.number}, which has no id`;
}

/** The signature of a request; undefined where it cannot be read. */
export function receivedSignature({ headers }: HttpRequest): ReceivedSignature | undefined {
  try {
    return readSignature(headers, new VerificationProgress());
  } catch {
    return undefined;
  }
}

/** The text that was signed, as rebuilt from the message (RFC 9421 2.5); null where the verification did not get to it. */
export function baseOf({ verdict: { failure }, request }: Omit<JudgedRequest, "now">): string | null {
  const reached = failure === null || CHECK_NAMES.findIndex((name) => name === failure.check) > BASE;
  const received = reached ? receivedSignature(request) : undefined;
  return received === undefined ? null : receivedBase(received, request);
}

const BASE = CHECK_NAMES.indexOf("signature-base");
