/** `paylink events export`: prints events as the lines of `listen --json`, in order of arrival. */
import type { Context } from "../../context.ts";
import { asReceived } from "../../receiver/event-store.ts";
import { eventLine } from "../../receiver/events.ts";
import { safeJson } from "../../render/safe-text.ts";
import type { ExportOptions } from "./options.ts";
import { withEvents } from "./stored-events.ts";

export async function exportEvents(context: Context, options: ExportOptions): Promise<number> {
  const { out, signal } = context;
  const recordAt = (await context.settings()).get("recordAt");
  const unread = out.unread();
  await withEvents(context, options, async (store) => {
    for await (const event of store.events(options.filter)) {
      if (signal.aborted || unread.aborted) return;
      out.lines([safeJson(eventLine(asReceived(event, recordAt)))]);
      await out.drained();
    }
  });
  return 0;
}
