/** `paylink listen`: receives webhooks until it is stopped, and shows what becomes of each. */
import type { Context } from "../../context.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import { createEventIds } from "../../receiver/event-ids.ts";
import type { Listener } from "../../receiver/event-store.ts";
import type { EventLog, Rejection, WebhookEvent } from "../../receiver/events.ts";
import { createForwarder, type Forwarder } from "../../receiver/forward.ts";
import { targetFor } from "../../receiver/forward-target.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { renderSummary } from "../../render/received-webhook.ts";
import { watchForEnd } from "./end.ts";
import { createTally } from "./expectations.ts";
import type { ListenOptions } from "./options.ts";
import { watchReader } from "./reader-gone.ts";
import { listenersOf, showReady } from "./ready.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { isSelfSigned, readTls, watchTls } from "./tls.ts";

export async function listen(context: Context, options: ListenOptions): Promise<number> {
  const { out } = context;
  out.streamWarnings();
  const keyring = await openKeyring(options.keySources, {
    ...context,
    place: options.keyPlace,
    warn: out.warn,
  });
  const tls = options.tls === undefined ? undefined : await readTls(options.tls, context);
  const shows = eventFilter(options);
  const reporter = createReporter({ ...options, out, shows });
  const tally = createTally(options.expectations);
  const { log, announce, close } = await openLog(options, context);
  const reader = watchReader(context, options);
  const end = watchForEnd(reader.stop, options, tally);
  try {
    const server = await startReceiver({
      ...options,
      tls,
      serve: context.serve,
      keys: keyring.keys,
      renewKeys: keyring.renew,
      log,
      forwarder: createForward(options, shows, log, reporter, context),
      now: context.now,
      newId: createEventIds(context),
      observe: (outcome: WebhookEvent | Rejection) => {
        reporter.observe(outcome);
        if (outcome.type === "event" && shows(outcome)) tally.count(outcome);
        end.observe(outcome);
      },
      dropped: (count) =>
        out.warn(
          `${count} rejected requests were not stored: they arrived faster than they could be written.`,
        ),
      faulted: (error: unknown) => out.warn(String(error)),
    });
    const stopWatchingTls =
      options.tls === undefined || tls === undefined
        ? () => undefined
        : watchTls(options.tls, tls, server, context, out.warn);
    const listeners = listenersOf(server, options);
    await announce(listeners);
    showReady(listeners, options, context);
    if (tls !== undefined && isSelfSigned(tls))
      out.warn(
        "The certificate is self-signed, so services do not deliver to it. The sandbox does if it runs with --insecure.",
      );
    try {
      await end.reached;
    } finally {
      stopWatchingTls();
      await server.close();
      summarise(reporter, context);
    }
  } finally {
    reader.close();
    end.close();
    await close();
  }
  return 0;
}

interface OpenedLog {
  readonly log: EventLog;
  /** Lets `create --wait` find these. */
  readonly announce: (listeners: readonly Listener[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

async function openLog({ database }: ListenOptions, { events }: Context): Promise<OpenedLog> {
  const nothing = async (): Promise<void> => undefined;
  if (database === null) return { log: createMemoryLog(), announce: nothing, close: nothing };
  const store = await events(database);
  await store.ready();
  let announced: readonly Listener[] = [];
  return {
    log: store,
    announce: async (listeners) => {
      announced = listeners;
      for (const listener of listeners) await store.addListener(listener);
    },
    close: async () => {
      // One that stays in the store does no harm: others see that its port is free.
      for (const listener of announced) await store.removeListener(listener).catch(() => undefined);
      await store.close();
    },
  };
}

function eventFilter({ filter: { outcome, reference } }: ListenOptions): (event: WebhookEvent) => boolean {
  if (outcome === undefined && reference === undefined) return () => true;
  return ({ record }) =>
    record !== null &&
    (outcome === undefined || outcomeOf(record) === outcome) &&
    (reference === undefined || (textOf(record, "reference") ?? "").includes(reference));
}

/** Undefined without a target: then no event waits for an answer. */
function createForward(
  { forwarding: { routes, headers, insecure } }: ListenOptions,
  shows: (event: WebhookEvent) => boolean,
  log: EventLog,
  reporter: Reporter,
  { send, now, pause }: Context,
): Forwarder | undefined {
  if (routes.length === 0) return undefined;
  const targetOf = ({ record }: WebhookEvent): URL | undefined =>
    targetFor(routes, record === null ? undefined : outcomeOf(record));
  return createForwarder({
    send,
    now,
    pause,
    headers,
    insecure,
    log,
    targetOf: (event) => (shows(event) ? targetOf(event) : undefined),
    observe: reporter.forwarded,
  });
}

function summarise(reporter: Reporter, { out }: Context): void {
  const counts = reporter.finish();
  if (out.json) out.data(JSON.stringify({ type: "summary", ...counts }));
  else out.note(renderSummary(counts));
}
