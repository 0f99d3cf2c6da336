/** What a script waits for: so many webhooks, or so many of an outcome, and which of them have not come yet. */
import { outcomeOf, type Outcome } from "../../domain/transaction.ts";
import type { WebhookEvent } from "../../receiver/events.ts";

export interface Expectation {
  /** Null where any will do. */
  readonly outcome: Outcome | null;
  readonly count: number;
}

const OUTCOMES: readonly Outcome[] = ["APPROVED", "DECLINED", "CANCELLED", "UNCLEAR"];

export function parseOutcome(text: string): Outcome | undefined {
  return OUTCOMES.find((outcome) => outcome === text.trim().toUpperCase());
}

/** `2` or `approved:2`, from 1. */
export function parseExpectation(text: string): Expectation | undefined {
  const [, name, digits = ""] = /^(?:([a-z]+):)?(\d{1,9})$/i.exec(text.trim()) ?? [];
  const outcome = name === undefined ? null : parseOutcome(name);
  return outcome === undefined || Number(digits) < 1 ? undefined : { outcome, count: Number(digits) };
}

export interface Tally {
  /** Counts an event; only those that verified, and each of them once. */
  readonly count: (event: WebhookEvent) => void;
  /** What has not come, in words; nothing once all have. */
  readonly missing: () => string[];
}

export function createTally(expectations: readonly Expectation[]): Tally {
  const come = new Map<Outcome | null, number>();
  const add = (outcome: Outcome | null): void => void come.set(outcome, (come.get(outcome) ?? 0) + 1);
  return {
    count: ({ record, repeated, verdict }) => {
      if (repeated || verdict.verdict !== "valid") return;
      add(null);
      if (record !== null) add(outcomeOf(record));
    },
    missing: () =>
      expectations.flatMap(({ outcome, count }) => {
        const had = come.get(outcome) ?? 0;
        const what = outcome === null ? "webhooks" : outcome.toLowerCase();
        return had >= count ? [] : [`${count - had} of ${count} ${what}`];
      }),
  };
}
