/** Forwards webhooks: those whose sender waits for the answer of the application, and those that wait in the event store. */
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
  type NewEvent,
  type WebhookEvent,
} from "./event.ts";
import {
  ACCEPTED_BEFORE,
  type Attempt,
  forward,
  type ForwardOptions,
  notReached,
  replyFor,
  type Route,
  targetOf,
} from "./forward.ts";
import { createTargetPause } from "./target-pause.ts";

/** Milliseconds that a claim lasts longer than an attempt may take: to begin it, and to write how it ended. */
const MARGIN = 10_000;
/** The part of the margin in which an attempt must begin: what has waited longer is given back. */
const TO_BEGIN = 0.7;
/** How many events are claimed, for each attempt at the same time. */
const AHEAD = 2;
/** Milliseconds between looks at the queue, for events that became due. */
const LOOK_EVERY = 1_000;

/** An attempt of the queue and its consequence. */
export interface Progress {
  readonly attempt: number;
  readonly state: DeliveryState;
  /** When the next attempt is due; null without a next attempt. */
  readonly next: Date | null;
}

/** The queue of what the service has its answer to. Without one, it waits for the application, and sends again what that refuses. */
export interface Queued {
  readonly queue: Pick<DeliveryQueue, "claim" | "release">;
  /** Milliseconds before each retry. */
  readonly delays: readonly number[];
  /** The most attempts at the same time for each target: one that hangs must not delay the others. */
  readonly concurrency: number;
}

export interface ForwarderParts extends ForwardOptions {
  readonly routes: readonly Route[];
  readonly log: Pick<EventLog, "ended">;
  readonly queued?: Queued | undefined;
  /** `first` is the id of the event's first delivery, `id` of the one that is forwarded. */
  readonly observe: (
    event: Pick<WebhookEvent, "id" | "request"> & { readonly first: string },
    forward: Forward,
    progress?: Progress,
  ) => void;
  readonly warn: (text: string) => void;
  readonly margin?: number;
}

export interface Forwarder {
  /** Plans an event that was just verified; undefined if it is not forwarded. */
  readonly plan: (event: NewEvent) => Plan | undefined;
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
}

export const createForwarder = (parts: ForwarderParts): Forwarder =>
  parts.queued === undefined ? forwardDirectly(parts) : forwardQueue(parts, parts.queued);

const leaseOf = ({ timeout, margin = MARGIN }: ForwarderParts): number => timeout + margin;

/** The sender waits, and decides how many attempts are made at the same time. */
function forwardDirectly(parts: ForwarderParts): Forwarder {
  const running = new Map<string, Promise<HttpReply>>();
  const attempt = async (
    event: WebhookEvent,
    url: URL,
    claim: { readonly id: string; readonly attempt: number },
  ): Promise<HttpReply> => {
    const made = await forward(event, url, parts);
    // Whoever waits gets the answer, even if a full disk does not record it.
    await parts.log.ended(claim, made).catch(() => undefined);
    parts.observe({ ...event, first: claim.id }, made);
    return answerFor(made);
  };
  return {
    plan: ({ content: { record } }) => {
      const url = targetOf(parts.routes, outcomeOf(record));
      return (
        url && {
          lease: leaseOf(parts),
          forward: (event, { first, state, attempt: number }) => {
            // A repeated delivery waits for the first one, so that the application gets the webhook once.
            const same = running.get(first);
            if (same !== undefined) return same;
            if (number === undefined)
              return Promise.resolve(state === "pending" ? UNDER_WAY : ACCEPTED_BEFORE);
            const answer = attempt(event, url, { id: first, attempt: number }).finally(() =>
              running.delete(first),
            );
            running.set(first, answer);
            return answer;
          },
        }
      );
    },
    start: () => undefined,
    close: async () => void (await Promise.allSettled(running.values())),
  };
}

/** The sender has its answer once the event is stored. */
function forwardQueue(parts: ForwarderParts, queued: Queued): Forwarder {
  const urls = new Map<string, { readonly url: URL; readonly outcomes: Outcome[] }>();
  for (const outcome of OUTCOMES) {
    const url = targetOf(parts.routes, outcome);
    if (url === undefined) continue;
    const target = urls.get(url.href) ?? { url, outcomes: [] };
    target.outcomes.push(outcome);
    urls.set(url.href, target);
  }
  const lanes = [...urls.values()].map(({ url, outcomes }) => ({
    outcomes,
    ...createLane(url, outcomes, parts, queued),
  }));
  return {
    plan: ({ content: { record } }) => {
      const outcome = outcomeOf(record);
      const lane = lanes.find(({ outcomes }) => outcomes.includes(outcome));
      return (
        lane && {
          lease: 0,
          forward: async (_, { state }) => {
            if (state === "pending") lane.look();
            return QUEUED;
          },
        }
      );
    },
    start: () => lanes.forEach(({ start }) => start()),
    close: async () => void (await Promise.all(lanes.map(({ close }) => close()))),
  };
}

