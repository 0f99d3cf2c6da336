/** `paylink events retry` and `skip`: forwards events that the application has not accepted now, or never. */
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { asReceived, type EventFilter, type EventStore, type Order } from "../../receiver/event-store.ts";
import { renderHint } from "../../render/hint.ts";
import { renderCompactRecord } from "../../render/transaction-record.ts";
import { eventCount } from "../../render/received-webhook.ts";
import { safeText } from "../../render/safe-text.ts";
import { isConfirmed } from "../shared-flags.ts";
import { findEvents, nameOf, withEvents } from "./stored-events.ts";

interface OrderOptions {
  /** The events, by uti or id; if there are none, all that failed or wait, and pass the filter. */
  readonly names: readonly string[];
  readonly filter: EventFilter;
  readonly database: string | undefined;
}

/** Events in one write, for which a `listen` on the same database may have to wait. */
const AT_ONCE = 500;

export async function retryEvents(
  context: Context,
  { names, filter, database }: OrderOptions,
): Promise<number> {
  const { out } = context;
  await withEvents(context, database, async (store) => {
    const found = names.length === 0 ? undelivered(store, filter) : await findOpen(store, names, "retry");
    let [due, busy] = [0, 0];
    let ids: string[] = [];
    const order = async (): Promise<void> => {
      const changed = await store.order("retry", ids);
      due += changed.length;
      busy += ids.length - changed.length;
      ids = [];
    };
    for await (const { id } of found) if (ids.push(id) === AT_ONCE) await order();
    await order();
    if (out.json) return out.data(JSON.stringify({ due, beingForwarded: busy }));
    if (due + busy === 0) return out.note("No event waits or has failed. Nothing was changed.");
    out.data(due === 1 ? "1 event is due now." : `${due} events are due now.`);
    if (busy > 0) out.note(`${eventCount(busy)} not changed: being forwarded at this moment, or accepted.`);
    if (due > 0) out.note("A running listen --ack stored --forward-to <target> forwards what is due.");
  });
  return 0;
}

async function* undelivered(store: EventStore, filter: EventFilter) {
  // Those that failed wait once they are due: read before, they would be found again.
  yield* store.events({ ...filter, pending: true });
  yield* store.events({ ...filter, failed: true });
}

export async function skipEvents(
  context: Context,
  { names, database }: Omit<OrderOptions, "filter">,
): Promise<number> {
  const { out } = context;
  await withEvents(context, database, async (store) => {
    const found = await findOpen(store, names, "skip");
    for (const event of found) {
      const { record } = asReceived(event);
      out.note(record === null ? safeText(nameOf(event)) : renderCompactRecord(record, out.notePaint));
    }
    const what = eventCount(found.length);
    if (
      !(await isConfirmed(context, `Skip ${what}? paylink will not tell your application of the payment.`))
    ) {
      out.note("Nothing was skipped.");
      return;
    }
    const skipped = await store.order(
      "skip",
      found.map(({ id }) => id),
    );
    const [busy] = found.filter(({ id }) => !skipped.includes(id)).map(nameOf);
    if (skipped.length > 0) {
      const names = found.filter(({ id }) => skipped.includes(id)).map(nameOf);
      const command = paylink("events", "retry", ...names);
      out.data(
        out.json ? JSON.stringify({ skipped: skipped.length }) : `Skipped ${eventCount(skipped.length)}.`,
      );
      if (!out.json) out.note(renderHint(hint`To forward after all: ${command}`, context.named));
    }
    if (busy !== undefined)
      throw new PaylinkError(
        "usage",
        `${busy} was not skipped: it is being forwarded at this moment, or was accepted meanwhile.`,
        {
          hints: [
            hint`To see how it ended: ${paylink("events", "show", busy)}`,
            hint`Then, if it is still needed: ${paylink("events", "skip", busy)}`,
          ],
        },
      );
  });
  return 0;
}

/** Finds every event before the first is changed. Throws `usage` for those that have nothing to wait for. */
async function findOpen(store: EventStore, names: readonly string[], order: Order) {
  const found = await findEvents(store, names, order);
  const [accepted] = found.filter((event) => event.accepted);
  if (accepted === undefined) return found;
  const name = nameOf(accepted);
  throw new PaylinkError("usage", `Your application has accepted ${name} already.`, {
    effect: order,
    hints: [hint`To send it once more: ${paylink("events", "replay", name, "--to", "<target>")}`],
  });
}
