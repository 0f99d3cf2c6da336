/** Holds requests back from one target that does not answer: one probe at a time goes out, in pauses that grow. */
import type { Attempt } from "./forward.ts";

/** The longest pause between two probes, whatever the delays of the retries. */
const LONGEST_PAUSE = 60_000;
/** The longest pause that an application can ask for with `Retry-After`. */
const LONGEST_ASKED = 600_000;
/** One failure may be of one event. */
const SAID_AT = 2;

/** How an attempt ended, as far as it tells about the target. */
export type Answer = Pick<Attempt, "status" | "retryAfter">;

export interface TargetPause {
  /** Milliseconds until an attempt may begin: 0 for now, and Infinity while a probe is under way. */
  readonly wait: () => number;
  /** Whether the target did not answer the last time, so that one attempt at a time may be made. */
  readonly isProbing: () => boolean;
  /** Begins an attempt, and gives what ends it. */
  readonly begin: () => (answer: Answer) => void;
}

interface PauseParts {
  /** Milliseconds before each retry: after the nth failure in a row, the target has as long a pause. */
  readonly delays: readonly number[];
  readonly now: () => Date;
  readonly warn: (text: string) => void;
}

export function createTargetPause(target: URL, { delays, now, warn }: PauseParts): TargetPause {
  /** Failures in a row, the time of the last one, and the end of its pause. */
  let [failures, failedAt, until] = [0, 0, 0];
  let probes = 0;
  /** How many attempts were answered: what fails while others are answered is of its event. */
  let answers = 0;
  const time = (): number => now().getTime();
  const fail = ({ status, retryAfter = 0 }: Answer, isProbe: boolean): void => {
    const asked = Math.min(retryAfter, LONGEST_ASKED);
    const isPaused = failures > 0 && !isProbe;
    // Of several attempts that were under way together, the first that fails counts.
    if (!isPaused) failures += 1;
    const pause = Math.min(delays[Math.min(failures, delays.length) - 1] ?? 0, LONGEST_PAUSE);
    failedAt = time();
    until = Math.max(isPaused ? until : 0, failedAt + Math.max(isPaused ? 0 : pause, asked));
    if (!isPaused && failures === SAID_AT) warn(pauseWords(target, status, until - failedAt));
  };
  return {
    wait: () => {
      if (failures === 0) return 0;
      if (probes > 0) return Infinity;
      // A clock that was set back: no pause is meant to last until then.
      return time() < failedAt ? 0 : Math.max(0, until - time());
    },
    isProbing: () => failures > 0,
    begin: () => {
      const isProbe = failures > 0;
      const answeredBefore = answers;
      if (isProbe) probes += 1;
      return (answer) => {
        if (isProbe) probes -= 1;
        if (!isFailure(answer)) {
          answers += 1;
          failures = 0;
        } else if (isProbe || answers === answeredBefore) fail(answer, isProbe);
      };
    },
  };
}

/** No answer, or one that says that no other event would fare better now. */
const isFailure = ({ status }: Answer): boolean =>
  status === null || status === 429 || (status >= 502 && status <= 504);

const pauseWords = (target: URL, status: number | null, milliseconds: number): string =>
  `The application at ${target.href} ${status === null ? "does not answer" : `answers ${status}`}; next try in ${Math.ceil(milliseconds / 1000)} s. Until it answers, one webhook at a time is tried, and the others wait.`;
