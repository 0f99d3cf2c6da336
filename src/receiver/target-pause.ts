/** Holds requests back from one target that does not answer, in pauses that grow, until it answers again. */
import type { Attempt } from "./forward.ts";

/** The longest pause, whatever the delays of the retries. */
const LONGEST_PAUSE = 60_000;
/** The longest pause that an application can ask for with `Retry-After`. */
const LONGEST_ASKED = 600_000;
/** One failure may be of one event. */
const SAID_AT = 2;

/** How an attempt ended, as far as it tells about the target. */
export type Answer = Pick<Attempt, "status" | "retryAfter">;

/** A target that failed, and has not answered since. */
interface Failing {
  failures: number;
  /** When it failed last: a clock that shows less has been set back, and no pause is meant to last until then. */
  at: number;
  /** No retries before. */
  until: number;
  /** No attempts at all before: the application has asked for this. */
  asked: number;
  /** The attempts under way that show whether it answers again. */
  readonly probes: Set<"first" | "retry">;
}

/** What may be claimed. */
export interface Allowed {
  readonly limit: number;
  /** First attempts only: retries wait. */
  readonly firsts: boolean;
  /** Milliseconds until more may be allowed. */
  readonly next: number;
}

export interface TargetPause {
  readonly allowed: () => Allowed;
  /** Begins an attempt, and gives what ends it; undefined if it must wait. */
  readonly begin: (isFirst: boolean) => ((answer: Answer) => void) | undefined;
}

interface PauseParts {
  /** Milliseconds before each retry: after the nth failure in a row, the target has as long a pause. */
  readonly delays: readonly number[];
  readonly now: () => Date;
  readonly warn: (text: string) => void;
}

const WHOLE: Allowed = { limit: Infinity, firsts: false, next: Infinity };

export const NO_PAUSE: TargetPause = { allowed: () => WHOLE, begin: () => () => undefined };

/**
 * While a target fails, retries wait for the end of its pause, and then one of them shows whether it answers. First attempts
 * go on, one at a time: an application may refuse one event for ever, and that must not hold up the others. The first answer
 * ends the pause.
 */
export function createTargetPause(target: URL, { delays, now, warn }: PauseParts): TargetPause {
  let failing: Failing | undefined;
  const pauseAfter = (failures: number): number =>
    Math.min(delays[Math.min(failures, delays.length) - 1] ?? 0, LONGEST_PAUSE);
  const fail = ({ status, retryAfter = 0 }: Answer): void => {
    const time = now().getTime();
    const state = (failing ??= { failures: 0, at: 0, until: 0, asked: 0, probes: new Set() });
    const isInPause = isBefore(state.until, state, time);
    state.at = time;
    state.asked = Math.max(isInPause ? state.asked : 0, time + Math.min(retryAfter, LONGEST_ASKED));
    // Of several failures in one pause, the first one counts.
    if (!isInPause) {
      state.failures += 1;
      state.until = time + pauseAfter(state.failures);
      if (state.failures === SAID_AT)
        warn(pauseWords(target, status, Math.max(state.until, state.asked) - time));
    }
    state.until = Math.max(state.until, state.asked);
  };
  const allowsOne = (state: Failing, time: number): boolean =>
    !isBefore(state.asked, state, time) && !state.probes.has("first");
  const holdsRetries = (state: Failing, time: number): boolean =>
    isBefore(state.until, state, time) || state.probes.has("retry");
  return {
    allowed: () => {
      if (failing === undefined) return WHOLE;
      const time = now().getTime();
      const ends = [failing.until, failing.asked].filter((end) => end > time);
      return {
        limit: allowsOne(failing, time) ? 1 : 0,
        firsts: holdsRetries(failing, time),
        next: Math.min(...ends.map((end) => end - time)),
      };
    },
    begin: (isFirst) => {
      const state = failing;
      const probe = isFirst ? "first" : "retry";
      if (state !== undefined) {
        const time = now().getTime();
        if (!allowsOne(state, time) || (!isFirst && holdsRetries(state, time))) return undefined;
        state.probes.add(probe);
      }
      return (answer) => {
        state?.probes.delete(probe);
        if (isFailure(answer)) fail(answer);
        else failing = undefined;
      };
    },
  };
}

const isBefore = (end: number, { at }: Failing, time: number): boolean => at <= time && time < end;

/** No answer, or one that says that no other event would fare better now. */
const isFailure = ({ status }: Answer): boolean => status === null || status === 429 || status >= 500;

const pauseWords = (target: URL, status: number | null, milliseconds: number): string =>
  `The application at ${target.href} ${status === null ? "does not answer" : `answers ${status}`}; next try in ${Math.ceil(milliseconds / 1000)} s. Until it answers, new webhooks go out one at a time, and retries wait.`;
