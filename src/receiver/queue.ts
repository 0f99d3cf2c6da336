/** Forwards webhooks after they were acknowledged: one loop for each target claims events that are due, and attempts them side by side. */
import { isBroker } from "./brokers/addresses.ts";
import { isSuccess } from "../http/message.ts";
import { messageOf } from "../values/system-reason.ts";
import { type Outcome, OUTCOMES } from "../domain/outcome.ts";
import { UNITS } from "../values/time.ts";
import type { Timers } from "../values/timers.ts";
import { outcomeOf } from "../domain/transaction.ts";
import { makeAttempt } from "./attempt.ts";
import { type Claimed, type DeliveryQueue, type Forward, type Retry } from "../events/event.ts";
import { CLAIM_MARGIN, type Forwarder, type ForwarderParts, replyFor } from "./forwarder.ts";
import { targetOf } from "./outcome-routes.ts";
import { askedTime, type Room, TargetState } from "./target-state.ts";

/** Milliseconds between looks at the queue, for events that became due. */
const LOOK_EVERY = 1_000;
/** The longest time that an application can ask for with `Retry-After` for one event. */
const LONGEST_DELAY = UNITS.d;
/** The part of the margin of a claim in which an attempt must begin. */
const TO_BEGIN = 0.7;

export interface QueueParts extends ForwarderParts {
  readonly queue: Pick<DeliveryQueue, "claim" | "release">;
  /** Milliseconds before each retry. */
  readonly delays: readonly number[];
  /** The most attempts at the same time for each target. One that hangs does not count. */
  readonly concurrency: number;
  readonly timers: Timers;
  readonly margin?: number;
}

export function createQueueForwarder(parts: QueueParts): Forwarder {
  const outcomesOf = new Map<string, { readonly url: URL; readonly outcomes: Outcome[] }>();
  for (const outcome of OUTCOMES) {
    const url = targetOf(parts.routes, outcome);
    if (url === undefined) continue;
    const target = outcomesOf.get(url.href) ?? { url, outcomes: [] };
    target.outcomes.push(outcome);
    outcomesOf.set(url.href, target);
  }
  // Each has a loop of its own, so that a target that is down delays no other.
  const targets = [...outcomesOf.values()].map(
    (target) => new QueueTarget(target.url, target.outcomes, parts),
  );
  return {
    plan: ({ content: { record } }) => {
      const outcome = outcomeOf(record);
      const target = targets.find(({ outcomes }) => outcomes.includes(outcome));
      return (
        target && {
          lease: 0,
          forward: async (_, { state }) => {
            if (state === "pending") target.look();
            return QUEUED;
          },
        }
      );
    },
    start: () => targets.forEach((target) => target.start()),
    close: async () => void (await Promise.all(targets.map((target) => target.close()))),
  };
}

const QUEUED = replyFor(200, 'details="stored; the answer of the application comes later"');

interface Ready {
  readonly claimed: Claimed;
  /** When it is too late to begin its attempt. */
  readonly until: number;
}

/** The loop of one target. */
class QueueTarget {
  readonly outcomes: readonly Outcome[];
  readonly #url: URL;
  readonly #parts: QueueParts;
  readonly #lease: number;
  readonly #state: TargetState;
  /** Rings when events may be due, when a claim has its answer or an attempt has ended, and at the end. */
  readonly #bell: Bell;
  readonly #ask: ReturnType<typeof createStoreQuestion>;
  /** Claimed, and not begun. Without them, attempts would wait for the database (backlog bench: 0.7 instead of 0.9). */
  readonly #ready: Ready[] = [];
  /** Claims and attempts under way, and ends that are being written. */
  readonly #open = new Set<Promise<void>>();
  #loop: Promise<void> = Promise.resolve();
  /** Events may be due that nobody has claimed. */
  #isBehind = true;
  #isClaiming = false;
  #isClosing = false;

  constructor(url: URL, outcomes: readonly Outcome[], parts: QueueParts) {
    this.outcomes = outcomes;
    this.#url = url;
    this.#parts = parts;
    this.#lease = parts.timeout + (parts.margin ?? CLAIM_MARGIN);
    this.#state = new TargetState(parts.concurrency, parts.delays[0]);
    this.#bell = createBell(parts.timers);
    this.#ask = createStoreQuestion(parts.warn);
  }

  /** Events may have become due. */
  look(): void {
    this.#isBehind = true;
    this.#bell.ring();
  }

  start(): void {
    this.#loop = this.#run();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#bell.ring();
    await this.#loop;
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  async #run(): Promise<void> {
    const { elapsed } = this.#parts.timers;
    let lookAt = elapsed();
    while (!this.#isClosing) {
      const at = elapsed();
      if (at >= lookAt) {
        this.#isBehind = true;
        lookAt = at + LOOK_EVERY;
      }
      this.#begin(at);
      const room = this.#roomToClaim(at);
      if (room !== undefined) this.#track(this.#claim(room));
      await this.#bell.heard(this.#state.pauseLeft(at) || lookAt - at);
    }
    this.#giveBack(this.#ready.splice(0).map(({ claimed }) => claimed));
  }

  /** Begins as many attempts as may be under way. */
  #begin(at: number): void {
    while (this.#state.room(at) !== undefined) {
      const next = this.#ready.shift();
      if (next === undefined) return;
      // Its claim may end before the attempt: another receiver could make the same one.
      if (at > next.until) this.#giveBack([next.claimed]);
      else this.#track(this.#attempt(next.claimed));
    }
    // During a pause, other receivers may be able to forward them.
    if (this.#state.isPaused()) this.#giveBack(this.#ready.splice(0).map(({ claimed }) => claimed));
  }

