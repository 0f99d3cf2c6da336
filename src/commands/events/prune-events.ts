/** `paylink events prune`: deletes what was received before a given time. */
import type { Context } from "../../context.ts";
import { formatLocal } from "../../render/time.ts";
import type { PruneOptions } from "./options.ts";
import { eventCount, withEvents } from "./stored-events.ts";

export async function pruneEvents(context: Context, options: PruneOptions): Promise<number> {
  const { out } = context;
  const { before } = options;
  const { events, rejections } = await withEvents(context, options, async (store) => store.prune(before));
  if (out.json) out.data(JSON.stringify({ before, events, rejections }));
  else
    out.data(
      `Deleted ${eventCount(events)} and ${rejections} rejected ${rejections === 1 ? "webhook" : "webhooks"} from before ${formatLocal(before)}`,
    );
  return 0;
}
