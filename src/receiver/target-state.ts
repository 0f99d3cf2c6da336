/** What one target can take now: free places for attempts, those that hang, and the pause while the target is down. */
import { retryAfter } from "../http/message.ts";
import type { AttemptResult } from "./attempt.ts";

/** The longest pause that holds back an event that was not attempted yet, or that an operator retries. */
const MAX_PAUSE = 5_000;
/** The longest pause that an application can ask for with `Retry-After`. */
const LONGEST_ASKED = 600_000;
/** This many different events must fail in a row: fewer failures may be the fault of the events. */
const IN_A_ROW = 3;
/** Attempts that hang beside the others, for each place: more would burden an application that is only slow. */
const HUNG_MOST = 2;
/** Milliseconds in which the pauses of an unstable target are reported only once. */
const TELL_EVERY = 60_000;

interface Running {
  readonly event: string;
  /** How many attempts that began later were answered before it. */
  overtaken: number;
}

interface TargetPause {
  /** When the next attempt may begin, as a probe. */
  probeAt: number;
  /** Until then, only first attempts and retries of an operator are probes: the application asks for a pause. */
  readonly heldUntil: number;
  /** Milliseconds between two probes. */
  readonly spacing: number;
}

/** How many attempts can begin. */
export interface Room {
  readonly limit: number;
  /** Events that were not attempted, or that an operator retries, come first, or alone. */
  readonly fresh: "no matter" | "first" | "only";
}

/** All times are of one clock, in milliseconds. */
export class TargetState {
  readonly #concurrency: number;
  readonly #spacing: number;
  /** In the order in which they began. */
  readonly #running = new Set<Running>();
  /** The events that have failed since the target last answered. */
  readonly #failing = new Set<string>();
  #pause: TargetPause | undefined;
  /** When a pause was last reported. */
  #toldAt = -Infinity;

  /** `firstDelay` is that of the retries: a user who retries sooner does not want a longer pause. */
  constructor(concurrency: number, firstDelay = MAX_PAUSE) {
    this.#concurrency = concurrency;
    this.#spacing = Math.min(firstDelay, MAX_PAUSE);
  }

  /** Undefined if no attempt can begin now. */
  room(at: number): Room | undefined {
    const free = this.#concurrency - (this.#running.size - this.#hung());
    if (free <= 0 || at < (this.#pause?.probeAt ?? 0)) return undefined;
    if (this.#pause === undefined) return { limit: free, fresh: "no matter" };
    return { limit: 1, fresh: at < this.#pause.heldUntil ? "only" : "first" };
  }

  /** Whether the target is down, as far as is known: one attempt at a time is made, in pauses. */
  isPaused(): boolean {
    return this.#pause !== undefined;
  }

  /** Milliseconds until an attempt may begin, as far as a pause decides that. */
  pauseLeft(at: number): number {
    return this.#pause === undefined ? 0 : Math.max(0, this.#pause.probeAt - at);
  }

  begin(event: string, at: number): Running {
    const running = { event, overtaken: 0 };
    this.#running.add(running);
    if (this.#pause !== undefined) this.#pause.probeAt = at + this.#pause.spacing;
    return running;
  }

  /** Returns the milliseconds of the pause that this begins, if it must be reported; undefined otherwise. */
  end(running: Running, result: AttemptResult, at: number, now: Date): number | undefined {
    this.#overtake(running, result);
    this.#running.delete(running);
    if (!isFailure(result)) {
      this.#failing.clear();
      this.#pause = undefined;
      return undefined;
    }
    this.#failing.add(running.event);
    const asked = askedPause(result, now);
    if (asked === undefined && result.kind !== "notReached" && this.#failing.size < IN_A_ROW)
      return undefined;
    return this.#beginPause(asked, at);
  }

  #beginPause(asked: number | undefined, at: number): number | undefined {
    const before = this.#pause;
    const spacing = asked === undefined ? this.#spacing : Math.min(asked, MAX_PAUSE);
    this.#pause = {
      // What fails during a pause, probes included, does not make it longer.
      probeAt: before?.probeAt ?? at + spacing,
      heldUntil: Math.max(before?.heldUntil ?? 0, at + (asked ?? 0)),
      spacing,
    };
    if (before !== undefined || at - this.#toldAt < TELL_EVERY) return undefined;
    this.#toldAt = at;
    return asked ?? spacing;
  }

  /** An answer shows that the attempts that began before it take longer than others. */
  #overtake(running: Running, { kind }: AttemptResult): void {
    if (kind !== "answered") return;
    for (const earlier of this.#running) {
      if (earlier === running) return;
      earlier.overtaken += 1;
    }
  }

  /** An attempt takes no place once as many others have overtaken it as there are places: its event is what hangs. */
  #hung(): number {
    let hung = 0;
    for (const { overtaken } of this.#running) if (overtaken >= this.#concurrency) hung += 1;
    return Math.min(hung, HUNG_MOST * this.#concurrency);
  }
}

/** No answer, or one that says that another event would fare no better now. */
const isFailure = (result: AttemptResult): boolean =>
  result.kind !== "answered" || result.status === 429 || (result.status >= 502 && result.status <= 504);

/** Milliseconds for which the application asks to be left alone; undefined if it does not. */
function askedPause(result: AttemptResult, now: Date): number | undefined {
  const asked = askedTime(result, now);
  if (asked === undefined && result.kind === "answered" && result.status === 429) return MAX_PAUSE;
  return asked === undefined ? undefined : Math.min(asked, LONGEST_ASKED);
}

/** What the answer to an event asks for, in milliseconds: it holds for that event, whatever becomes of others. */
export const askedTime = (result: AttemptResult, now: Date): number | undefined =>
  result.kind === "answered" && (result.status === 429 || result.status === 503)
    ? retryAfter(result, now)
    : undefined;
