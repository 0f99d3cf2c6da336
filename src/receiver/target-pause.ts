/** Holds requests back from one target that does not answer: one probe at a time goes out, in pauses that grow. */
import type { Attempt } from "./forward.ts";

/** The longest pause between two probes, whatever the delays of the retries. */
const LONGEST_PAUSE = 60_000;
/** The longest pause that an application can ask for with `Retry-After`. */
const LONGEST_ASKED = 600_000;
/** One failure may be of one event. */
const SAID_AT = 2;

/** How an attempt ended, as far as it tells about the target. */
type Answer = Pick<Attempt, "status" | "retryAfter">;

interface PauseParts {
  /** Milliseconds before each retry: after the nth failure in a row, the target has as long a pause. */
  readonly delays: readonly number[];
  readonly warn: (text: string) => void;
}

export function createTargetPause(target: URL, { delays, warn }: PauseParts) {
  /** Failures in a row, and the end of the pause after the last one, by a clock that nobody sets. */
  let [failures, until] = [0, 0];
  /** How many attempts were answered: what fails while others are answered is of its event. */
  let answers = 0;
  const fail = ({ status, retryAfter = 0 }: Answer, isProbe: boolean): void => {
    // Of several attempts that were under way together, the first that fails counts.
    const isFirst = failures === 0 || isProbe;
    if (isFirst) failures += 1;
    const delay = isFirst ? (delays[Math.min(failures, delays.length) - 1] ?? 0) : 0;
    const pause = Math.max(Math.min(delay, LONGEST_PAUSE), Math.min(retryAfter, LONGEST_ASKED));
    until = Math.max(until, performance.now() + pause);
    if (isFirst && failures === SAID_AT) warn(pauseWords(target, status, pause));
  };
  return {
    /** How many more attempts there is time for, of at most so many, while so many have it. */
    room: (most: number, busy: number): number => {
      if (failures === 0) return most - busy;
      return performance.now() < until ? 0 : 1 - busy;
    },
    /** Whether the target did not answer the last time. */
    isProbing: (): boolean => failures > 0,
    /** Begins an attempt while so many others are under way, and gives what ends it. */
    begin: (sending: number) => {
      const isProbe = failures > 0 && sending === 0;
      const answeredBefore = answers;
      return (answer: Answer): void => {
        if (!isFailure(answer)) {
          answers += 1;
          [failures, until] = [0, 0];
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