  #roomToClaim(at: number): Room | undefined {
    const { concurrency } = this.#parts;
    if (!this.#isBehind || this.#isClaiming || this.#ready.length > concurrency / 2) return undefined;
    const room = this.#state.room(at);
    if (this.#state.isPaused()) return room;
    return { limit: (room?.limit ?? 0) + concurrency - this.#ready.length, fresh: "no matter" };
  }

  async #claim({ limit, fresh }: Room): Promise<void> {
    const { queue, timers, keys, margin = CLAIM_MARGIN } = this.#parts;
    const ask = (isFresh: boolean): Promise<readonly Claimed[]> =>
      this.#ask(
        "claim",
        () => queue.claim({ limit, outcomes: this.outcomes, keys: keys(), lease: this.#lease, isFresh }),
        [],
      );
    this.#isClaiming = true;
    // Reset before the claim, which may miss an event that is stored meanwhile.
    this.#isBehind = false;
    const until = timers.elapsed() + margin * TO_BEGIN;
    let claimed = await ask(fresh !== "no matter");
    if (claimed.length === 0 && fresh === "first") claimed = await ask(false);
    this.#isClaiming = false;
    if (claimed.length >= limit) this.#isBehind = true;
    if (this.#isClosing) return this.#giveBack(claimed);
    this.#ready.push(...claimed.map((one) => ({ claimed: one, until })));
    this.#bell.ring();
  }

  #giveBack(claimed: readonly Claimed[]): void {
    if (claimed.length === 0) return;
    this.#isBehind = true;
    const claims = claimed.map(({ id, attempt: number }) => ({ id, attempt: number }));
    this.#track(this.#ask("release", () => this.#parts.queue.release(claims), undefined));
  }

  async #attempt(claimed: Claimed): Promise<void> {
    const { timers, now, delays, observe, warn } = this.#parts;
    const { id, made: before, event } = claimed;
    if ("damage" in event) return this.#setAside(claimed, event.damage);
    const running = this.#state.begin(id, timers.elapsed());
    const { result, forward } = await makeAttempt(event, this.#url, this.#parts);
    const pause = this.#state.end(running, result, timers.elapsed(), now());
    this.#bell.ring();
    if (pause !== undefined) warn(pauseWords(forward, pause));
    const planned = isSuccess(forward.status) ? undefined : delays[before];
    const asked = Math.min(askedTime(result, now()) ?? 0, LONGEST_DELAY);
    const retryAfter = planned === undefined ? undefined : Math.max(planned, asked);
    await this.#record(claimed, forward, retryAfter);
    const state = retryAfter !== undefined ? "pending" : isSuccess(forward.status) ? "delivered" : "failed";
    const next = retryAfter === undefined ? null : new Date(now().getTime() + retryAfter);
    observe({ ...event, first: id }, forward, { attempt: before + 1, state, next });
  }

  async #setAside(claimed: Claimed, damage: string): Promise<void> {
    const detail = `not sent: the stored event is damaged: ${damage}`;
    const { now, warn } = this.#parts;
    const forward = {
      at: now(),
      target: "",
      status: null,
      failure: "other",
      ms: 0,
      detail,
      reply: null,
    } as const;
    await this.#record(claimed, forward);
    warn(
      `The stored event ${claimed.id} is damaged (${damage}). It was not forwarded, is marked as failed, and the service does not send it again.`,
    );
  }

  /** Tries until it is written, and once more at the end: another attempt must not be made because this one is not recorded. */
  async #record({ id, attempt: number }: Claimed, forward: Forward, retry?: Retry): Promise<void> {
    const write = (): Promise<true> =>
      this.#parts.log.ended({ id, attempt: number }, forward, retry).then(() => true);
    for (;;) {
      const isLast = this.#isClosing;
      if ((await this.#ask("end", write, false)) || isLast) return;
      await new Promise<void>((resolve) => void this.#parts.timers.after(LOOK_EVERY, resolve));
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#open.delete(tracked));
    this.#open.add(tracked);
  }
}

const pauseWords = ({ target, status, detail }: Forward, pause: number): string =>
  `The ${isBroker(new URL(target)) ? "broker" : "application"} at ${target} ${status === null ? `does not answer (${detail})` : `answers ${status}`}; next try in ${Math.ceil(pause / 1000)} s. Until it answers, one webhook at a time is tried, and the others wait.`;

/**
 * Asks the store, and gives `instead` where it fails; `what` tells one question from another. Warns once about a failure, and
 * again if the reason changes, or everything has succeeded meanwhile.
 */
function createStoreQuestion(warn: (text: string) => void) {
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

/** What the loop of a target waits for: somebody rings, or time passes. A ring while nobody waits ends the next wait. */
interface Bell {
  readonly ring: () => void;
  readonly heard: (milliseconds: number) => Promise<void>;
}

function createBell({ after }: Timers): Bell {
  let isRung = false;
  let wake = (): void => undefined;
  return {
    ring: () => {
      isRung = true;
      wake();
    },
    heard: async (milliseconds) => {
      if (!isRung)
        await new Promise<void>((resolve) => {
          const cancel = after(milliseconds, resolve);
          wake = () => {
            cancel();
            resolve();
          };
        });
      isRung = false;
    },
  };
}
