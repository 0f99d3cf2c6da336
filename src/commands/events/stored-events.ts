/** Opens the event store for one command, and counts in words. */
import type { Context } from "../../context.ts";
import type { EventStore } from "../../receiver/event-store.ts";

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
