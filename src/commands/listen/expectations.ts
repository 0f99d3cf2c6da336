/** What a script waits for (`--expect`): a number of webhooks, or of one outcome, and how many are still missing. */
import { accepted, type Parsed, refused } from "../../domain/parse-result.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import type { WebhookEvent } from "../../receiver/events.ts";
import { parseCount, parseOutcome } from "../flag-values.ts";

export interface Expectation {
  /** Null for any outcome. */
  readonly outcome: Outcome | null;
  readonly count: number;
}

const MAX_COUNT = 1_000_000_000;

/** `2` or `approved:2`, from 1. */
export function parseExpectation(text: string): Parsed<Expectation> {
  const [name, digits] = text.includes(":") ? text.split(":", 2) : [undefined, text];
  const outcome = name === undefined ? accepted(null) : parseOutcome(name);
  const count = parseCount(1, MAX_COUNT)(digits ?? "");
  return outcome.ok && count.ok
    ? accepted({ outcome: outcome.value, count: count.value })
    : refused("must be a number or an outcome with a number, such as 2 or approved:2");
}

export interface Tally {
  /** Counts an event that verified, once. */
  readonly count: (event: WebhookEvent) => void;
  /** What is still missing, in words; empty once everything has arrived. */
  readonly missing: () => string[];
}

export function createTally(expectations: readonly Expectation[]): Tally {
  const counts = new Map<Outcome | null, number>();
  const add = (outcome: Outcome | null): void => void counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return {
    count: ({ record, repeated, verdict }) => {
      if (repeated || verdict.verdict !== "valid") return;
      add(null);
      if (record !== null) add(outcomeOf(record));
    },
    missing: () =>
      expectations.flatMap(({ outcome, count }) => {
        const arrived = counts.get(outcome) ?? 0;
        const name = outcome === null ? "webhooks" : outcome.toLowerCase();
        return arrived >= count ? [] : [`${count - arrived} of ${count} ${name}`];
      }),
  };
}
