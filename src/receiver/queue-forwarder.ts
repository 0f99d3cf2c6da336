/** Forwards acknowledged events from the queue of the event store: first attempts, retries, and claims on what it works on. */
import { messageOf } from "../domain/system-reason.ts";
import type { Claimed, DamagedEvent, ForwardQueue, StoredEvent } from "./event-store.ts";
import { isAccepted, type Forward, type WebhookEvent } from "./events.ts";
import { forward, type Forwarder, type ForwardOptions, replyFor, type Route, targetOf } from "./forward.ts";
import { type Outcome, OUTCOMES } from "../domain/outcome.ts";
import { outcomeOf } from "../domain/transaction.ts";
import { type Allowed, type Answer, createTargetPause, NO_PAUSE } from "./target-pause.ts";

/** Milliseconds after which other forwarders take over the events of a dead one. */
const CLAIM = 20_000;
/** Milliseconds between looks at the queue, for events that other receivers stored and to renew claims. */
const LOOK_EVERY = 1_000;
/** Milliseconds: what can begin within them is claimed ahead, so that no attempt waits for the database. */
const AHEAD = 250;
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
  readonly routes: readonly Route[];
  /** The most attempts at the same time for each target: one that hangs must not delay the others. */
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
  const { routes, forwards, now, delays, warn } = parts;
  const targets = targetsOf(routes);
  const isToCheck = createSchedule(CHECK_EVERY, now);
  const shared = {
    ...parts,
    bytes: MOST_BYTES / targets.length,
    ask: warnOfFailures(warn),
    delaysToCheck: () => (isToCheck() ? delays : undefined),
  };
  const lanes = targets.map((target) => ({ ...target, ...createLane(target, shared) }));
  return {
    plan: (event) => (forwards(event) ? "queue" : undefined),
    forward: async ({ record }) => {
      const outcome = outcomeOf(record);
      lanes.find(({ outcomes }) => outcomes.includes(outcome))?.look();
      return QUEUED;
    },
    start: () => lanes.forEach(({ start }) => start()),
    close: async () => void (await Promise.all(lanes.map(({ close }) => close()))),
  };
}

interface Target {
  /** Undefined for events that cannot be sent. */
  readonly url: URL | undefined;
  readonly outcomes: readonly Outcome[];
}

function targetsOf(routes: readonly Route[]): readonly Target[] {
  const targets = new Map<string | undefined, Target>();
  for (const outcome of OUTCOMES) {
    const url = targetOf(routes, outcome);
    const { outcomes = [] } = targets.get(url?.href) ?? {};
    targets.set(url?.href, { url, outcomes: [...outcomes, outcome] });
  }
  return [...targets.values()];
}

interface Lane {
  /** Looks for new events now, if there is room for them. */
  readonly look: () => void;
  readonly start: () => void;
  readonly close: () => Promise<void>;
}

interface LaneParts extends QueueForwarderParts {
  readonly bytes: number;
  readonly ask: ReturnType<typeof warnOfFailures>;
  /** The delays, if it is time to hold the planned retries to them. */
  readonly delaysToCheck: () => readonly number[] | undefined;
}

