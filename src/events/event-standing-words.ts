/** What became of an event, in words: every place says it in these. */
import { capitalized } from "../domain/sentence.ts";
import { isSuccess } from "../http/message.ts";
import type { EventFate, EventStanding } from "./event-standing.ts";
import type { StoredAttempt } from "./history.ts";

interface FateWords {
  readonly kind: "good" | "bad" | "waiting";
  /** What comes next, after a colon or as a sentence. */
  readonly next: string;
  /** What `events retry` does, if it does anything that would not happen anyway. */
  readonly retry?: string;
}

const RETRY = "lets a listen --ack stored forward it";

export const FATES: Readonly<Record<EventFate, FateWords>> = {
  received: { kind: "good", next: "it is not forwarded: start listen with --forward-to" },
  pending: { kind: "waiting", next: "it waits to be forwarded" },
  trying: { kind: "waiting", next: "it is being forwarded now" },
  delivered: { kind: "good", next: "your application accepted it" },
  refused: { kind: "bad", next: "the service was told, and will send it again", retry: RETRY },
  failed: { kind: "bad", next: "it is not sent again by itself", retry: RETRY },
  skipped: {
    kind: "waiting",
    next: "it was skipped, and will not be forwarded",
    retry: "forwards it after all",
  },
};

/** What is known of an attempt that has just ended, too. */
type Progress = Pick<EventStanding, "attempts" | "next">;

const LABELS: Readonly<Record<EventFate, (progress: Progress, timeOf: (at: Date) => string) => string>> = {
  received: () => "not forwarded",
  pending: ({ attempts, next }, timeOf) =>
    attempts === 0
      ? "pending"
      : `pending, ${attemptCount(attempts)}${next === null ? "" : `, next ${timeOf(next)}`}`,
  trying: () => "being forwarded now",
  delivered: ({ attempts }) => (attempts > 1 ? `delivered after ${attemptCount(attempts)}` : "delivered"),
  refused: () => "refused; the service sends it again",
  failed: ({ attempts }) => `failed after ${attemptCount(attempts)}`,
  skipped: () => "skipped",
};

/** For lists and logs: `pending, 2 attempts, next in 5 seconds`, where `timeOf` says "in 5 seconds". */
export const standingLabel = (
  { fate, ...progress }: Progress & Pick<EventStanding, "fate">,
  timeOf: (at: Date) => string,
): string => LABELS[fate](progress, timeOf);

const attemptCount = (count: number): string => (count === 1 ? "1 attempt" : `${count} attempts`);

/** Sentences. */
export interface EventWords {
  readonly kind: FateWords["kind"];
  /** What the application did; undefined where that says nothing of how the event stands. */
  readonly did: string | undefined;
  /** Why it did not answer. */
  readonly why: string | undefined;
  /** What comes next; undefined where nothing does. With a time, it ends before it, and lacks the full stop. */
  readonly next: string | undefined;
  readonly at: Date | null;
}

export function standingWords({ fate, attempts, next, decidedBy }: EventStanding): EventWords {
  const isPlanned = fate === "pending" && attempts > 0 && next !== null;
  const isEnd = decidedBy !== undefined && (fate === "received" || fate === "delivered");
  return {
    kind: decidedBy === undefined ? FATES[fate].kind : isSuccess(decidedBy.status) ? "good" : "bad",
    did: decidedBy && didText(decidedBy),
    why: decidedBy?.status === null ? decidedBy.detail : undefined,
    next: isPlanned ? `Attempt ${attempts + 1}` : isEnd ? undefined : `${capitalized(FATES[fate].next)}.`,
    at: isPlanned ? next : null,
  };
}

function didText(attempt: StoredAttempt): string {
  if (attempt.status === null) return "Your application did not answer.";
  const text = `Your application ${isSuccess(attempt.status) ? "accepted" : "refused"} it: ${answerText(attempt)}`;
  // An answer may be a sentence.
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

/** `500 nope`, `no answer`, `200 in 2 ms`; the page of the event has the reason why there was no answer, and all of an answer. */
export function answerText({ status, ms, detail }: StoredAttempt): string {
  if (status === null) return "no answer";
  if (isSuccess(status)) return `${status} in ${ms} ms`;
  // Pages of errors begin with their status.
  return detail.startsWith(String(status)) ? detail : `${status} ${detail}`.trim();
}
