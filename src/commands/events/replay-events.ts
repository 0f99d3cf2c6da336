/** `paylink events replay`: sends events to the application again, with their original bytes and headers. */
import type { Context } from "../../context.ts";
import { hint, PaylinkError } from "../../domain/errors.ts";
import { isAccepted } from "../../receiver/events.ts";
import { forward, targetFor } from "../../receiver/forward.ts";
import { renderForward } from "../../render/received-webhook.ts";
import type { EventStore, StoredEvent } from "../../receiver/event-store.ts";
import { findOne } from "../../events/store.ts";
import type { ReplayOptions } from "./options.ts";
import { eventCount, withEvents } from "./stored-events.ts";

export async function replayEvents(context: Context, options: ReplayOptions): Promise<number> {
  const { out, now, send, signal } = context;
  const { names, filter, routes, insecure } = options;
  await withEvents(context, options, async (store) => {
    const targets = routes.map(({ url }) => url.href).join(" and ");
    let [sent, failed, unreached, skipped] = [0, 0, 0, 0];
    for await (const event of names.length === 0 ? store.events(filter) : await findAll(store, names)) {
      signal.throwIfAborted();
      const url = targetFor(routes, event.outcome);
      if (url === undefined) {
        skipped += 1;
        continue;
      }
      const result = await forward(event, url, { send, now, headers: [], insecure });
      await store.forwarded(event.id, result);
      sent += 1;
      if (!isAccepted(result.status)) failed += 1;
      if (!result.sent) unreached += 1;
      const { target, status, ms, detail } = result;
      const line = { type: "forward", id: event.id, uti: event.uti, target, status, ms, detail };
      const shown = (): string => renderForward(event.uti || event.id, result, out.paint);
      out.lines([out.json ? JSON.stringify(line) : shown()]);
    }
    if (skipped > 0) out.warn(`${eventCount(skipped)} not sent: --to names no target for the outcome.`);
    if (failed > 0 && failed === unreached)
      throw new PaylinkError(
        "not_reached",
        `Nothing answers at ${targets}: ${failed} of ${eventCount(sent)} not delivered.`,
        { hints: [hint`Start your application, or name another address with --to.`] },
      );
    if (failed > 0)
      throw new PaylinkError("not_accepted", `${targets} did not accept ${failed} of ${eventCount(sent)}.`);
    out.note(`Replayed ${eventCount(sent)} to ${targets}`);
  });
  return 0;
}

/** Finds every event before the first is sent. */
async function findAll(store: EventStore, names: readonly string[]): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (const name of names) {
    const found = await findOne(store, name);
    if (found.type === "rejected")
      throw new PaylinkError("usage", `${name} was rejected, and rejected webhooks are never forwarded.`, {
        effect: "replay",
      });
    events.push(found);
  }
  return events;
}
