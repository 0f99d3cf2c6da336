/** What became of an event, in words: every place says it in these. */
import { capitalized } from "../values/sentence.ts";
import { plural } from "../values/plural.ts";
import { answerText } from "../http/answer-words.ts";
import { isSuccess } from "../http/message.ts";
import type { EventFate, EventStanding } from "./event-standing.ts";
import type { StoredAttempt } from "./history.ts";

interface FateWords {
  readonly kind: "good" | "bad" | "waiting";
  /** For lists and logs. */
  readonly label: string;
  /** What comes next, after a colon or as a sentence. */
  readonly next: string;
}

export const FATES: Readonly<Record<EventFate, FateWords>> = {
  received: {
    kind: "good",
    label: "not forwarded",
    next: "it is not forwarded: start listen with --forward-to",
  },
  pending: { kind: "waiting", label: "pending", next: "it waits to be forwarded" },
  trying: { kind: "waiting", label: "being forwarded now", next: "it is being forwarded now" },
  delivered: { kind: "good", label: "delivered", next: "your application accepted it" },
  refused: {
    kind: "bad",
    label: "refused; the service sends it again",
    next: "the service was told, and will send it again",
  },
  failed: { kind: "bad", label: "failed", next: "it is not sent again by itself" },
  skipped: { kind: "waiting", label: "skipped", next: "it was skipped, and will not be forwarded" },
};

/** `pending, 2 attempts, next in 5 seconds`, where `timeOf` says "in 5 seconds". */
export function standingLabel(
  { fate, attempts, next }: Omit<EventStanding, "decidedBy">,
  timeOf: (at: Date) => string,
): string {
  const { label } = FATES[fate];
  if (fate === "failed") return `${label} after ${plural(attempts, "attempt")}`;
  return fate !== "pending" || attempts === 0
    ? label
    : `${label}, ${attemptsText(attempts, next)}${next === null ? "" : ` ${timeOf(next)}`}`;
}

/** `2 attempts, next`, before the time of the next one. */
export const attemptsText = (attempts: number, next: Date | null): string =>
  `${plural(attempts, "attempt")}${next === null ? "" : ", next"}`;

/** Sentences: what the application did, why it did not answer, and what comes next. With a time, `next` ends before it. */
export function standingWords({ fate, attempts, next, decidedBy }: EventStanding) {
  const at = fate === "pending" && attempts > 0 ? next : null;
  const isEnd = decidedBy !== undefined && (fate === "received" || fate === "delivered");
  return {
    kind: decidedBy === undefined ? FATES[fate].kind : isSuccess(decidedBy.status) ? "good" : "bad",
    did: decidedBy && didText(decidedBy),
    why: decidedBy?.status === null ? decidedBy.detail : undefined,
    next: isEnd ? undefined : at === null ? `${capitalized(FATES[fate].next)}.` : `Attempt ${attempts + 1}`,
    at,
  } as const;
}

function didText(attempt: StoredAttempt): string {
  if (attempt.status === null) return "Your application did not answer.";
  const text = `Your application ${isSuccess(attempt.status) ? "accepted" : "refused"} it: ${answerText(attempt)}`;
  // An answer may be a sentence.
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
