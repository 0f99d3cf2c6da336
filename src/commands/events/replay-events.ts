/** `paylink events replay`: sends events to the application again, with their original bytes and headers. */
import type { Context } from "../../context.ts";
import { type ForwardingKey, openForwardingKey } from "../../check/signing-key.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import { isAccepted } from "../../receiver/event.ts";
import { openTargets } from "../../receiver/brokers/targets.ts";
import { attempt, type Deliver } from "../../receiver/attempt.ts";
import { targetOf } from "../../receiver/routes.ts";
import { likelyCause } from "../../render/likely-cause.ts";
import { eventCount, renderForward } from "../../render/received-webhook.ts";
import { safeText } from "../../render/safe-text.ts";
import type { ValuesOf } from "../command.ts";
import { openRunKeys } from "../judge-again.ts";
import { forwardingKeyWords } from "../shared-flags.ts";
import type { replayFlags } from "./flags.ts";
import { otherKeyWords, ownEvents } from "./other-keys.ts";
import { findEvents, MOST_COUNTED } from "./stored-events.ts";

type ReplayValues = ValuesOf<typeof replayFlags> & { readonly uti: readonly string[] };

export async function replayEvents(context: Context, values: ReplayValues): Promise<number> {
  const { out, now, signal, later } = context;
  const { uti: names, to: routes, failed: isFailed, insecure, signWith, key, quiet, settle } = values;
  const keys = await openRunKeys(context, key, "replay");
  const { deliver, close } = await openTargets(routes, { ...context, insecure });
  later(close);
  // A broker has an exchange of its own.
  const bounded: Deliver = (request, options, url) =>
    context.timeLimit.exchange(
      options.timeout,
      (timeout = options.timeout) => deliver(request, { ...options, timeout }, url),
      (result) => result.kind === "answered" || (result.kind === "noAnswer" && result.sent),
    );
  const store = await context.events(values.db);
  const targets = routes.map(({ url }) => url.href).join(" and ");
  let [sent, failed, unreached, skipped] = [0, 0, 0, 0];
  let lastCause: string | undefined;
  const filter = { ...values, state: isFailed ? ("failed" as const) : undefined };
  const named = await findEvents(store, names, "replay");
  const own = ownEvents(named, keys, "replay");
  const others =
    names.length === 0
      ? await store.count({ ...filter, otherThan: keys }, MOST_COUNTED)
      : named.length - own.length;
  const found = names.length === 0 ? store.events({ ...filter, keys }) : own;
  // A key is made only for an event that it signs.
  let signing: ForwardingKey | undefined;
  for await (const event of found) {
    signal.throwIfAborted();
    const { record } = event.content;
    const url = targetOf(routes, outcomeOf(record));
    if (url === undefined) {
      skipped += 1;
      continue;
    }
    if (signWith !== undefined && signing === undefined) {
      signing = await openForwardingKey(signWith, context);
      if (!quiet) out.note(forwardingKeyWords(signing));
    }
    const { result, forward } = await attempt(event, url, {
      deliver: bounded,
      now,
      headers: [],
      insecure,
      timeout: values.forwardTimeout,
      signWith: signing?.key,
      keys: () => keys,
    });
    await store.replayed(event.id, forward, settle, record);
    sent += 1;
    if (!isAccepted(forward.status)) failed += 1;
    if (result.kind === "notReached") unreached += 1;
    const { target, status, ms, detail } = forward;
    const cause = likelyCause(forward, {
      ownKey: signing && (signing.publicPath ?? signing.path),
      comesAgain: false,
    });
    lastCause = cause;
    const name = event.uti || event.id;
    const line = { type: "forward", id: event.id, uti: event.uti, target, status, ms, detail, hint: cause };
    if (quiet) out.lines([safeText(name)]);
    else
      out.lines([
        out.json ? JSON.stringify(line) : renderForward(name, forward, out.paint, undefined, cause),
      ]);
    signal.throwIfAborted();
  }
  if (others > 0) out.warn(otherKeyWords(others));
  if (skipped > 0) out.warn(`${eventCount(skipped)} not sent: --to names no target for the outcome.`);
  if (failed > 0 && failed === unreached)
    throw new PaylinkError(
      "not_reached",
      `Nothing answers at ${targets}: ${failed} of ${eventCount(sent)} not delivered.`,
      { hints: [[lastCause ?? "Start your application, or name another address with --to."]] },
    );
  if (failed > 0)
    throw new PaylinkError("not_accepted", `${targets} did not accept ${failed} of ${eventCount(sent)}.`);
  if (!quiet)
    out.note(
      sent + skipped === 0
        ? "There is no such event to replay. Nothing was sent."
        : `Replayed ${eventCount(sent)} to ${targets}`,
    );
  return 0;
}
