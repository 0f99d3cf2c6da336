/** `paylink listen`: receives webhooks until it is stopped, and shows the result of each. */
import { type ForwardingKey, openForwardingKey } from "../../sender/signing-key.ts";
import type { Context } from "../../context.ts";
import { localAddress } from "../../values/addresses.ts";
import { capitalized } from "../../values/sentence.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { messageOf } from "../../values/system-reason.ts";
import type { TlsFiles } from "../../http/exchange.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import type { EventLog } from "../../events/event.ts";
import { createEventIds } from "../../events/event-id.ts";
import { jsonLine } from "../../events/event-json.ts";
import { openTargets, type BrokerTargets } from "../../receiver/brokers/targets.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { judgingKeys, type Keyring, openKeyring } from "../../receiver/keyring.ts";
import type { EventStore } from "../../store/event-store.ts";
import type { Admin } from "./admin.ts";
import { drain, type EndWatch, watchForEnd, watchReader } from "./end.ts";
import { backlogNotices, openForwarding } from "./forwarding.ts";
import type { ListenOptions } from "./options.ts";
import {
  createListenReporter,
  type Listener,
  listenersOf,
  type ListenReporter,
  showReady,
} from "./report.ts";
import { readTls, tlsWarnings, watchTls } from "./tls.ts";
import { type DatabaseWatch, startDeleting, watchDatabase } from "./store.ts";

export async function listen(context: Context, options: ListenOptions): Promise<number> {
  context.out.keepLog();
  const parts = await openParts(context, options);
  const listening = await serveWebhooks(context, options, parts);
  if (listening === undefined) return 0;
  await announce(context, options, parts, listening);
  await listening.end.reached;
  parts.admin?.ending();
  await drain(context.signal, options.drain);
  parts.store?.hurry(LAST_WRITES);
  return 0;
}

/** What receiving needs. Only the private listener answers yet. */
interface ListenParts {
  readonly admin: Admin | undefined;
  readonly keyring: Keyring;
  /** What is said of the keys, to be said when webhooks are received. */
  readonly keyWarnings: readonly string[];
  readonly tls: TlsFiles | undefined;
  readonly forwardingKey: ForwardingKey | undefined;
  readonly reporter: ListenReporter;
  readonly targets: BrokerTargets;
  /** Which brokers may lose messages or are away, to be said when webhooks are received. */
  readonly brokerWarnings: readonly string[];
  /** Undefined with `--no-store`. */
  readonly store: EventStore | undefined;
  readonly database: DatabaseWatch;
  readonly log: EventLog;
  /** Until webhooks are received and can be kept, there is nothing to finish and nothing to sum up. */
  isReceiving: boolean;
}

/** Opens everything that can fail before an address is bound: where waiting does not help, nothing is bound. */
async function openParts(context: Context, options: ListenOptions): Promise<ListenParts> {
  const { out, later } = context;
  const admin = await openAdminOf(options, context);
  later(() => admin?.close());
  /** What is said of the keys before webhooks are received is said after the line that begins the output. */
  const keyWarnings: string[] = [];
  let isOpen = false;
  const keyring = await openKeyring(
    options.keySources,
    {
      ...context,
      place: options.keyPlace,
      effect: "receive",
      warn: (text: string) => (isOpen ? out.warn(text) : void keyWarnings.push(text)),
    },
    options.earlierKeys,
  );
  const tls = options.tls === undefined ? undefined : await readTls(options.tls, context);
  const forwardingKey =
    options.signWith === undefined ? undefined : await openForwardingKey(options.signWith, context);
  const ownKey = forwardingKey && (forwardingKey.publicPath ?? forwardingKey.path);
  const reporter = createListenReporter({ ...options, out, ownKey });
  const targets = await openTargets(options.forwarding.routes, { ...context, insecure: options.insecure });
  later(targets.close);
  const brokerWarnings = await askBrokers(targets);
  const store =
    options.database === null
      ? undefined
      : await context.events(options.database, { create: true, drains: true });
  const database = watchDatabase(store?.ready ?? (async () => undefined), (text) => out.warn(text));
  const kept = store ?? createMemoryLog();
  const log = admin?.measured(kept) ?? kept;
  const parts: ListenParts = {
    admin,
    keyring,
    keyWarnings,
    tls,
    forwardingKey,
    reporter,
    targets,
    brokerWarnings,
    store,
    database,
    log,
    isReceiving: false,
  };
  const giveUp = (): void => {
    if (!parts.isReceiving) store?.hurry(LAST_WRITES);
  };
  context.signal.addEventListener("abort", giveUp, { once: true });
  await database.isThere();
  isOpen = true;
  return parts;
}

/** How receiving ends, in this order, as far as it had begun. The store, the brokers and the private listener end after that. */
const SHUTDOWN = [
  // No old event is deleted, and no certificate read any more.
  "deleting",
  "certificate",
  // What was received is answered, and nothing more is received.
  "server",
  // Attempts under way have ended; the rest is left in the queue.
  "forwarding",
  // It counts all of that.
  "summary",
  "tunnel",
  "end",
  "reader",
] as const;
type Stage = (typeof SHUTDOWN)[number];

