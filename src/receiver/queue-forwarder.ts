/** Forwards acknowledged events from the queue of the event store: first attempts, retries, and claims on what it works on. */
import { messageOf } from "../domain/system-reason.ts";
import type { Claimed, DamagedEvent, ForwardQueue, StoredEvent } from "./event-store.ts";
import { isAccepted, type Forward, type WebhookEvent } from "./events.ts";
import { forward, type Forwarder, type ForwardOptions, replyFor } from "./forward.ts";
import { type Allowed, type Answer, createTargetPauses } from "./target-pauses.ts";

/** Milliseconds after which other forwarders take over the events of a dead one. */
const CLAIM = 20_000;
/** Milliseconds between looks at the queue, for events that other receivers stored and to renew claims. */
const LOOK_EVERY = 1_000;
/** Milliseconds between looks for retries that a clock which was ahead has planned. */
const CHECK_EVERY = 60_000;
/** The most bytes of the bodies in memory: that of one event where it is larger. */
const MOST_BYTES = 32 * 1024 * 1024;

/** An attempt and its consequence. */
export interface Progress {
  readonly attempt: number;
  readonly state: "pending" | "failed" | "delivered";
  /** When the next attempt is due; null without a next attempt. */
  readonly next: Date | null;
}

type Waiting = StoredEvent | DamagedEvent;

/** Resolves after so many milliseconds, or as soon as the signal fires. */
type Pause = (milliseconds: number, until: AbortSignal) => Promise<void>;

export interface QueueForwarderParts extends ForwardOptions {
  readonly queue: ForwardQueue;
  /** Whether a new event is to be forwarded. */
  readonly forwards: (event: WebhookEvent) => boolean;
  readonly targetOf: (event: StoredEvent) => URL | undefined;
  /** All that `targetOf` can give. */
  readonly targets: readonly URL[];
  /** The most attempts at the same time: one that hangs must not delay the others. */
  readonly concurrency: number;
  /** Milliseconds before each retry. */
  readonly delays: readonly number[];
  readonly observe: (event: Waiting, forward: Forward, progress: Progress) => void;
  readonly pause: Pause;
  readonly warn: (text: string) => void;
  /** Milliseconds that a claim lasts. */
  readonly claim?: number;
}

export interface QueueForwarder extends Forwarder {
  readonly start: () => void;
  /** Finishes the attempts in progress; the rest is left to other forwarders. */
  readonly close: () => Promise<void>;
}

export function createQueueForwarder(parts: QueueForwarderParts): QueueForwarder {
  const { queue, concurrency, forwards, delays, observe, now, pause, warn, claim: duration = CLAIM } = parts;
  const closing = new AbortController();
  const alarm = createAlarm(pause);
  const ask = warnOfFailures(warn);
  const pauses = createTargetPauses(parts);
  /** The bytes of the events under way, and how many of those are being sent. */
  const held = new Map<string, number>();
  let sending = 0;
  let checked: number | undefined;

  /** The delays, if it is time to hold the planned retries to them: at first, and when the clock was set back. */
  const delaysToCheck = (): readonly number[] | undefined => {
    const time = now().getTime();
    if (checked !== undefined && checked <= time && time < checked + CHECK_EVERY) return undefined;
    checked = time;
    return delays;
  };
  /** Another attempt must not be made because this one could not be recorded. */
  const record = async (event: Waiting, made: Forward, retryAfter: number | undefined): Promise<void> => {
    const write = async (): Promise<true> => {
      await queue.attempted(event, made, retryAfter);
      return true;
    };
    while (!(await ask(event.id, write, false)) && !closing.signal.aborted)
      await pause(LOOK_EVERY, closing.signal);
  };
  const attempt = async (event: Waiting, to: Destination): Promise<void> => {
    const made =
      event.type === "damaged" || to.url === undefined
        ? notSent(now(), event)
        : await forward(event, to.url, parts);
    to.end(made);
    const before = event.queued?.attempts ?? 0;
    const mayRetry = event.type === "event" && !isAccepted(made.status);
    const retryAfter = mayRetry ? delays[before] : undefined;
    const recorded = record(event, made, retryAfter);
    // The next claim is written together with this attempt.
    sending -= 1;
    alarm.ring();
    await recorded;
    held.delete(event.id);
    if (event.type === "damaged") warn(damageWords(event));
    observe(event, made, {
      attempt: before + 1,
      state: isAccepted(made.status) ? "delivered" : retryAfter === undefined ? "failed" : "pending",
      next: retryAfter === undefined ? null : new Date(now().getTime() + retryAfter),
    });
    alarm.ring();
  };
  /** Undefined while the target is in a pause. The targets may be others than those that the event was stored with. */
  const destinationOf = (event: Waiting): Destination | undefined => {
    const url = event.type === "damaged" ? undefined : parts.targetOf(event);
    if (url === undefined) return { url, end: () => undefined };
    const end = pauses.begin(url, (event.queued?.attempts ?? 0) === 0);
    return end && { url, end };
  };
  const claim = async (allowed: Allowed): Promise<Claimed> => {
    const bytes = MOST_BYTES - [...held.values()].reduce((sum, one) => sum + one, 0);
    // While the attempts made cannot be recorded, they are held besides those that are being sent.
    const most = Math.min(concurrency - sending, 2 * concurrency - held.size);
    const limit = closing.signal.aborted || bytes <= 0 ? 0 : Math.min(most, allowed.limit);
    if (limit === 0 && held.size === 0) return NOTHING;
    const wanted = {
      limit,
      firsts: allowed.firsts,
      bytes,
      duration,
      held: [...held.keys()],
      delays: delaysToCheck(),
    };
    return ask("claim", () => queue.claim(wanted), NOTHING);
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted || held.size > 0) {
      const allowed = pauses.allowed();
      const { events, nextDue = LOOK_EVERY, failed } = await claim(allowed);
      if (failed > 0) warn(givenUpWords(failed));
      for (const event of events) {
        const to = destinationOf(event);
        // Its target is in a pause that others are not in: it comes back when the claim ends.
        if (to === undefined) alarm.ring();
        else {
          held.set(event.id, sizeOf(event));
          sending += 1;
          void attempt(event, to);
        }
      }
      if (!closing.signal.aborted || held.size > 0)
        await alarm.wait(Math.min(nextDue, allowed.next, LOOK_EVERY));
    }
  };
  let running: Promise<void> | undefined;
  return {
    plan: (event) => (forwards(event) ? "queue" : undefined),
    forward: async () => {
      if (sending < concurrency) alarm.ring();
      return QUEUED;
    },
    start: () => void (running ??= run()),
    close: async () => {
      closing.abort();
      alarm.ring();
      await running;
    },
  };
}

