/** Opens the kept events for one run, and finds the one that a user means. */
import type { Context } from "../../context.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { parseWhen } from "../../domain/when.ts";
import { readContent } from "../../receiver/content.ts";
import { eventJson, type WebhookEvent } from "../../receiver/events.ts";
import type { KeptEvent } from "../../store/event-archive.ts";
import type { EventFilter } from "../../store/event-pages.ts";
import { eventsPath, openEventStore, type EventStore } from "../../store/events.ts";
import type { FilterFlags } from "./command.ts";

export async function withEvents<T>(
  { dataFolder }: Context,
  { db }: { readonly db?: string },
  work: (store: EventStore) => T | Promise<T>,
): Promise<T> {
  const store = openEventStore(db ?? eventsPath(dataFolder));
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** What was kept was within its limit when it came. */
const MAX_CONTENT = 64 * 1024 * 1024;

/** The event as it was when it came. */
export function asReceived(kept: KeptEvent): WebhookEvent {
  const { type, id, receivedAt, verdict, request } = kept;
  const { record, breaches } = readContent(request, MAX_CONTENT);
  const json = eventJson(verdict, request);
  return { type, id, receivedAt, repeated: false, verdict, request, record, breaches, json };
}

const OUTCOMES = ["APPROVED", "DECLINED", "CANCELLED", "UNCLEAR"];

/** Throws one `usage` failure with every problem. */
export function readFilter(flags: FilterFlags, now: Date, defaultLimit?: number): EventFilter {
  const problems: Problem[] = [];
  const when = (at: string, text: string | undefined): Date | undefined => {
    const parsed = text === undefined ? undefined : parseWhen(text, now, -1);
    if (parsed?.ok === false) problems.push({ at, message: parsed.message });
    return parsed?.ok === true ? parsed.value : undefined;
  };
  const outcome = flags.outcome?.trim().toUpperCase();
  if (outcome !== undefined && !OUTCOMES.includes(outcome))
    problems.push({ at: "--outcome", message: "must be approved, declined, cancelled or unclear" });
  if (flags.limit !== undefined && !/^[1-9]\d{0,8}$/.test(flags.limit))
    problems.push({ at: "--limit", message: "must be a whole number from 1" });
  const filter = {
    outcome,
    reference: flags.reference,
    since: when("--since", flags.since),
    until: when("--until", flags.until),
    limit: flags.limit === undefined ? defaultLimit : Number(flags.limit),
  };
  if (problems.length > 0) throw new PaylinkError("usage", "No event was listed.", { problems });
  return filter;
}