/** A listener that receives webhooks. */
interface Listening {
  readonly listeners: readonly Listener[];
  readonly end: EndWatch;
}

/** Resolves once webhooks are received and can be kept; with undefined if the run is over before. */
async function serveWebhooks(
  context: Context,
  options: ListenOptions,
  parts: ListenParts,
): Promise<Listening | undefined> {
  const { out, now, timers, later } = context;
  const { admin, keyring, tls, reporter, targets, store, database, log } = parts;
  const stages: Partial<Record<Stage, () => unknown>> = {};
  // What is registered last ends first, and a stage that fails keeps none of the others from ending.
  for (const stage of SHUTDOWN.toReversed()) later(() => stages[stage]?.());
  const forwarding = openForwarding(options, store, {
    log,
    keys: keyring.read,
    now,
    timers,
    deliver: targets.deliver,
    signWith: parts.forwardingKey?.key,
    warn: (text) => out.warn(text),
    observe: (event, forward, progress) => {
      admin?.metrics.forwarded(event, forward, progress?.state === "pending");
      reporter.forwarded(event, forward, progress);
    },
  });
  const reader = watchReader(context, options);
  stages.reader = reader.close;
  const end = watchForEnd(reader.stop, options);
  stages.end = end.close;
  let address: ReceiverAddress | undefined = options.publicAddress;
  const server = await startReceiver({
    ...options,
    publicAddress: () => address,
    tls,
    serve: context.serve,
    ...judgingKeys(keyring),
    runKeys: keyring.read,
    log,
    forwarder: forwarding,
    now,
    newId: createEventIds(context),
    print: out.json ? (options.compact ? "compact" : "whole") : undefined,
    observe: (outcome) => {
      admin?.metrics.observe(outcome);
      reporter.observe(outcome);
      end.observe(outcome);
    },
    faulted: (error: unknown) => out.warn(String(error)),
  });
  stages.server = () => server.close();
  stages.forwarding = () => forwarding?.close();
  stages.summary = () => {
    if (parts.isReceiving) summarise(reporter, context);
  };
  if (options.tls !== undefined && tls !== undefined)
    stages.certificate = watchTls(options.tls, tls, server, context, {
      warn: (text) => out.warn(text),
      serves: (end) => admin?.metrics.useCertificate(end),
    });
  if (options.tunnel) {
    const { openTunnel } = await import("./tunnel.ts");
    const tunnel = await openTunnel(localAddress(server.url), context);
    stages.tunnel = tunnel.close;
    void tunnel.ended.then(end.fail);
    address = publicAddress(new URL(options.paths[0], tunnel.url));
  }
  const listeners = listenersOf(server, options.paths, address);
  admin?.started({
    // Without a store, what is acknowledged is at the brokers.
    checkStore: store?.ready ?? (async () => void (await targets.check())),
    connections: () => server.connections(),
    keys: keyring.read,
    keySources: keyring.sources,
    backlog: () => store?.backlog(),
  });
  parts.isReceiving = await database.until(end.reached);
  if (!parts.isReceiving) return undefined;
  if (admin !== undefined && store !== undefined) admin.metrics.useStore(await store.identity());
  forwarding?.start();
  if (options.keep !== undefined && store !== undefined)
    stages.deleting = startDeleting(options.keep, store, context);
  return { listeners, end };
}

/** Says where webhooks are received, and what the operator should know of this run. */
async function announce(
  context: Context,
  options: ListenOptions,
  { admin, keyring, keyWarnings, tls, forwardingKey, brokerWarnings, store }: ListenParts,
  { listeners }: Listening,
): Promise<void> {
  const keys = keyring.read();
  const notices = await backlogNotices(options, store, keys, context);
  showReady({ listeners, adminUrl: admin?.url, forwardingKey, store: store?.place, keys }, options, context);
  const ofCertificate = tls === undefined ? [] : tlsWarnings(tls, context.now(), options.tls?.host);
  for (const warning of [...keyWarnings, ...brokerWarnings, ...notices, ...ofCertificate])
    context.out.warn(warning);
}

/** What may lose messages at the brokers, and which of them are away, as warnings. Throws `broker_unusable`. */
async function askBrokers(targets: Pick<BrokerTargets, "check">): Promise<readonly string[]> {
  try {
    return await targets.check();
  } catch (error) {
    if (error instanceof PaylinkError) throw error.with({ message: capitalized(error.message) });
    return [`${capitalized(messageOf(error))}. ${UNTIL_IT_DOES}`];
  }
}

async function openAdminOf({ admin }: ListenOptions, context: Context): Promise<Admin | undefined> {
  if (admin === undefined) return undefined;
  const { openAdmin } = await import("./admin.ts");
  return openAdmin(admin, context);
}

/** Milliseconds at the end for the database to take what is being written: what it does not is delivered again. */
const LAST_WRITES = 1_000;

const UNTIL_IT_DOES =
  "Until that changes, webhooks for this target are answered with 503; with --ack stored, they wait. paylink help environment names the variables for the login.";

function summarise(reporter: ListenReporter, { out, now }: Context): void {
  const counts = reporter.finish();
  out.result(() => jsonLine("summary", now(), counts), undefined);
  const words = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  out.note(words.join(", "));
}
