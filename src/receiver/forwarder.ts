/** Forwards webhooks: those whose sender waits for the answer of the application, and those that wait in the event store. */
import { setMaxListeners } from "node:events";
import { messageOf } from "../domain/system-reason.ts";
import { type Outcome, OUTCOMES } from "../domain/outcome.ts";
import { outcomeOf } from "../domain/transaction.ts";
import type { HttpReply } from "../http/message.ts";
import {
  type Claimed,
  type DeliveryQueue,
  type DeliveryState,
  type EventLog,
  type Forward,
  isAccepted,
  type Stored,
  type WebhookEvent,
} from "./events.ts";
import {
  ACCEPTED_BEFORE,
  type Attempt,
  forward,
  type Forwarded,
  type ForwardOptions,
  notReached,
  replyFor,
  type Route,
  targetOf,
} from "./forward.ts";
import { createTargetPause } from "./target-pause.ts";

const MARGIN = 10_000;
/** The part of the margin in which an attempt must begin: what has waited longer is given back. */
const TO_BEGIN = 0.7;
/**
 * The most events that go from arrival to their attempt in memory, for each attempt at the same time, and milliseconds in which
 * each must begin: an application that is quick gets them without a claim and a read in the store (forward bench).
 */
const HANDED_OVER = 16;
const HANDED_WITHIN = 500;
/** Milliseconds between looks at the queue, for events that became due. */
const LOOK_EVERY = 1_000;

/** An attempt of the queue and its consequence. */
export interface Progress {
  readonly attempt: number;
  readonly state: DeliveryState;
  /** When the next attempt is due; null without a next attempt. */
  readonly next: Date | null;
}

/** Resolves after so many milliseconds, or as soon as the signal fires. */
type Pause = (milliseconds: number, until: AbortSignal) => Promise<void>;

export interface ForwarderParts extends ForwardOptions {
  readonly routes: readonly Route[];
  /** The most attempts at the same time for each target: one that hangs must not delay the others. */
  readonly concurrency: number;
  readonly log: Pick<EventLog, "ended">;
  /** Undefined if the sender waits for the application, and sends again what it refuses. */
  readonly queue?: DeliveryQueue | undefined;
  /** Milliseconds before each retry of what is in the queue. */
  readonly delays?: readonly number[];
  /** `first` is the id of the event's first delivery, `id` of the one that is forwarded. */
  readonly observe: (
    event: { readonly id: string; readonly first: string; readonly event: Forwarded | undefined },
    forward: Forward,
    progress?: Progress,
  ) => void;
  readonly pause: Pause;
  readonly warn: (text: string) => void;
  /** Milliseconds that a claim lasts longer than an attempt may take: to begin it, and to write how it ended. */
  readonly margin?: number;
}

export interface Forwarder {
  /** Plans an event that was just verified; undefined if it is not forwarded. */
  readonly plan: (event: WebhookEvent) => Plan | undefined;
  /** Forwards what waits in the queue. */
  readonly start: () => void;
  /** Finishes the attempts in progress; the rest is left to other receivers. */
  readonly close: () => Promise<void>;
}

/** What becomes of an event once it is stored. */
export interface Plan {
  /** As `EventLog.append` takes it. */
  readonly lease: number;
  /** Resolves with the answer for the service. */
  readonly forward: (event: WebhookEvent, stored: Stored) => Promise<HttpReply>;
  /** It could not be stored. */
  readonly cancel: () => void;
}

export function createForwarder(parts: ForwarderParts): Forwarder {
  const { routes, queue } = parts;
  const urls = new Map<string, { readonly url: URL; readonly outcomes: Outcome[] }>();
  for (const outcome of OUTCOMES) {
    const url = targetOf(routes, outcome);
    if (url === undefined) continue;
    const target = urls.get(url.href) ?? { url, outcomes: [] };
    target.outcomes.push(outcome);
    urls.set(url.href, target);
  }
  const lanes = [...urls.values()].map(({ url, outcomes }) => ({
    outcomes,
    ...createLane(url, outcomes, parts),
  }));
  const planIn = queue === undefined ? createDirectPlan(parts) : planForQueue;
  return {
    plan: (event) => {
      const outcome = outcomeOf(event.record);
      const lane = lanes.find(({ outcomes }) => outcomes.includes(outcome));
      return lane && planIn(lane, event);
    },
    start: () => lanes.forEach(({ start }) => start()),
    close: async () => void (await Promise.all(lanes.map(({ close }) => close()))),
  };
}

