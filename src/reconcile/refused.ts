/** The rejected webhooks that name one of some order numbers. Nothing has verified what their bodies say. */
import { comparableText } from "../values/comparable-text.ts";
import { memberOf } from "../values/json.ts";
import { parseJsonObject } from "../values/parse-json.ts";
import { readRecord, textOf } from "../domain/transaction.ts";
import type { Rejection } from "../events/event.ts";
import type { RefusedWebhook } from "./sides.ts";

/** The newest of each order number, as it is compared. */
export async function refusedOf(
  rejections: AsyncIterable<Rejection>,
  numbers: ReadonlySet<string>,
): Promise<ReadonlyMap<string, RefusedWebhook>> {
  const found = new Map<string, RefusedWebhook>();
  if (numbers.size === 0) return found;
  for await (const { id, code, receivedAt, request } of rejections) {
    const number = request === null ? undefined : claimedNumber(request.body);
    if (number !== undefined && numbers.has(number))
      found.set(number, { id, code, receivedAt: receivedAt.getTime() });
  }
  return found;
}

/** The order number that a body claims, as it is compared: of a record, or of a callback of another form. */
export function claimedNumber(body: Uint8Array): string | undefined {
  if (body.length === 0) return undefined;
  const { record } = readRecord(body);
  const reference = record === null ? undefined : textOf(record, "reference");
  const claimed = reference ?? invoiceIdIn(body);
  return typeof claimed === "string" ? comparableText(claimed) : undefined;
}

function invoiceIdIn(body: Uint8Array) {
  const object = parseJsonObject(new TextDecoder().decode(body));
  return object === undefined ? undefined : memberOf(object, "invoiceId");
}
