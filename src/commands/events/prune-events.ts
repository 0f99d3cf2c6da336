/** `paylink events prune`: deletes what was received before a given time. */
import type { Context } from "../../context.ts";
import type { EventStore, Pruned } from "../../receiver/event-store.ts";
import { formatLocal } from "../../render/layout.ts";
import type { PruneOptions } from "./options.ts";
import { isConfirmed } from "../confirm.ts";
import { eventCount, withEvents } from "./stored-events.ts";

export async function pruneEvents(context: Context, options: PruneOptions): Promise<number> {
  const { out } = context;
  const { before } = options;
  await withEvents(context, options, async (store) => {
    if (!(await mayPrune(store, options, context))) {
      out.note("Nothing was deleted.");
      return;
    }
    const pruned = await store.prune(before);
    out.data(
      out.json
        ? JSON.stringify({ before, ...pruned })
        : `Deleted ${inWords(pruned)} received before ${formatLocal(before)}`,
    );
  });
  return 0;
}

/** Asks on a terminal, unless there is nothing to delete. */
async function mayPrune(store: EventStore, { before }: PruneOptions, context: Context): Promise<boolean> {
  const old = await store.countBefore(before);
  if (old.events + old.rejections === 0) return true;
  return isConfirmed(context, `Delete ${inWords(old)} received before ${formatLocal(before)}?`);
}

const inWords = ({ events, rejections }: Pruned): string =>
  `${eventCount(events)} and ${rejections} rejected ${rejections === 1 ? "webhook" : "webhooks"}`;
