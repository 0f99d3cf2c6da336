/** What a simulated world has seen of each payment: what was sent, stored, accepted and ordered, and so what may still happen. */
import type { WriteResult, Write } from "../../src/store/writes.ts";
import type { Receiver } from "./receiver.ts";
import { type Payment, paymentAt, PAYMENTS } from "./service.ts";
import type { Trace } from "./trace.ts";

/** An attempt that the application accepted while its receiver listened. */
interface Accepted {
  readonly receiver: Receiver;
  /** Its end is stored, or cannot be expected to be: the receiver crashed, or the disk failed. */
  isSettled: boolean;
  isExcused: boolean;
}

export class KnownPayment {
  readonly payment: Payment;
  isSent = false;
  isAcknowledged = false;
  /** The ids of its events: another one only for keys that no run has together. */
  readonly events = new Set<string>();
  readonly accepted: Accepted[] = [];
  /** Of its events, those that an operator has skipped, and those that were deleted. */
  readonly skipped = new Set<string>();
  readonly pruned = new Set<string>();

  constructor(payment: Payment) {
    this.payment = payment;
  }

  /** How often the application may have accepted it. */
  allowed(): number {
    return Math.max(1, this.events.size) + this.accepted.filter(({ isExcused }) => isExcused).length;
  }

  /** Whether the application has it, or never gets it. */
  isEnded(): boolean {
    return this.accepted.length + this.skipped.size + this.pruned.size > 0;
  }

  /** Those of its accepted attempts by a receiver whose end is not stored, although it could have been. */
  unsettled(receiver: Receiver): readonly Accepted[] {
    return this.accepted.filter((one) => one.receiver === receiver && !one.isSettled && !one.isExcused);
  }
}

export class KnownPayments {
  readonly all: readonly KnownPayment[] = Array.from(
    { length: PAYMENTS },
    (_, index) => new KnownPayment(paymentAt(index)),
  );
  readonly #trace: Trace;

  constructor(trace: Trace) {
    this.#trace = trace;
  }

  at(index: number): KnownPayment {
    return this.#found(this.all[index % PAYMENTS], `number ${index}`);
  }

  byUti(uti: string): KnownPayment {
    return this.#found(
      this.all.find(({ payment }) => payment.uti === uti),
      uti,
    );
  }

  /** Undefined for an event that was not stored for a webhook of the world. */
  byEvent(id: string): KnownPayment | undefined {
    return this.all.find(({ events }) => events.has(id));
  }

  #found(known: KnownPayment | undefined, name: string): KnownPayment {
    if (known === undefined) throw new Error(`no payment is ${name}`);
    return known;
  }

  /** A write is durable, and has told this. */
  stored(write: Write, told: WriteResult): void {
    if (write.type === "event" && told !== undefined && "first" in told && !told.repeated)
      this.byUti((JSON.parse(Buffer.from(write.body).toString()) as { uti: string }).uti).events.add(
        told.first,
      );
    if (write.type === "end" && write.isAccepted)
      for (const one of this.byEvent(write.claim.id)?.accepted ?? []) one.isSettled = true;
    if (write.type === "order" && Array.isArray(told))
      for (const id of told.map(String)) {
        const { skipped } = this.byEvent(id) ?? {};
        if (write.order === "skip") skipped?.add(id);
        else skipped?.delete(id);
      }
  }

  /** These events are in the store; what is missing was deleted. */
  left(ids: ReadonlySet<string>): void {
    for (const { payment, events, pruned, accepted, skipped } of this.all)
      for (const id of events) {
        if (ids.has(id) || pruned.has(id)) continue;
        pruned.add(id);
        if (accepted.length === 0 && !skipped.has(id))
          this.#trace.broken(`${payment.uti} was deleted, and never arrived`);
      }
  }

  /** The end of an attempt that cannot be written may be made again once its claim has ended. */
  failed(write: Write): void {
    if (write.type === "end" && write.isAccepted)
      for (const one of this.byEvent(write.claim.id)?.accepted ?? []) one.isExcused = true;
  }

  /** What a receiver has not stored when it crashes, another one may send again. */
  crashed(receiver: Receiver): void {
    for (const known of this.all) for (const one of known.unsettled(receiver)) one.isExcused = true;
  }
}
