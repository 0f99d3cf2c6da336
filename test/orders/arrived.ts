/** The events of a history, as a receiver stores them. */
import { readRecord } from "../../src/domain/transaction.ts";
import type { NewEvent } from "../../src/events/event.ts";
import { thumbprintOf } from "../../src/signatures/thumbprint.ts";
import { KEYS, OTHER_KEYS } from "../support/keys.ts";
import { AT, genuine, verdict } from "../support/stored-events.ts";
import { bodyOf, type History, type VectorEvent } from "./vectors.ts";

const THUMBPRINTS = [KEYS, OTHER_KEYS].map(({ publicKey }) => thumbprintOf(publicKey));

/** The thumbprint of the key with this number, 1 or 2. */
export const keyOf = (key = 1): string => THUMBPRINTS[key - 1] ?? "";

/** The event as a receiver has verified it. */
export function arrived(event: VectorEvent, history: Pick<History, "number" | "keys">, id: string): NewEvent {
  const request = { ...genuine, body: bodyOf(event, history) };
  const key = verdict.key && { ...verdict.key, thumbprint: keyOf(event.key) };
  return {
    type: "event",
    id,
    receivedAt: AT,
    verdict: { ...verdict, key },
    request,
    content: readRecord(request.body),
    keys: (history.keys ?? [1, 2]).map(keyOf),
  };
}
