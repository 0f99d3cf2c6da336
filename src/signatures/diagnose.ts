/** Explains why a message does not verify: tries variants of it and names the one that matches. Accepts none of them. */

import type { HttpRequest } from "../http/message.ts";
import { explainBody } from "./explain-body.ts";
import { explainSignature } from "./explain-signature.ts";
import { fieldHints } from "./variants/field-hints.ts";
import type { Reason } from "../domain/reasons.ts";
import type { Hint, Verdict } from "./verdict.ts";
import type { VerifyOptions } from "./verify.ts";

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
    ? explainSignature(request, options, { code, body: body?.body ?? request.body })
    : undefined;
  const hints = [signature, body?.hint].flatMap((hint) => hint ?? []);
  return hints.length > 0 ? hints : fieldHints(request, options.now, verdict);
}
