/** `paylink events replay`: sends events to the application again, with their original bytes and headers. */
import type { Context } from "../../context.ts";
import { type ForwardingKey, openForwardingKey } from "../../check/signing-key.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { isBroker } from "../../domain/brokers.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import { isAccepted } from "../../receiver/events.ts";
import { openTargets } from "../../receiver/brokers/targets.ts";
import { forward, targetOf, type Route } from "../../receiver/forward.ts";
import { eventCount, lateSignature, renderForward } from "../../render/received-webhook.ts";
import type { EventFilter } from "../../store/selection.ts";
import { LAST_TARGET } from "../../store/event-store.ts";
import { asReceived } from "../../store/rows.ts";
import { safeText } from "../../render/safe-text.ts";
import { closingLater, type Later } from "../resources.ts";
import { forwardingKeyWords, parseRoute } from "../shared-flags.ts";
import { findEvents, withEvents } from "./stored-events.ts";

interface ReplayOptions {
  /** The events to send, by uti or id; if there are none, all that pass the filter. */
  readonly names: readonly string[];
  readonly filter: EventFilter;
  readonly routes: readonly Route[];
  readonly insecure: boolean;
  /** The file of the private key that signs each event again; undefined sends the service's signature. */
  readonly signWith: string | undefined;
  /** Milliseconds that the application may take for one event. */
  readonly forwardTimeout: number;
  readonly quiet: boolean;
  /** An answer of success takes the event off the queue. */
  readonly settle: boolean;
  readonly database: string | undefined;
}

export const replayEvents = (context: Context, options: ReplayOptions): Promise<number> =>
  closingLater((later) => sendAgain(context, options, later));

async function sendAgain(context: Context, options: ReplayOptions, later: Later): Promise<number> {
  const { out, now, signal } = context;
  const { names, filter, insecure, signWith, forwardTimeout, quiet, settle, database } = options;
  const routes = options.routes.length > 0 ? options.routes : await askForTarget(context, database);
  const { send, close } = await openTargets(routes, { ...context, insecure });
  later(close);
  // A broker has an exchange of its own.
  const bounded = context.timeLimit.bound(send);
  await withEvents(context, database, async (store) => {
    const targets = routes.map(({ url }) => url.href).join(" and ");
    let [sent, failed, unreached, late, skipped] = [0, 0, 0, 0, 0];
    const found = names.length === 0 ? store.events(filter) : await findEvents(store, names, "replay");
    // A key is made only for an event that it signs.
    let signing: ForwardingKey | undefined;
    for await (const event of found) {
      signal.throwIfAborted();
      const { record } = asReceived(event).content;
      const url = targetOf(routes, outcomeOf(record));
      if (url === undefined) {
        skipped += 1;
        continue;
      }
      if (signWith !== undefined && signing === undefined) {
        signing = await openForwardingKey(signWith, context);
        if (!quiet) out.note(forwardingKeyWords(signing));
      }
      const result = await forward(event, url, {
        send: bounded,
        now,
        headers: [],
        insecure,
        timeout: forwardTimeout,
        signWith: signing?.key,
      });
      await store.replayed(event.id, result, settle, record);
      sent += 1;
      if (!isAccepted(result.status)) failed += 1;
      if (!result.sent) unreached += 1;
      const { target, status, ms, detail, signatureAge } = result;
      const why = signatureAge === undefined ? {} : { hint: lateSignature(signatureAge) };
      if (signatureAge !== undefined) late += 1;
      const line = { type: "forward", id: event.id, uti: event.uti, target, status, ms, detail, ...why };
      const shown = (): string => renderForward(event.uti || event.id, result, out.paint);
      if (quiet) out.lines([safeText(event.uti || event.id)]);
      else out.lines([out.json ? JSON.stringify(line) : shown()]);
      signal.throwIfAborted();
    }
    const [last] = routes.filter(({ outcome, url }) => outcome === undefined && !isBroker(url));
    if (sent > 0 && last !== undefined) await store.remember(LAST_TARGET, last.url.href);
    if (skipped > 0) out.warn(`${eventCount(skipped)} not sent: --to names no target for the outcome.`);
    if (failed > 0 && failed === unreached)
      throw new PaylinkError(
        "not_reached",
        `Nothing answers at ${targets}: ${failed} of ${eventCount(sent)} not delivered.`,
        { hints: [hint`Start your application, or name another address with --to.`] },
      );
    if (failed > 0)
      throw new PaylinkError("not_accepted", `${targets} did not accept ${failed} of ${eventCount(sent)}.`, {
        hints: late > 0 ? [LATE] : undefined,
      });
    if (!quiet)
      out.note(
        sent + skipped === 0
          ? `There is no ${filter.state === undefined ? "" : `${filter.state} `}event to replay${isFiltered(filter) ? " that passes the filter" : ""}. Nothing was sent.`
          : `Replayed ${eventCount(sent)} to ${targets}`,
      );
  });
  return 0;
}

/** Offers the target that was used last with this store. */
async function askForTarget(context: Context, database: string | undefined): Promise<readonly Route[]> {
  const initial = await withEvents(context, database, (store) => store.fact(LAST_TARGET));
  const typed = await context.ask?.text({
    message: "Send to",
    initial,
    check: (text) => {
      const parsed = parseRoute(text);
      return parsed.ok ? undefined : parsed.message;
    },
  });
  const parsed = parseRoute(typed ?? "");
  return parsed.ok ? [parsed.value] : [];
}

const LATE = hint`The events are still stored. To sign them with your own key, which your application then verifies with: ${paylink("events", "replay", "<uti>", "--to", "<target>", "--sign-with", "<file>")}`;

const isFiltered = (filter: EventFilter): boolean =>
  Object.entries(filter).some(([name, value]) => name !== "state" && value !== undefined);