const leaseOf = ({ timeout, margin = MARGIN }: ForwarderParts): number => timeout + margin;

type PlanIn = (lane: Lane, event: WebhookEvent) => Plan;

/**
 * The sender waits. The time of the application begins with the arrival of the webhook: the service waits no longer for one that had
 * to wait here.
 */
function createDirectPlan(parts: ForwarderParts): PlanIn {
  const running = new Map<string, Promise<HttpReply>>();
  return (lane, { receivedAt }) => ({
    lease: leaseOf(parts),
    cancel: () => undefined,
    forward: (event, { first, state, attempt, made = 0 }) => {
      // A repeated delivery waits for the first one, so that the application gets the webhook once.
      const same = running.get(first);
      if (same !== undefined) return same;
      if (attempt === undefined) return Promise.resolve(state === "pending" ? UNDER_WAY : ACCEPTED_BEFORE);
      const deadline = receivedAt.getTime() + parts.timeout;
      const answer = new Promise<HttpReply>((resolve) =>
        lane.add({
          id: event.id,
          first,
          attempt,
          made,
          event,
          deadline,
          ended: (made) => resolve(answerFor(made)),
        }),
      ).finally(() => running.delete(first));
      running.set(first, answer);
      return answer;
    },
  });
}

/** The sender has its answer at once. What arrives while there is room is forwarded from memory. */
const planForQueue: PlanIn = (lane) => {
  const { lease, leave } = lane.reserve();
  return {
    lease,
    cancel: leave,
    forward: async (event, { first, state, attempt, made = 0 }) => {
      leave();
      if (attempt !== undefined) lane.add({ id: event.id, first, attempt, made, event });
      else if (state === "pending") lane.look();
      return QUEUED;
    },
  };
};

/** An event that this receiver has claimed. */
interface Job {
  readonly id: string;
  readonly first: string;
  readonly attempt: number;
  /** The attempts before, by the present plan. */
  readonly made: number;
  readonly event: Forwarded | { readonly damage: string };
  /** When its sender stops waiting; without one, it is of the queue. */
  readonly deadline?: number;
  readonly ended?: (made: Attempt) => void;
}

/** The attempts to one target. Each has a lane of its own, so that one that is down delays no other. */
interface Lane {
  /** Keeps room for an event, if there is any: its lease is 0 without. */
  readonly reserve: () => { readonly lease: number; readonly leave: () => void };
  readonly add: (job: Job) => void;
  /** Looks for events now, if there is room for them. */
  readonly look: () => void;
  readonly start: () => void;
  readonly close: () => Promise<void>;
}

