/** `paylink listen`: receives webhooks until it is told to stop, and shows what becomes of each. */
import type { Context } from "../../context.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import type { Server } from "../../http/exchange.ts";
import { createEventIds } from "../../receiver/event-ids.ts";
import type { EventLog, Rejection, WebhookEvent } from "../../receiver/events.ts";
import { createForwarder } from "../../receiver/forward.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { startReceiver } from "../../receiver/start.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { renderSummary } from "../../render/received-webhook.ts";
import { eventsPath, openEventStore } from "../../store/events.ts";
import { settingsInForce } from "../../store/in-force.ts";
import type { ListenFlags } from "./command.ts";
import { awaitEnd } from "./end.ts";
import { createTally } from "./expect.ts";
import { listenOptions, type ListenOptions } from "./options.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { readTls, watchTls } from "./tls.ts";
import { watchReader } from "./unread.ts";

export async function listen(context: Context, flags: ListenFlags): Promise<void> {
  const { out } = context;
  const options = listenOptions(flags, await settingsInForce(context));
  const warn = (warning: string): void => out.note(`${out.notePaint.yellow("!")} ${warning}`);
  const keyring = await openKeyring(options.keySources, { ...context, warn });
  const tls = options.tls === undefined ? undefined : await readTls(options.tls, context);
  const shows = passesFilter(options);
  const reporter = createReporter({ out, compact: options.compact, shows });
  const tally = createTally(options.expectations);
  const readership = watchReader(context, options, warn);
  const end = awaitEnd(readership.stop, options, tally);
  const { log, close } = openLog(options, context);
  try {
    const server = await startReceiver({
      ...options,
      tls,
      serve: context.serve,
      keys: keyring.keys,
      renewKeys: keyring.renew,
      log,
      forward: createForward(options, shows, log, reporter, context),
      now: context.now,
      newId: createEventIds(context),
      observe: (outcome: WebhookEvent | Rejection) => {
        reporter.observe(outcome);
        if (outcome.type === "event" && shows(outcome)) tally.count(outcome);
        end.saw(outcome);
      },
      faulted: (error: unknown) => out.note(`${out.notePaint.red("✗")} ${String(error)}`),
    });
    const unwatch =
      options.tls === undefined || tls === undefined
        ? () => undefined
        : watchTls(options.tls, tls, server, context, warn);
    announce(server, options, context, warn);
    try {
      await end.come;
    } finally {
      unwatch();
      readership.close();
      await server.close();
      summarise(reporter, context);
    }
  } finally {
    await close();
  }
}

function openLog(
  { database }: ListenOptions,
  { dataFolder, eventThread }: Context,
): { log: EventLog; close: () => Promise<void> } {
  if (database === null) return { log: createMemoryLog(), close: async () => undefined };
  const store = openEventStore(database ?? eventsPath(dataFolder), eventThread);
  return { log: store, close: () => store.close() };
}

function passesFilter({ filter: { outcome, reference } }: ListenOptions): (event: WebhookEvent) => boolean {
  if (outcome === undefined && reference === undefined) return () => true;
  return ({ record }) =>
    record !== null &&
    (outcome === undefined || outcomeOf(record) === outcome) &&
    (reference === undefined || (textOf(record, "reference") ?? "").includes(reference));
}

/** Undefined where nothing is to be passed on: no event waits for what nobody asked for. */
function createForward(
  { passOn: { to, failedTo, headers, insecure } }: ListenOptions,
  shows: (event: WebhookEvent) => boolean,
  log: EventLog,
  reporter: Reporter,
  { send, now }: Context,
): ((event: WebhookEvent, first: string) => Promise<number>) | undefined {
  if (to === undefined && failedTo === undefined) return undefined;
  const failed = ({ record }: WebhookEvent): boolean =>
    record !== null && ["DECLINED", "CANCELLED"].includes(outcomeOf(record));
  return createForwarder({
    send,
    now,
    headers,
    insecure,
    log,
    targetOf: (event) => (shows(event) ? (failed(event) ? (failedTo ?? to) : to) : undefined),
    observe: reporter.forwarded,
  });
}

function announce(
  server: Server,
  { path, unverified, publicAddress, passOn }: ListenOptions,
  { out }: Context,
  warn: (warning: string) => void,
): void {
  const url = new URL(path, server.url).href;
  if (out.json) out.data(JSON.stringify({ type: "ready", url }));
  else out.data(`Listening on ${out.paint.bold(url)}`);
  if (unverified) warn("Signatures are not insisted on: what is marked UNVERIFIED may be forged.");
  if (passOn.to !== undefined) out.note(`Forwarding to ${passOn.to.href}`);
  if (passOn.failedTo !== undefined)
    out.note(`Forwarding declined and cancelled payments to ${passOn.failedTo.href}`);
  if (publicAddress === undefined) {
    out.note(
      "This address is local. To be reached from outside, point a tunnel at it and give the tunnel's address as --public-url.",
    );
  }
}

function summarise(reporter: Reporter, { out }: Context): void {
  const counts = reporter.finish();
  if (out.json) out.data(JSON.stringify({ type: "summary", ...counts }));
  else out.note(renderSummary(counts));
}
