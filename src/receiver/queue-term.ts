/** One forwarder's term at the queue: while it has the lease, it makes first attempts and retries, and renews the lease. */
import { messageOf } from "../domain/errors.ts";
import type { DamagedEvent, ForwardQueue, Queued, StoredEvent } from "./event-store.ts";
import { isAccepted, type Forward } from "./events.ts";
import { forward, type ForwardOptions } from "./forward.ts";

/** Milliseconds. */
export interface LeaseTimes {
  /** Another forwarder takes over so long after the last renewal of one that died. */
  readonly duration: number;
  readonly renewEvery: number;
  /** Between two tries to take over. */
  readonly askEvery: number;
}

/** Milliseconds between two looks at the queue for events that other receivers stored, or while the store fails. */
const LOOK_EVERY = 1_000;
/** Milliseconds between two looks for retries at most: clocks may be set. */
const LONGEST_WAIT = 60_000;
/** Retries under way at the same time, each with its event in memory: one that hangs must not hold up all others. */
const RETRIES_AT_ONCE = 8;

/** What an attempt was, and what follows from it. */
export interface Progress {
  readonly attempt: number;
  readonly state: Queued["state"] | "delivered";
  /** When the next attempt is due; null where none follows. */
  readonly next: Date | null;
}

export interface TermParts extends ForwardOptions {
  readonly queue: ForwardQueue;
  readonly targetOf: (event: StoredEvent) => URL | undefined;
  /** Milliseconds before each retry. */
  readonly delays: readonly number[];
  readonly observe: (event: Waiting, forward: Forward, progress: Progress) => void;
  readonly pause: Pause;
  readonly warn: (text: string) => void;
  readonly lease: LeaseTimes;
}

type Waiting = StoredEvent | DamagedEvent;

/** Resolves after so many milliseconds, or as soon as the signal fires. */
export type Pause = (milliseconds: number, until: AbortSignal) => Promise<void>;

export interface Alarms {
  readonly term: Alarm;
  readonly first: Alarm;
  readonly retry: Alarm;
}

interface Work {
  readonly alarms: Alarms;
  readonly store: StoreAccess;
  readonly closing: AbortSignal;
}

/** Works on the queue until the lease is lost or the forwarder is closed. */
export async function serveTerm(
  epoch: number,
  parts: TermParts,
  { alarms, store, closing }: Work,
): Promise<void> {
  const { queue, now, delays, observe, pause, warn, lease } = parts;
  let isLost = false;
  const done = new AbortController();
  const goesOn = (): boolean => !isLost && !closing.aborted;

  /** Another attempt must not be made because this one could not be recorded. */
  const record = async (event: Waiting, made: Forward, retryAfter: number | undefined): Promise<void> => {
    const write = async (): Promise<true> => {
      await queue.attempted(epoch, event, made, retryAfter);
      return true;
    };
    while (!(await store.read(write, false)) && goesOn()) await pause(LOOK_EVERY, closing);
  };
  const attempt = async (event: Waiting): Promise<void> => {
    const made = await forwardWaiting(event, parts);
    const before = event.queued?.attempts ?? 0;
    const mayRetry = event.type === "event" && !isAccepted(made.status);
    const retryAfter = mayRetry ? delays[before] : undefined;
    await record(event, made, retryAfter);
    if (event.type === "damaged") warn(damageWords(event));
    observe(event, made, progressOf(made, before + 1, retryAfter, now()));
    if (retryAfter !== undefined) alarms.retry.ring();
  };
  const next = (kind: "first" | "retry", limit: number): Promise<Waiting[]> =>
    store.read(() => queue.next(epoch, kind, limit), []);
  /** One after the other: the application gets them in order of arrival. */
  const makeFirstAttempts = async (): Promise<void> => {
    while (goesOn()) {
      const [event] = await next("first", 1);
      if (event === undefined) await alarms.first.wait(LOOK_EVERY);
      else await attempt(event);
    }
  };
  const retry = async (): Promise<void> => {
    while (goesOn()) {
      const due = await next("retry", RETRIES_AT_ONCE);
      await Promise.all(due.map(attempt));
      if (due.length > 0) continue;
      const wait = (await store.read(() => queue.untilRetry(), undefined)) ?? LONGEST_WAIT;
      await alarms.retry.wait(wait > 0 ? Math.min(wait, LONGEST_WAIT) : LOOK_EVERY);
    }
  };
  /** Also while the last attempts are under way. */
  const renew = async (): Promise<void> => {
    let renewedAt = now().getTime();
    while (!done.signal.aborted && !isLost) {
      await alarms.term.wait(lease.renewEvery);
      const asked = now().getTime();
      const renewed = await store.read(() => queue.lease(lease.duration), null);
      if (renewed !== null) store.recovered();
      if (renewed === epoch) renewedAt = asked;
      isLost = renewed === null ? now().getTime() - renewedAt >= lease.duration : renewed !== epoch;
    }
    alarms.first.ring();
    alarms.retry.ring();
  };
  const work = async (): Promise<void> => {
    await Promise.all([makeFirstAttempts(), retry()]);
    done.abort();
    alarms.term.ring();
  };
  await Promise.all([work(), renew()]);
  await store.read(() => queue.release(epoch), undefined);
}

const progressOf = (
  { status }: Forward,
  attempt: number,
  retryAfter: number | undefined,
  now: Date,
): Progress => ({
  attempt,
  state: isAccepted(status) ? "delivered" : retryAfter === undefined ? "failed" : "pending",
  next: retryAfter === undefined ? null : new Date(now.getTime() + retryAfter),
});

/** The targets may be others than those that the event was stored with. */
async function forwardWaiting(event: Waiting, parts: TermParts): Promise<Forward> {
  if (event.type === "damaged") return notSent(parts.now(), `the stored event is damaged: ${event.reason}`);
  const url = parts.targetOf(event);
  if (url !== undefined) return forward(event, url, parts);
  const kind = event.outcome === "" ? "webhooks without a record" : event.outcome;
  return notSent(parts.now(), `--forward-to names no target for ${kind}`);
}

const notSent = (at: Date, reason: string): Forward => {
  const detail = `not sent: ${reason}`;
  return { at, target: "", status: null, ms: 0, detail };
};

const damageWords = ({ id, uti, reason }: DamagedEvent): string =>
  `The stored event ${id} is damaged (${reason}). It was not forwarded, is marked as failed, and the service does not send it again. To read the payment from the service: paylink transaction ${uti}`;

export interface StoreAccess {
  /** What the store gives; `instead` where it fails. */
  readonly read: <T>(ask: () => Promise<T>, instead: T) => Promise<T>;
  /** It can be written again. */
  readonly recovered: () => void;
}

/** Says once what is wrong with the store, until something else is. */
export function createStoreAccess(warn: (text: string) => void): StoreAccess {
  let said: string | undefined;
  return {
    read: async (ask, instead) => {
      try {
        return await ask();
      } catch (error) {
        const reason = messageOf(error);
        if (reason !== said) warn(`Webhooks that are acknowledged wait to be forwarded: ${reason}`);
        said = reason;
        return instead;
      }
    },
    recovered: () => (said = undefined),
  };
}

export interface Alarm {
  readonly ring: () => void;
  /** Waits so long, or until it rings; not at all where it rang since the last time. */
  readonly wait: (milliseconds: number) => Promise<void>;
}

export function createAlarm(pause: Pause): Alarm {
  let ringing = new AbortController();
  return {
    ring: () => ringing.abort(),
    wait: async (milliseconds) => {
      await pause(milliseconds, ringing.signal);
      ringing = new AbortController();
    },
  };
}