const QUEUED = replyFor(200, 'details="stored; the answer of the application comes later"');

const NOTHING: Claimed = { events: [], nextDue: undefined, failed: 0 };

/** Where an event goes, and what the end of its attempt tells about the target. */
interface Destination {
  /** Undefined if it cannot be sent. */
  readonly url: URL | undefined;
  readonly end: (answer: Answer) => void;
}

function notSent(at: Date, event: Waiting): Forward {
  const reason =
    event.type === "damaged"
      ? `the stored event is damaged: ${event.reason}`
      : `--forward-to names no target for ${event.outcome}`;
  return { at, target: "", status: null, ms: 0, detail: `not sent: ${reason}` };
}

const sizeOf = (event: Waiting): number => (event.type === "damaged" ? 0 : event.request.body.length);

const givenUpWords = (failed: number): string =>
  `${failed === 1 ? "1 webhook has" : `${failed} webhooks have`} failed: ${failed === 1 ? "it has" : "they have"} had all attempts that --retry allows now. To see which: paylink events list --failed`;

const damageWords = ({ id, uti, reason }: DamagedEvent): string =>
  `The stored event ${id} is damaged (${reason}). It was not forwarded, is marked as failed, and the service does not send it again. To read the payment from the service: paylink transaction ${uti}`;

/**
 * Asks the store, and gives `instead` where it fails; `what` tells one question from another. Warns once about a failure, and
 * again if the reason changes, or everything has succeeded meanwhile.
 */
function warnOfFailures(warn: (text: string) => void) {
  const failing = new Set<string>();
  let reported: string | undefined;
  return async <T>(what: string, question: () => Promise<T>, instead: T): Promise<T> => {
    try {
      const answer = await question();
      failing.delete(what);
      if (failing.size === 0) reported = undefined;
      return answer;
    } catch (error) {
      failing.add(what);
      const reason = messageOf(error);
      if (reason !== reported) warn(`Acknowledged webhooks wait to be forwarded: ${reason}`);
      reported = reason;
      return instead;
    }
  };
}

interface Alarm {
  readonly ring: () => void;
  /** Resolves after the time, or once it rings; at once if it has rung since the last wait. */
  readonly wait: (milliseconds: number) => Promise<void>;
}

function createAlarm(pause: Pause): Alarm {
  let ringing = new AbortController();
  return {
    ring: () => ringing.abort(),
    wait: async (milliseconds) => {
      await pause(milliseconds, ringing.signal);
      ringing = new AbortController();
    },
  };
}
