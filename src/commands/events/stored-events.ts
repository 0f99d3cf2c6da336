/** Opens the event store for one command, and reads a stored event as it was received. */
import type { Context } from "../../context.ts";
import { readContent } from "../../receiver/content.ts";
import { eventJson, type WebhookEvent } from "../../receiver/events.ts";
import type { EventStore, StoredEvent } from "../../receiver/event-store.ts";

export async function withEvents<T>(
  { events }: Context,
  { database }: { readonly database: string | undefined },
  work: (store: EventStore) => Promise<T>,
): Promise<T> {
  const store = await events(database);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

export const eventCount = (count: number): string => (count === 1 ? "1 event" : `${count} events`);

/** The limit that `listen` had when it stored an event does not apply to reading it. */
const MAX_CONTENT = 64 * 1024 * 1024;

export function asReceived({ type, id, receivedAt, verdict, request }: StoredEvent): WebhookEvent {
  const { record, breaches } = readContent(request, MAX_CONTENT);
  const json = eventJson(verdict, request);
  return { type, id, receivedAt, repeated: false, verdict, request, record, breaches, json };
}
