/** Deliveries of webhooks: from the queue on disk, in order for each link, tried again by a schedule, at least once. */
import { isLoopback, parseWebAddress } from "../domain/web-address.ts";
import type { Send } from "../http/exchange.ts";
import type { Clock } from "./clock.ts";
import { isDropped, type Fault } from "./faults.ts";
import type { Attempt, Delivery, DeliveryState, Ledger } from "./ledger.ts";
import type { SigningKeys } from "./signing-keys.ts";
import { signedWebhook } from "./webhook.ts";

/** Milliseconds until each further attempt: six attempts in all, then the delivery has failed. */
export const SCHEDULE: readonly number[] = [5_000, 30_000, 120_000, 600_000, 3_600_000];

/** How long the receiver may take, in milliseconds. */
const PATIENCE = 10_000;
/** Attempts under way at one receiver; each has its own, so that a slow one holds up nobody else. */
const PER_RECEIVER = 8;
/** How much of an answer's body is kept. */
const KEPT_ANSWER = 2_000;
/** The longest that a timer of Node can wait, in milliseconds. */
const LONGEST_TIMER = 2 ** 31 - 1;

export interface AttemptReport {
  readonly delivery: Delivery;
  readonly attempt: number;
  /** The receiver's status; null where no answer came. */
  readonly status: number | null;
  readonly detail: string;
  readonly state: DeliveryState;
}

export interface DeliveryParts {
  readonly ledger: Ledger;
  readonly keys: SigningKeys;
  readonly send: Send;
  readonly clock: Clock;
  /** What a signature's `created` says: receivers judge it by their own clocks, whatever the sandbox's shows. */
  readonly machineNow: () => Date;
  readonly allowRemote: boolean;
  readonly schedule: readonly number[];
  readonly fault: Fault | undefined;
  readonly report: (report: AttemptReport) => void;
  readonly faulted: (error: unknown) => void;
}

export interface Deliveries {
  /** Posts what is due; to be called when something was queued for an address. */
  wake(url?: string): void;
  /** Resolves when nothing is due or under way. */
  idle(): Promise<void>;
  /** Moves the clock, stopping at each attempt that falls due on the way. */
  advance(milliseconds: number): Promise<void>;
  /** Lets the attempts under way finish and starts no other; the rest stays on disk. */
  close(): Promise<void>;
}

export function createDeliveries(parts: DeliveryParts): Deliveries {
  const { ledger, clock } = parts;
  const origins = new Set(ledger.waitingOrigins());
  const busyLinks = new Set<string>();
  const underWay = new Map<string, Set<Promise<void>>>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const wake = (url?: string): void => {
    if (url !== undefined) origins.add(parseWebAddress(url)?.origin ?? "");
    if (closed) return;
    for (const origin of origins) startDue(origin);
    setTimer();
  };
  const startDue = (origin: string): void => {
    const running = underWay.get(origin) ?? new Set();
    underWay.set(origin, running);
    while (running.size < PER_RECEIVER) {
      const delivery = ledger.nextFor(origin, clock.now().getTime(), busyLinks);
      if (delivery === undefined) return;
      busyLinks.add(delivery.linkId);
      const attempt = attemptDelivery(delivery, parts)
        .catch(parts.faulted)
        .then(() => {
          running.delete(attempt);
          busyLinks.delete(delivery.linkId);
          wake();
        });
      running.add(attempt);
    }
  };
  const setTimer = (): void => {
    clearTimeout(timer);
    if (!clock.running) return;
    const now = clock.now().getTime();
    const due = ledger.nextDue(now);
    if (due !== undefined) timer = setTimeout(wake, Math.min(due - now, LONGEST_TIMER));
  };
  const idle = async (): Promise<void> => {
    for (let running = all(underWay); running.length > 0; running = all(underWay)) await Promise.all(running);
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

const all = (underWay: ReadonlyMap<string, ReadonlySet<Promise<void>>>): Promise<void>[] =>
  [...underWay.values()].flatMap((running) => [...running]);

/** A kill between the POST and the commit repeats the attempt: at least once, never less. */
async function attemptDelivery(delivery: Delivery, parts: DeliveryParts): Promise<void> {
  const { ledger, clock, schedule, report } = parts;
  const outcome = await post(delivery, parts);
  const { status, detail } = outcome;
  const delivered = status !== null && status >= 200 && status < 300;
  const wait = schedule[delivery.tries];
  const state = delivered ? "delivered" : wait === undefined ? "failed" : "waiting";
  const at = clock.now();
  const number = delivery.attempts + 1;
  const attempt = { deliveryId: delivery.id, number, at, ...outcome };
  await ledger.write(() => ledger.addAttempt(attempt, state, at.getTime() + (wait ?? 0)));
  report({ delivery, attempt: number, status, detail, state });
}

type Outcome = Pick<Attempt, "headers" | "base" | "status" | "answer" | "detail">;

async function post(delivery: Delivery, parts: DeliveryParts): Promise<Outcome> {
  const unsent = { headers: [], base: "", status: null, answer: "" };
  const url = parseWebAddress(delivery.url);
  if (url === undefined) return { ...unsent, detail: "not an absolute http or https URL" };
  if (!parts.allowRemote && !isLoopback(url.hostname))
    return { ...unsent, detail: "not on this machine; the sandbox posts to loopback only" };
  const { request, base } = signedWebhook(url, delivery.body, parts.keys.current(), parts.machineNow());
  const sent = { headers: request.headers, base };
  if (isDropped(delivery, parts.fault))
    return { ...sent, status: null, answer: "", detail: "lost on its way, as --deliver drop-first asks" };
  try {
    const { status, body } = await parts.send(request, { timeout: PATIENCE });
    const answer = new TextDecoder().decode(body).slice(0, KEPT_ANSWER);
    return { ...sent, status, answer, detail: `answered ${status}` };
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    return { ...sent, status: null, answer: "", detail };
  }
}