/** Forwards the events of one target. Each has a lane of its own, so that one that is down delays no other. */
function createLane({ url, outcomes }: Target, parts: LaneParts): Lane {
  const { queue, concurrency, delays, observe, now, pause, warn, ask, claim: duration = CLAIM } = parts;
  const closing = new AbortController();
  const alarm = createAlarm(pause);
  const targetPause = url === undefined ? NO_PAUSE : createTargetPause(url, parts);
  const isToLook = createSchedule(LOOK_EVERY, now);
  /** The bytes of the events that are claimed. */
  const held = new Map<string, number>();
  /** Those of them that are not begun. */
  const ahead: Waiting[] = [];
  let sending = 0;
  /** The attempts that ended since the last look, and before it. */
  let [ended, endedBefore] = [0, 0];

  /** Another attempt must not be made because this one could not be recorded. */
  const record = async (event: Waiting, made: Forward, retryAfter: number | undefined): Promise<void> => {
    const write = async (): Promise<true> => {
      await queue.attempted(event, made, retryAfter);
      return true;
    };
    while (!(await ask(event.id, write, false)) && !closing.signal.aborted)
      await pause(LOOK_EVERY, closing.signal);
  };
  const attempt = async (event: Waiting, end: (answer: Answer) => void): Promise<void> => {
    const made =
      event.type === "damaged" || url === undefined
        ? notSent(now(), event)
        : await forward(event, url, parts);
    end(made);
    const before = attemptsOf(event);
    const mayRetry = event.type === "event" && !isAccepted(made.status);
    const retryAfter = mayRetry ? delays[before] : undefined;
    const recorded = record(event, made, retryAfter);
    sending -= 1;
    ended += 1;
    begin();
    // The next claim is written together with this attempt.
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
  /** Begins as many attempts as may be under way. */
  const begin = (): void => {
    for (;;) {
      const [event] = ahead;
      if (event === undefined || sending >= concurrency || closing.signal.aborted) return;
      const end = targetPause.begin(attemptsOf(event) === 0);
      if (end === undefined) return;
      ahead.shift();
      sending += 1;
      void attempt(event, end);
    }
  };
  const claim = async ({ limit: allowed, firsts }: Allowed): Promise<Claimed> => {
    const isLook = isToLook();
    if (isLook) [ended, endedBefore] = [0, ended];
    // No more than what begins soon: other forwarders may have room for the rest, and for all while the application hangs.
    const isOpen = allowed === Infinity && !closing.signal.aborted;
    const more = isOpen ? Math.ceil(Math.max(ended, endedBefore) * (AHEAD / LOOK_EVERY)) : 0;
    const back = isLook || !isOpen ? ahead.splice(more).map(({ id }) => id) : [];
    for (const id of back) held.delete(id);
    const bytes = parts.bytes - [...held.values()].reduce((sum, one) => sum + one, 0);
    const wanted = concurrency + more - sending - ahead.length;
    // Attempts that cannot be recorded are held as well.
    const most = bytes <= 0 ? 0 : Math.min(allowed, wanted, 2 * (concurrency + more) - held.size);
    const limit = closing.signal.aborted ? 0 : Math.max(0, most);
    const renewed = isLook ? [...held.keys()] : [];
    if (limit + back.length + renewed.length === 0) return NOTHING;
    const question = { limit, outcomes, firsts, bytes, duration, held: renewed, back };
    return ask("claim", () => queue.claim({ ...question, delays: parts.delaysToCheck() }), NOTHING);
  };
  const run = async (): Promise<void> => {
    while (!closing.signal.aborted || held.size > 0) {
      const allowed = targetPause.allowed();
      const { events, nextDue = LOOK_EVERY, failed } = await claim(allowed);
      if (failed > 0) warn(givenUpWords(failed));
      for (const event of events) held.set(event.id, sizeOf(event));
      ahead.push(...events);
      begin();
      if (!closing.signal.aborted || held.size > 0)
        await alarm.wait(Math.min(nextDue, allowed.next, LOOK_EVERY));
    }
  };
  let running: Promise<void> | undefined;
  return {
    look: () => {
      if (sending < concurrency) alarm.ring();
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

const attemptsOf = (event: Waiting): number => event.queued?.attempts ?? 0;

const NOTHING: Claimed = { events: [], nextDue: undefined, failed: 0 };

/** Tells whether so many milliseconds have passed since it last said so, or the clock was set back. */
function createSchedule(every: number, now: () => Date): () => boolean {
  let last: number | undefined;
  return () => {
    const time = now().getTime();
    if (last !== undefined && last <= time && time < last + every) return false;
    last = time;
    return true;
  };
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
