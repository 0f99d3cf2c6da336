/** `paylink events tail`: prints events, or rejected webhooks, as `listen` does, as they arrive, until it is stopped. */
import type { Context } from "../../context.ts";
import { messageOf } from "../../values/system-reason.ts";
import type { Followed } from "../../store/following.ts";
import type { StoredRequest } from "../../events/history.ts";
import { eventLine, jsonLine, rejectionLine } from "../../events/event-json.ts";
import { createEventText, rejectionText } from "../event-text.ts";
import { ordered, readingKeys } from "../order-standings.ts";
import type { ValuesOf } from "../command.ts";
import type { tailFlags } from "./command.ts";

/** Milliseconds between two looks at the store. */
const POLL_INTERVAL = 500;

export async function tailEvents(
  context: Context,
  { db, rejected, full, compact, ...filter }: ValuesOf<typeof tailFlags>,
): Promise<number> {
  const { out, signal, now, pause } = context;
  const text = createEventText({ out, full, compact });
  const print = (stored: StoredRequest): void =>
    out.line(
      () => (stored.type === "rejected" ? rejectionLine(stored) : eventLine(stored, compact)),
      () => (stored.type === "rejected" ? rejectionText(stored, out) : text(stored)),
    );
  const unread = out.unread();
  out.keepLog();
  const store = await context.events(db);
  const follow = store.follow(filter, rejected);
  const keysOfRun = readingKeys(context);
  const look = async (at: Date): Promise<Followed<StoredRequest>> => {
    const followed = await follow(at);
    return { ...followed, found: await ordered(followed.found, store, keysOfRun) };
  };
  // A wrong name fails at once. Later, a store that is away may come back.
  let result: Followed<StoredRequest> | undefined = await look(now());
  out.line(() => jsonLine("ready", now(), { store: store.place }), undefined);
  out.note(`Waiting for ${rejected ? "rejected webhooks" : "events"} in ${store.place}. Ctrl-C ends.`);
  let failure: string | undefined;
  while (!signal.aborted && !unread.aborted) {
    for (const stored of result?.found ?? []) {
      print(stored);
      await out.drained();
    }
    if (result?.isEnd !== false) await pause(POLL_INTERVAL);
    result = await look(now()).catch((error: unknown) => {
      if (signal.aborted) return undefined;
      const reason = messageOf(error);
      if (reason !== failure) out.warn(`The event store cannot be read: ${reason} paylink keeps trying.`);
      failure = reason;
      return undefined;
    });
    if (result !== undefined) failure = undefined;
  }
  return 0;
}