function createLane(url: URL, outcomes: readonly Outcome[], parts: ForwarderParts): Lane {
  const { queue, concurrency, delays = [], log, observe, now, pause, warn, margin = MARGIN } = parts;
  const lease = leaseOf(parts);
  const closing = new AbortController();
  // Each attempt whose end cannot be written waits for it.
  setMaxListeners(0, closing.signal);
  const alarm = createAlarm(pause);
  // Whoever waits for an answer gets it, whatever others got.
  const target = queue === undefined ? undefined : createTargetPause(url, { delays, now, warn });
  const ask = warnOfFailures(warn);
  /** Claimed, and not begun. */
  const jobs: (Job & { readonly since: number })[] = [];
  let [sending, reserved] = [0, 0];
  const ends = new Set<Promise<void>>();
  /** Events may be due that this receiver has not claimed. */
  let isBehind = true;
  /** When the next retry is due that this receiver has planned. */
  let nextDue = Infinity;
  let lookedAt = 0;

  /** Another attempt must not be made because this one could not be recorded. */
  const record = async (job: Job, made: Forward, retryAfter: number | undefined): Promise<void> => {
    const claim = { id: job.first, attempt: job.attempt };
    const write = (): Promise<true> => log.ended(claim, made, retryAfter).then(() => true);
    // Whoever waits gets the answer, even if a full disk does not record it.
    if (queue === undefined) return void (await write().catch(() => undefined));
    while (!(await ask("end", write, false)) && !closing.signal.aborted)
      await pause(LOOK_EVERY, closing.signal);
  };
  const attempt = async (job: Job): Promise<void> => {
    const end = target?.begin();
    const { event, deadline } = job;
    const made =
      "damage" in event
        ? notSent(now(), `not sent: the stored event is damaged: ${event.damage}`)
        : await attemptIn(event, deadline);
    end?.("damage" in event ? { status: 200 } : made);
    sending -= 1;
    const mayRetry = queue !== undefined && !isAccepted(made.status) && !("damage" in event);
    const retryAfter = mayRetry ? delays[job.made] : undefined;
    const recorded = record(job, made, retryAfter);
    begin();
    alarm.ring();
    await recorded;
    if (retryAfter !== undefined) nextDue = Math.min(nextDue, now().getTime() + retryAfter);
    if ("damage" in event) warn(damageWords(job.first, event.damage));
    observe(
      { id: job.id, first: job.first, event: "damage" in event ? undefined : event },
      made,
      queue === undefined
        ? undefined
        : {
            attempt: job.made + 1,
            state: isAccepted(made.status) ? "delivered" : retryAfter === undefined ? "failed" : "pending",
            next: retryAfter === undefined ? null : new Date(now().getTime() + retryAfter),
          },
    );
    job.ended?.(made);
  };
  const attemptIn = (event: Forwarded, deadline: number | undefined): Promise<Attempt> => {
    if (deadline === undefined) return forward(event, url, parts);
    const timeout = deadline - now().getTime();
    if (timeout > 0) return forward(event, url, { ...parts, timeout });
    const detail = "timed out in the queue: earlier webhooks took all the time";
    return Promise.resolve({ ...notSent(now(), detail), target: url.href, timedOut: true });
  };
  /** Begins as many attempts as may be under way. */
  const begin = (): void => {
    for (;;) {
      const mayBegin = sending < concurrency && (target === undefined || target.wait() === 0);
      const job = mayBegin ? jobs.shift() : undefined;
      if (job === undefined) break;
      if (isLate(job)) {
        giveBack([job]);
        continue;
      }
      sending += 1;
      const ending = attempt(job).finally(() => ends.delete(ending));
      ends.add(ending);
    }
    // What this target has no time for now, other receivers may have.
    if (target !== undefined && target.wait() > 0) giveBack(jobs.splice(0));
  };
  const isLate = ({ since, deadline }: { readonly since: number; readonly deadline?: number }): boolean =>
    deadline === undefined && now().getTime() - since > margin * TO_BEGIN;
  const giveBack = (back: readonly Job[]): void => {
    if (queue === undefined || back.length === 0) return;
    isBehind = true;
    const claims = back.map(({ first, attempt }) => ({ id: first, attempt }));
    const released = ask("release", () => queue.release(claims), undefined).finally(() =>
      ends.delete(released),
    );
    ends.add(released);
  };
  const add = (job: Job): void => {
    jobs.push({ ...job, since: now().getTime() });
    begin();
  };
  /** How many events there is room for. Twice the attempts at the same time are claimed, so that none waits for the database. */
  const room = (): number => {
    const held = sending + jobs.length + reserved;
    if (target?.isProbing() === true) return target.wait() > 0 ? 0 : 1 - held;
    return 2 * concurrency - held;
  };
  const claimMore = async (from: DeliveryQueue): Promise<void> => {
    const time = now().getTime();
    const isTime = time >= nextDue || time < lookedAt || time >= lookedAt + LOOK_EVERY;
    const limit = room();
    if (limit <= 0 || !(isTime || (isBehind && jobs.length <= concurrency / 2))) return;
    if (time >= nextDue) nextDue = Infinity;
    lookedAt = time;
    const claimed = await ask("claim", () => from.claim({ limit, outcomes, lease }), NONE);
    isBehind = claimed.length >= limit;
    for (const { id, attempt, made, event } of claimed) add({ id, first: id, attempt, made, event });
  };
  const run = async (from: DeliveryQueue): Promise<void> => {
    while (!closing.signal.aborted) {
      await claimMore(from);
      const wait = target?.wait() ?? 0;
      await alarm.wait(
        Math.max(1, Math.min(LOOK_EVERY, wait === 0 ? LOOK_EVERY : wait, nextDue - now().getTime())),
      );
    }
    giveBack(jobs.splice(0));
  };
  let running: Promise<void> | undefined;
  return {
    reserve: () => {
      const [oldest] = jobs;
      const isQuick = oldest === undefined || now().getTime() - oldest.since < HANDED_WITHIN;
      const most = target?.isProbing() === true ? 1 : isQuick ? HANDED_OVER * concurrency : 2 * concurrency;
      const hasRoom = !isBehind && sending + jobs.length + reserved < most && (target?.wait() ?? 0) === 0;
      if (!hasRoom || closing.signal.aborted) return { lease: 0, leave: () => undefined };
      reserved += 1;
      return { lease, leave: () => void (reserved -= 1) };
    },
    add,
    look: () => {
      isBehind = true;
      alarm.ring();
    },
    start: () => {
      if (queue !== undefined) running ??= run(queue);
    },
    close: async () => {
      closing.abort();
      alarm.ring();
      await running;
      while (ends.size > 0) await Promise.all(ends);
    },
  };
}

