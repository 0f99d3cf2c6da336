/** The event log of `listen`: the event store, in which other commands find its listeners, or memory for this run alone. */
import type { Context } from "../../context.ts";
import type { ForwardQueue, Listener } from "../../receiver/event-store.ts";
import type { EventLog } from "../../receiver/events.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";

export interface OpenedLog {
  readonly log: EventLog;
  /** What is acknowledged and not forwarded yet; undefined if no events are kept. */
  readonly queue: ForwardQueue | undefined;
  /** Rejects if no event can be stored. */
  readonly check: () => Promise<void>;
  /** Lets `create --wait` find these. */
  readonly announce: (listeners: readonly Listener[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** `database` is null to keep no events. Throws `file_unreadable` or `file_unwritable`. */
export async function openLog(
  database: string | null | undefined,
  { events }: Pick<Context, "events">,
): Promise<OpenedLog> {
  const nothing = async (): Promise<void> => undefined;
  if (database === null)
    return { log: createMemoryLog(), queue: undefined, check: nothing, announce: nothing, close: nothing };
  const store = await events(database);
  await store.ready();
  let announced: readonly Listener[] = [];
  return {
    log: store,
    queue: store.queue,
    check: () => store.ready(),
    announce: async (listeners) => {
      announced = listeners;
      for (const listener of listeners) await store.addListener(listener);
    },
    close: async () => {
      // A listener that stays in the store does no harm: others see that its port is free.
      for (const listener of announced) await store.removeListener(listener).catch(() => undefined);
      await store.close();
    },
  };
}
