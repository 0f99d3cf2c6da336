/** One forwarder's term at the queue: while it has the lease, it makes first attempts and retries, and renews the lease. */
import { messageOf } from "../domain/errors.ts";
import type { DamagedEvent, ForwardQueue, Queued, StoredEvent } from "./event-store.ts";
import { type Forward, isAccepted } from "./events.ts";
import { forward, type ForwardOptions } from "./forward.ts";

/** Milliseconds. */
export interface LeaseTimes {
  /** How long after its last renewal the lease of a dead forwarder ends. */
  readonly duration: number;
  readonly renewEvery: number;
  /** Between two tries to take over. */
  readonly askEvery: number;
}

/** Milliseconds between checks of the queue for events that other receivers stored, and while the store fails. */
const CHECK_EVERY = 1_000;
/** The most milliseconds between checks for retries: clocks may be set. */
const LONGEST_WAIT = 60_000;
/** Retries in progress at the same time, each with its event in memory: one that hangs must not delay all others. */
const RETRIES_AT_ONCE = 8;

/** An attempt and its consequence. */
export interface Progress {
  readonly attempt: number;
  readonly state: Queued["state"] | "delivered";
  /** When the next attempt is due; null without a next attempt. */
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
  const isActive = (): boolean => !isLost && !closing.aborted;

  /** Another attempt must not be made because this one could not be recorded. */
  const record = async (event: Waiting, made: Forward, retryAfter: number | undefined): Promise<void> => {
    const write = async (): Promise<true> => {
      await queue.attempted(epoch, event, made, retryAfter);
      return true;
    };
    while (!(await store.read(write, false)) && isActive()) await pause(CHECK_EVERY, closing);
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
  /** One at a time, so that the application gets them in order of arrival. */
  const makeFirstAttempts = async (): Promise<void> => {
    while (isActive()) {
      const [event] = await next("first", 1);
      if (event === undefined) await alarms.first.wait(CHECK_EVERY);
      else await attempt(event);
    }
  };
  const retry = async (): Promise<void> => {
    while (isActive()) {
      const due = await next("retry", RETRIES_AT_ONCE);
      await Promise.all(due.map(attempt));
      if (due.length > 0) continue;
      const wait = (await store.read(() => queue.untilRetry(), undefined)) ?? LONGEST_WAIT;
      await alarms.retry.wait(wait > 0 ? Math.min(wait, LONGEST_WAIT) : CHECK_EVERY);
    }
  };
  /** Goes on while the last attempts are in progress. */
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
  /** The result of `ask`; `instead` if the store fails. */
  readonly read: <T>(ask: () => Promise<T>, instead: T) => Promise<T>;
  /** The store can be written again. */
  readonly recovered: () => void;
}

/** Warns once about a failure of the store, and again if the reason changes. */
export function createStoreAccess(warn: (text: string) => void): StoreAccess {
  let reported: string | undefined;
  return {
    read: async (ask, instead) => {
      try {
        return await ask();
      } catch (error) {
        const reason = messageOf(error);
        if (reason !== reported) warn(`Acknowledged webhooks wait to be forwarded: ${reason}`);
        reported = reason;
        return instead;
      }
    },
    recovered: () => (reported = undefined),
  };
}

export interface Alarm {
  readonly ring: () => void;
  /** Resolves after the time, or once it rings; at once if it has rung since the last wait. */
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
