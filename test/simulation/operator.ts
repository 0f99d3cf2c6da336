/** The operator of a simulated world, who retries, skips, accepts and deletes at any moment. */
import { judge } from "../../src/receiver/judge.ts";
import { thumbprintsOf } from "../../src/receiver/keyring.ts";
import { readKeys } from "../../src/signatures/keys.ts";
import { DEFAULT_POLICY } from "../../src/signatures/policy.ts";
import { createEventStore, type EventDatabase, type EventStore } from "../../src/store/event-store.ts";
import type { Ordered } from "../../src/store/writes.ts";
import type { KnownPayments } from "./known.ts";
import { SERVICE_KEYS, type ServiceKey } from "./service.ts";
import type { Trace } from "./trace.ts";
import { BEGIN, type VirtualTime } from "./virtual-time.ts";

export interface OperatorParts {
  readonly database: EventDatabase;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly payments: KnownPayments;
}

export class Operator {
  readonly store: EventStore;
  readonly #parts: OperatorParts;

  constructor(parts: OperatorParts) {
    this.#parts = parts;
    this.store = createEventStore(parts.database, "operator");
  }

  /** Orders for the events of one payment, or, without it, for all that wait or failed. */
  order(order: "retry" | "skip", index?: number): void {
    const ids = index === undefined ? [] : [...this.#parts.payments.at(index).events];
    if (index !== undefined && ids.length === 0) return;
    const events: Ordered = index === undefined ? {} : { ids };
    this.#parts.trace.say(`an operator orders ${order} for ${index === undefined ? "all" : ids.join()}`);
    const keys = [SERVICE_KEYS.first, SERVICE_KEYS.next, SERVICE_KEYS.other].map((key) => key.thumbprint);
    ignoreFailure(order === "retry" ? this.store.retry(events, keys) : this.store.skip(events));
  }

  /** Accepts what was refused, as far as a key verifies it now. */
  async accept(key: ServiceKey): Promise<void> {
    const { keys } = readKeys(key.text);
    this.#parts.trace.say(`an operator accepts what was refused`);
    for await (const { id, receivedAt, request } of this.store.rejections()) {
      if (request === null) continue;
      const { verdict, content } = judge(request, { keys, policy: DEFAULT_POLICY, now: receivedAt });
      if (verdict.verdict !== "valid") continue;
      ignoreFailure(
        this.store.accept({
          type: "event",
          id,
          receivedAt,
          request,
          verdict,
          content,
          keys: thumbprintsOf(keys),
        }),
      );
    }
  }

  /** Deletes what was received so many milliseconds ago. */
  prune(age: number): void {
    const { time, trace } = this.#parts;
    trace.say(`an operator deletes what is older than ${age} ms`);
    ignoreFailure(this.store.prune(new Date(BEGIN + time.elapsed - age)));
  }
}

/** The disk may fail: the operator sees that, and nothing has changed. */
function ignoreFailure(work: Promise<unknown>): void {
  work.catch(() => undefined);
}
