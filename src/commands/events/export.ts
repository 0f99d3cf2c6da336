/** `paylink events export`: events as the lines that `listen --json` prints, in order of arrival. */
import type { Context } from "../../context.ts";
import { eventLine } from "../../receiver/event-line.ts";
import { asReceived, readFilter, withEvents } from "./archive.ts";
import type { FilterFlags } from "./command.ts";

export async function exportEvents(context: Context, flags: FilterFlags): Promise<void> {
  const { out, now, signal } = context;
  const unread = out.unread();
  const filter = readFilter(flags, now());
  await withEvents(context, flags, async (store) => {
    for await (const kept of store.events(filter)) {
      if (signal.aborted || unread.aborted) return;
      out.data(eventLine(asReceived(kept)));
      await out.drained();
    }
  });
}
