/** The queue of webhooks: in order for each link, several receivers at once, repeated by a schedule until delivered. */
import { parseWebAddress } from "../../domain/addresses.ts";
import { attemptDelivery, type AttemptParts } from "./delivery-attempt.ts";

/** Milliseconds until each further attempt; after six attempts the delivery has failed. */
export const SCHEDULE: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000];

/** Simultaneous attempts at one receiver: a limit for each, so that a slow receiver delays no other. */
const PER_RECEIVER = 8;
/** Milliseconds until a webhook is posted again whose attempt could not be stored: a full disk must not post it in a loop. */
const FAULT_PAUSE = 1_000;
/** The longest wait of a Node timer, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface DeliveryParts extends AttemptParts {
  readonly faulted: (error: unknown) => void;
}

export interface Deliveries {
  /** Posts what is due; call it with the address after queueing a delivery. Reports failures, and never throws. */
  wake(url?: string): void;
  /** Resolves when no delivery is due or being posted. */
  idle(): Promise<void>;
  /** Moves the clock forwards, making each attempt at the time it is due. */
  advance(milliseconds: number): Promise<void>;
  /** Finishes the attempts in progress and starts no more; the other deliveries stay on disk. */
  close(): Promise<void>;
}

export function createDeliveries(parts: DeliveryParts): Deliveries {
  const { ledger, clock } = parts;
  /** Attempts in progress, by the receiver's origin; an origin stays in the map while deliveries wait for it. */
  const receivers = new Map(
    ledger.waitingOrigins().map((origin) => [origin, new Set<Promise<void>>()] as const),
  );
  const busyLinks = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const wake = (url?: string): void => {
    const origin = url === undefined ? undefined : (parseWebAddress(url)?.origin ?? "");
    if (origin !== undefined && !receivers.has(origin)) receivers.set(origin, new Set());
    if (closed) return;
    try {
      for (const [receiver, running] of receivers) startDue(receiver, running);
      setTimer();
    } catch (error) {
      parts.faulted(error);
    }
  };
  const startDue = (origin: string, running: Set<Promise<void>>): void => {
    while (running.size < PER_RECEIVER) {
      const delivery = ledger.nextFor(origin, clock.now().getTime(), busyLinks);
      if (delivery === undefined) return;
      busyLinks.add(delivery.linkId);
      const attempt = attemptDelivery(delivery, parts)
        .catch(async (error: unknown) => {
          parts.faulted(error);
          await new Promise((resolve) => setTimeout(resolve, FAULT_PAUSE));
        })
        .then(() => {
          running.delete(attempt);
          busyLinks.delete(delivery.linkId);
          if (running.size === 0 && !hasWaiting(origin)) receivers.delete(origin);
          wake();
        })
        .catch(parts.faulted);
      running.add(attempt);
    }
  };
  const hasWaiting = (origin: string): boolean =>
    ledger.nextFor(origin, Number.MAX_SAFE_INTEGER, NO_LINKS) !== undefined;
  const setTimer = (): void => {
    clearTimeout(timer);
    if (!clock.running) return;
    const now = clock.now().getTime();
    const due = ledger.nextDue(now);
    if (due !== undefined) timer = setTimeout(wake, Math.min(due - now, LONGEST_TIMER));
  };
  const idle = async (): Promise<void> => {
    for (let running = all(receivers); running.length > 0; running = all(receivers))
      await Promise.all(running);
  };
  return {
    wake,
    idle,
    advance: async (milliseconds) => {
      const target = clock.now().getTime() + milliseconds;
      for (;;) {
        wake();
        await idle();
        const due = ledger.nextDue(clock.now().getTime());
        if (due === undefined || due > target) break;
        clock.moveTo(new Date(due));
      }
      clock.moveTo(new Date(target));
      wake();
      await idle();
    },
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await idle();
    },
  };
}

const NO_LINKS: ReadonlySet<string> = new Set();

const all = (receivers: ReadonlyMap<string, ReadonlySet<Promise<void>>>): Promise<void>[] =>
  [...receivers.values()].flatMap((running) => [...running]);