interface Job extends Claimed {
  /** When it was claimed, by a clock that nobody sets. */
  readonly since: number;
}

/** The attempts to one target. Each has a lane of its own, so that one that is down delays no other. */
function createLane(
  url: URL,
  outcomes: readonly Outcome[],
  parts: ForwarderParts,
  { queue, delays, concurrency }: Queued,
) {
  const { log, observe, now, warn, margin = MARGIN } = parts;
  const lease = leaseOf(parts);
  const target = createTargetPause(url, { delays, warn });
  const ask = warnOfFailures(warn);
  let timer: NodeJS.Timeout | undefined;
  let isClosing = false;
  /** The attempts whose end could not be written: they try it at each look, and once more at the end. */
  const unwritten: (() => void)[] = [];
  /** Claimed, and not begun: some are, so that no attempt waits for the database. */
  const jobs: Job[] = [];
  let sending = 0;
  /** Claims and attempts under way, and the ends that are being written. */
  const open = new Set<Promise<void>>();
  const track = (work: Promise<void>): void => {
    const tracked = work.finally(() => open.delete(tracked));
    open.add(tracked);
  };
  /** Events may be due that nobody has claimed. */
  let isBehind = false;
  let isClaiming = false;

  /** Another attempt must not be made because this one could not be recorded. */
  const record = async ({ id, attempt }: Claimed, made: Forward, retryAfter?: number): Promise<void> => {
    const write = (): Promise<true> => log.ended({ id, attempt }, made, retryAfter).then(() => true);
    for (;;) {
      if ((await ask("end", write, false)) || isClosing) return;
      await new Promise<void>((resolve) => unwritten.push(resolve));
    }
  };
  const setAside = async (claimed: Claimed, damage: string): Promise<void> => {
    const detail = `not sent: the stored event is damaged: ${damage}`;
    await record(claimed, { at: now(), target: "", status: null, ms: 0, detail });
    warn(damageWords(claimed.id, damage));
  };
  const attempt = async (claimed: Claimed): Promise<void> => {
    const { id, made: before, event } = claimed;
    if ("damage" in event) return setAside(claimed, event.damage);
    const ended = target.begin(sending);
    sending += 1;
    const made = await forward(event, url, parts);
    sending -= 1;
    ended(made);
    const retryAfter = isAccepted(made.status) ? undefined : delays[before];
    const recorded = record(claimed, made, retryAfter);
    begin();
    claim();
    await recorded;
    const state = isAccepted(made.status) ? "delivered" : retryAfter === undefined ? "failed" : "pending";
    const next = retryAfter === undefined ? null : new Date(now().getTime() + retryAfter);
    observe({ ...event, first: id }, made, { attempt: before + 1, state, next });
  };
  const giveBack = (back: readonly Claimed[]): void => {
    if (back.length === 0) return;
    isBehind = true;
    const claims = back.map(({ id, attempt }) => ({ id, attempt }));
    track(ask("release", () => queue.release(claims), undefined));
  };
  /** Begins as many attempts as may be under way. */
  const begin = (): void => {
    while (target.room(concurrency, sending) > 0) {
      const job = jobs.shift();
      if (job === undefined) break;
      if (performance.now() - job.since > margin * TO_BEGIN) giveBack([job]);
      else track(attempt(job));
    }
    // What this target has no time for now, other receivers may have.
    if (isClosing || target.isProbing()) giveBack(jobs.splice(0));
  };
  const claimAll = async (): Promise<void> => {
    isClaiming = true;
    for (;;) {
      const limit = target.room(AHEAD * concurrency, sending + jobs.length);
      if (!isBehind || limit <= 0 || jobs.length > concurrency / 2 || isClosing) break;
      // Before the question: what is stored meanwhile may not be found.
      isBehind = false;
      const since = performance.now();
      const claimed = await ask("claim", () => queue.claim({ limit, outcomes, lease }), NONE);
      if (claimed.length >= limit) isBehind = true;
      jobs.push(...claimed.map((one) => ({ ...one, since })));
      begin();
    }
    isClaiming = false;
  };
  const claim = (): void => {
    if (!isClaiming) track(claimAll());
  };
  /** Looks for events now, if there is room for them. */
  const look = (): void => {
    isBehind = true;
    claim();
  };
  const writeEnds = (): void => unwritten.splice(0).forEach((again) => again());
  return {
    look,
    start: () => {
      look();
      timer = setInterval(() => {
        writeEnds();
        look();
      }, LOOK_EVERY);
    },
    close: async () => {
      isClosing = true;
      clearInterval(timer);
      writeEnds();
      giveBack(jobs.splice(0));
      while (open.size > 0) await Promise.all(open);
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
