/** What a rejected webhook is worth keeping: those that `accept` can make an event of are kept before others. */
import { findWrapped } from "../values/json.ts";
import { parseJsonObject } from "../values/parse-json.ts";
import { isRecord } from "../domain/transaction.ts";
import { fieldLines, type HttpRequest } from "../http/message.ts";
import type { Rejection } from "../events/event.ts";
import { checkDigest } from "../signatures/digest.ts";

/** From the least to the most. A sender without a key can make all but the last. */
export const WORTH = { unsigned: 0, signed: 1, record: 2, verified: 3 } as const;

export type Worth = (typeof WORTH)[keyof typeof WORTH];

/** Requests without a signature that are not webhooks of a service: health checks, and scanners that try other paths. */
const OF_OTHERS: ReadonlySet<string> = new Set(["not_found", "method_not_allowed"]);

/** Whether it may have been a webhook, perhaps with its signature lost on the way. */
export const mayBeWebhook = ({ worth, code }: { readonly worth: number; readonly code: string }): boolean =>
  worth > WORTH.unsigned || !OF_OTHERS.has(code);

/** Bytes. A record has a few thousand, and unverified content is not worth reading more. */
const MOST_READ = 16 * 1024;

/** Never throws. `isKept`: whether its body is stored. */
export function worthOf(
  { request, verdict }: Pick<Rejection, "request" | "verdict">,
  isKept: boolean,
): Worth {
  if (request === null || fieldLines(request.headers, "signature").length === 0) return WORTH.unsigned;
  if (!isKept) return WORTH.signed;
  if (verdict?.verdict === "valid") return WORTH.verified;
  return hasRecord(request) ? WORTH.record : WORTH.signed;
}

function hasRecord({ headers, body }: HttpRequest): boolean {
  if (body.length > MOST_READ || !checkDigest(headers, body).ok) return false;
  const document = parseJsonObject(new TextDecoder().decode(body));
  return document !== undefined && findWrapped(document, isRecord).length > 0;
}
