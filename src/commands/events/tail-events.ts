/** `paylink events tail`: prints events as `listen` does, as they arrive, until it is stopped. */
import type { Context } from "../../context.ts";
import { messageOf } from "../../domain/system-reason.ts";
import { asReceived, type EventFilter, type Followed } from "../../receiver/event-store.ts";
import { eventLine } from "../../receiver/events.ts";
import { createEventText } from "../event-text.ts";
import { transactionCommand } from "../shared-flags.ts";
import { withEvents } from "./stored-events.ts";

interface TailOptions {
  readonly filter: EventFilter;
  readonly compact: boolean;
  readonly database: string | undefined;
}

/** Milliseconds between two looks at the store. */
const LOOK_EVERY = 500;

export async function tailEvents(
  context: Context,
  { filter, compact, database }: TailOptions,
): Promise<number> {
  const { out, signal, now, pause } = context;
  const recordAt = (await context.settings()).get("recordAt");
  const text = createEventText({ out, compact, transactionCommand: await transactionCommand(context) });
  const unread = out.unread();
  out.streamWarnings();
  await withEvents(context, database, async (store) => {
    const look = store.follow(filter);
    // A wrong name fails at once. Later, a store that is away may come back.
    let result: Followed | undefined = await look(now());
    out.note(`Waiting for events in ${store.place}. Ctrl-C ends.`);
    let failure: string | undefined;
    while (!signal.aborted && !unread.aborted) {
      if (result?.isAnother === true)
        out.warn(`${store.place} is another event store now. Its events are shown from here on.`);
      for (const stored of result?.events ?? []) {
        if (stored.type === "damaged") {
          out.warn(`The stored event ${stored.id} is damaged: ${stored.reason}.`);
          continue;
        }
        const event = asReceived(stored, recordAt);
        out.lines([out.json ? eventLine(event, compact) : text(event)]);
        await out.drained();
      }
      if (result?.isEnd !== false) await pause(LOOK_EVERY);
      result = await look(now()).catch((error: unknown) => {
        const reason = messageOf(error);
        if (reason !== failure) out.warn(`The event store cannot be read: ${reason} paylink keeps trying.`);
        failure = reason;
        return undefined;
      });
      if (result !== undefined) failure = undefined;
    }
  });
  return 0;
}
