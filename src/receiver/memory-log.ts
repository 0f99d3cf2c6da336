/** An event log for `--no-store`: it remembers only enough to recognise a repeated delivery, and how orders stand. */
import { isSuccess } from "../http/message.ts";
import { createHash } from "node:crypto";
import { type ForwardState, type EventLog, type NewEvent, type Stored } from "../events/event.ts";
import { recordNumber } from "../orders/order-number.ts";
import { effectiveOf, MOST_RECORDS, type Payment, paymentIn } from "../orders/order.ts";
import { isPaidTwiceWith, standingOfRecords } from "../orders/standing.ts";

/** The most events and orders to remember: repeats arrive within hours, and memory must stay bounded. */
const MAX_REMEMBERED = 100_000;

interface Remembered {
  readonly digest: string;
  readonly first: string;
  readonly number: string;
  readonly payment: Payment | undefined;
  /** How many records of its order had arrived before it. */
  readonly before: number;
  state: ForwardState | null;
  attempts: number;
}

export function createMemoryLog(): EventLog {
  const byDigest = new Map<string, Remembered>();
  const byId = new Map<string, Remembered>();
  /** The first records of each order, in the order of arrival. */
  const byNumber = new Map<string, Payment[]>();
  const remember = (one: Remembered): void => {
    const [oldest] = byDigest.values();
    if (oldest !== undefined && byDigest.size >= MAX_REMEMBERED) {
      byDigest.delete(oldest.digest);
      byId.delete(oldest.first);
    }
    byDigest.set(one.digest, one);
    byId.set(one.first, one);
    if (one.payment === undefined || one.number === "") return;
    const [eldest] = byNumber.keys();
    if (eldest !== undefined && byNumber.size >= MAX_REMEMBERED) byNumber.delete(eldest);
    const records = byNumber.get(one.number) ?? [];
    if (records.length < MOST_RECORDS) byNumber.set(one.number, effectiveOf([...records, one.payment]));
  };
  // The body contains the uti, so equal bytes are the same record.
  const digestOf = ({ request }: NewEvent): string =>
    createHash("sha256").update(request.body).digest("base64");
  const rememberedFrom = ({ id, verdict, content: { record } }: NewEvent, digest: string): Remembered => {
    const number = recordNumber(record);
    return {
      digest,
      first: id,
      number,
      // What nothing has verified pays no order.
      payment: record === null || verdict.key === null ? undefined : paymentIn(record),
      before: byNumber.get(number)?.length ?? 0,
      state: null,
      attempts: 0,
    };
  };
  /** How its order stood when it arrived. */
  const orderOf = ({ number, payment, before }: Remembered): Pick<Stored, "order" | "isPaidBefore"> => {
    if (payment === undefined || number === "") return {};
    const earlier = (byNumber.get(number) ?? []).slice(0, before);
    const order = standingOfRecords(number, [...earlier, payment]);
    return { order, ...(isPaidTwiceWith(payment, order) ? { isPaidBefore: true } : {}) };
  };
  const append: EventLog["append"] = async (event, lease) => {
    const digest = digestOf(event);
    const known = byDigest.get(digest);
    const one = known ?? rememberedFrom(event, digest);
    if (known === undefined) remember(one);
    const stored = { repeated: known !== undefined, first: one.first, ...orderOf(one) };
    if (lease === undefined || one.state === "pending" || one.state === "delivered")
      return { ...stored, state: one.state };
    one.state = "pending";
    one.attempts += 1;
    return { ...stored, state: "pending", attempt: one.attempts };
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
