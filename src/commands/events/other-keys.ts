/** The events that a command leaves out, because a key that it does not have has verified them. */
import { plural, wordFor } from "../../values/plural.ts";
import { type Effect, PaylinkError } from "../../domain/errors.ts";
import { hint, paylink } from "../../domain/hint.ts";
import type { RunKeys } from "../../events/event.ts";
import type { EventStore } from "../../store/event-store.ts";
import type { StoredEvent } from "../../events/history.ts";

/** The named events that keys of this run have verified. Throws `usage` if there are none. */
export function ownEvents(events: readonly StoredEvent[], keys: RunKeys, effect: Effect): StoredEvent[] {
  const own = events.filter(({ key }) => keys.includes(key));
  const [other] = events;
  if (own.length === 0 && other !== undefined)
    throw new PaylinkError("usage", otherKeyWords(events.length), {
      effect,
      hints: [
        hint`Name the profile that received ${wordFor(events.length, "it", "them")} (-p), or that key (--key).`,
        hint`To see which key it was: ${paylink`events show ${other.id}`}`,
      ],
    });
  return own;
}

/** The keys of the events that a user names, or else of all that wait or failed. */
export async function keysOf(
  store: Pick<EventStore, "backlog">,
  named: readonly StoredEvent[],
): Promise<RunKeys> {
  return named.length > 0 ? named.map(({ key }) => key) : (await store.backlog()).keys.map(({ key }) => key);
}

/** What is said of events that are left out. */
export const otherKeyWords = (count: number): string =>
  `${plural(count, "event")} ${wordFor(count, "was", "were")} left out: ${wordFor(count, "it was", "they were")} verified by a key that is not in use here.`;
