/** `paylink listen`: receives webhooks until it is stopped, and shows what becomes of each. */
import type { Context } from "../../context.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import type { Server } from "../../http/exchange.ts";
import { createEventIds } from "../../receiver/event-ids.ts";
import type { Listener } from "../../receiver/event-store.ts";
import type { EventLog, Rejection, WebhookEvent } from "../../receiver/events.ts";
import { createForwarder, type Forwarder } from "../../receiver/forward.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { renderSummary } from "../../render/received-webhook.ts";
import { transactionCommand } from "../transaction-command.ts";
import { watchForEnd } from "./end.ts";
import { createTally } from "./expectations.ts";
import type { ListenOptions } from "./options.ts";
import { watchReader } from "./reader-gone.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { readTls, watchTls } from "./tls.ts";

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
  const reporter = createReporter({
    ...options,
    out,
    shows,
    transactionCommand: await transactionCommand(context),
  });
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
    await announce(listenerOf(server, options));
    showReady(server, options, context);
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
  /** Lets `create --wait` find this listener. */
  readonly announce: (listener: Listener) => Promise<void>;
  readonly close: () => Promise<void>;
}

async function openLog({ database }: ListenOptions, { events }: Context): Promise<OpenedLog> {
  const nothing = async (): Promise<void> => undefined;
  if (database === null) return { log: createMemoryLog(), announce: nothing, close: nothing };
  const store = await events(database);
  await store.ready();
  let announced: Listener | undefined;
  return {
    log: store,
    announce: async (listener) => {
      await store.addListener(listener);
      announced = listener;
    },
    close: async () => {
      // One that stays in the store does no harm: others see that its port is free.
      if (announced !== undefined) await store.removeListener(announced).catch(() => undefined);
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
  { forwarding: { to, failedTo, headers, insecure } }: ListenOptions,
  shows: (event: WebhookEvent) => boolean,
  log: EventLog,
  reporter: Reporter,
  { send, now, pause }: Context,
): Forwarder | undefined {
  if (to === undefined && failedTo === undefined) return undefined;
  const failed = ({ record }: WebhookEvent): boolean =>
    record !== null && ["DECLINED", "CANCELLED"].includes(outcomeOf(record));
  return createForwarder({
    send,
    now,
    pause,
    headers,
    insecure,
    log,
    targetOf: (event) => (shows(event) ? (failed(event) ? (failedTo ?? to) : to) : undefined),
    observe: reporter.forwarded,
  });
}

function listenerOf({ url }: Server, { path, publicAddress }: ListenOptions): Listener {
  const bound = new URL(path, url).href;
  if (publicAddress?.kind !== "public") return { address: bound, bound };
  const { scheme, authority } = publicAddress;
  return { address: `${scheme}://${authority}${publicAddress.path}`, bound };
}

function showReady(
  server: Server,
  { path, unverified, publicAddress, forwarding }: ListenOptions,
  { out }: Context,
): void {
  const url = new URL(path, server.url).href;
  out.lines([out.json ? JSON.stringify({ type: "ready", url }) : `Listening on ${out.paint.bold(url)}`]);
  if (unverified) out.warn("Signatures are not required: webhooks marked UNVERIFIED may be forged.");
  if (forwarding.to !== undefined) out.note(`Forwarding to ${forwarding.to.href}`);
  if (forwarding.failedTo !== undefined)
    out.note(`Forwarding declined and cancelled payments to ${forwarding.failedTo.href}`);
  if (publicAddress === undefined)
    out.note(
      "This address is local. To receive from outside, point a tunnel at it and give the tunnel's address as --public-url.",
    );
}

function summarise(reporter: Reporter, { out }: Context): void {
  const counts = reporter.finish();
  if (out.json) out.data(JSON.stringify({ type: "summary", ...counts }));
  else out.note(renderSummary(counts));
}
