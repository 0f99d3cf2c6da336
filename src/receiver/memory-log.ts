/** An event log for `--no-store`: it remembers only enough to recognise a repeated delivery. */
import { isSuccess } from "../http/message.ts";
import { createHash } from "node:crypto";
import { outcomeOf, textOf } from "../domain/transaction.ts";
import { type DeliveryState, type EventLog, type NewEvent } from "../events/event.ts";

/** The most events to remember: repeats arrive within hours, and memory must stay bounded. */
const MAX_REMEMBERED = 100_000;

interface Remembered {
  readonly digest: string;
  readonly first: string;
  readonly isPaidBefore: boolean;
  state: DeliveryState | null;
  attempts: number;
}

export function createMemoryLog(): EventLog {
  const byDigest = new Map<string, Remembered>();
  const byId = new Map<string, Remembered>();
  /** The uti of the payment that first paid an order, by its reference. */
  const paidBy = new Map<string, string>();
  const isPaidBefore = ({ content: { record } }: NewEvent): boolean => {
    const [reference, uti] = [record && textOf(record, "reference"), record && textOf(record, "uti")];
    if (!reference || !uti || outcomeOf(record) !== "APPROVED") return false;
    const first = paidBy.get(reference) ?? uti;
    const [oldest] = paidBy.keys();
    if (oldest !== undefined && paidBy.size >= MAX_REMEMBERED) paidBy.delete(oldest);
    paidBy.set(reference, first);
    return first !== uti;
  };
  const remember = (one: Remembered): void => {
    const [oldest] = byDigest.values();
    if (oldest !== undefined && byDigest.size >= MAX_REMEMBERED) {
      byDigest.delete(oldest.digest);
      byId.delete(oldest.first);
    }
    byDigest.set(one.digest, one);
    byId.set(one.first, one);
  };
  // The body contains the uti, so equal bytes are the same record.
  const digestOf = ({ request }: NewEvent): string =>
    createHash("sha256").update(request.body).digest("base64");
  const append: EventLog["append"] = async (event, lease) => {
    const { id } = event;
    const digest = digestOf(event);
    const known = byDigest.get(digest);
    const one = known ?? {
      digest,
      first: id,
      isPaidBefore: isPaidBefore(event),
      state: null,
      attempts: 0,
    };
    if (known === undefined) remember(one);
    const repeated = known !== undefined;
    if (lease === undefined || one.state === "pending" || one.state === "delivered")
      return { repeated, first: one.first, state: one.state, isPaidBefore: one.isPaidBefore };
    one.state = "pending";
    one.attempts += 1;
    return {
      repeated,
      first: one.first,
      state: "pending",
      attempt: one.attempts,
      isPaidBefore: one.isPaidBefore,
    };
  };
  return {
    append,
    // A webhook that the application refused is not stored anywhere, so acknowledging it would lose it.
    again: async (event) => {
      const state = byDigest.get(digestOf(event))?.state;
      return state === null || state === "delivered" ? append(event) : undefined;
    },
    reject: async () => undefined,
    ended: async ({ id, attempt }, { status }) => {
      const one = byId.get(id);
      if (one?.attempts === attempt) one.state = isSuccess(status) ? "delivered" : "failed";
    },
  };
}