const NONE: readonly Claimed[] = [];

const QUEUED = replyFor(200, 'details="stored; the answer of the application comes later"');

/** Another receiver is forwarding the event: the service asks again. */
const UNDER_WAY: HttpReply = {
  ...replyFor(503, 'details="another receiver is forwarding it"'),
  headers: [["Retry-After", "5"]],
};

/**
 * The answer for the service, which delivers again what the application did not accept (RFC 9110 15.6.3, 15.6.5). An error names
 * its kind alone: its words may have addresses of this network.
 */
function answerFor({ status, timedOut, sent, reply }: Attempt): HttpReply {
  if (status === null) {
    if (timedOut) return replyFor(504, "error=http_response_timeout");
    return sent ? replyFor(502, "error=connection_terminated") : notReached(502);
  }
  const answer = reply && {
    // Its body is decoded.
    headers: reply.headers.filter(([name]) => PASSED_BACK.has(name.toLowerCase())),
    body: reply.body,
  };
  // Every 2xx is accepted, and a service may know only 200.
  return replyFor(isAccepted(status) ? 200 : status, `received-status=${status}`, answer);
}

/** What a proxy would pass on, and when to try again. */
const PASSED_BACK: ReadonlySet<string> = new Set(["content-type", "retry-after"]);

const notSent = (at: Date, detail: string): Attempt => ({
  at,
  target: "",
  status: null,
  ms: 0,
  detail,
  timedOut: false,
  sent: false,
});

const damageWords = (id: string, reason: string): string =>
  `The stored event ${id} is damaged (${reason}). It was not forwarded, is marked as failed, and the service does not send it again.`;

/**
 * Asks the store, and gives `instead` where it fails; `what` tells one question from another. Warns once about a failure, and
 * again if the reason changes, or everything has succeeded meanwhile.
 */
function warnOfFailures(warn: (text: string) => void) {
  const failing = new Map<string, string>();
  return async <T>(what: string, question: () => Promise<T>, instead: T): Promise<T> => {
    try {
      const answer = await question();
      failing.delete(what);
      return answer;
    } catch (error) {
      const reason = messageOf(error);
      if (![...failing.values()].includes(reason))
        warn(`Acknowledged webhooks wait to be forwarded: ${reason}`);
      failing.set(what, reason);
      return instead;
    }
  };
}

interface Alarm {
  readonly ring: () => void;
  /** Resolves after the time, or once it rings; at once if it has rung since the last wait. */
  readonly wait: (milliseconds: number) => Promise<void>;
}

const RUNG = "rung";

function createAlarm(pause: Pause): Alarm {
  let ringing = new AbortController();
  return {
    // Without a reason, each would make an error with a stack.
    ring: () => ringing.abort(RUNG),
    wait: async (milliseconds) => {
      await pause(milliseconds, ringing.signal);
      ringing = new AbortController();
    },
  };
}
