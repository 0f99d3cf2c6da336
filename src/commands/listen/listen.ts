/** `paylink listen`: receives webhooks until it is stopped, and shows the result of each. */
import { openForwardingKey } from "../../check/signing-key.ts";
import type { Context } from "../../context.ts";
import { localAddress } from "../../domain/addresses.ts";
import { capitalized } from "../../domain/payment-link-fields.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { messageOf } from "../../domain/system-reason.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import { createEventIds } from "../../receiver/event-id.ts";
import { jsonLine } from "../../receiver/event-json.ts";
import { openTargets, type BrokerTargets } from "../../receiver/brokers/targets.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import type { Admin } from "./admin.ts";
import { drain, watchForEnd, watchReader } from "./end.ts";
import { backlogNotices, openForwarding } from "./forwarding.ts";
import type { ListenOptions } from "./options.ts";
import { createListenReporter, listenersOf, type ListenReporter, showReady } from "./report.ts";
import { isSelfSigned, readTls, watchTls } from "./tls.ts";
import { startDeleting, watchDatabase } from "./store.ts";
import type { Tunnel } from "./tunnel.ts";

export async function listen(context: Context, options: ListenOptions): Promise<number> {
  const { out, now, timers, later } = context;
  out.keepLog();
  const admin = await openAdminOf(options, context);
  later(() => admin?.close());
  const keyAccess = {
    ...context,
    place: options.keyPlace,
    effect: "receive",
    warn: (text: string) => out.warn(text),
  } as const;
  const keyring = await openKeyring(options.keySources, keyAccess, options.earlierKeys);
  const tls = options.tls === undefined ? undefined : await readTls(options.tls, context);
  const forwardingKey =
    options.signWith === undefined ? undefined : await openForwardingKey(options.signWith, context);
  const reporter = createListenReporter({
    ...options,
    out,
    ownKey: forwardingKey && (forwardingKey.publicPath ?? forwardingKey.path),
  });
  const targets = await openTargets(options.forwarding.routes, { ...context, insecure: options.insecure });
  later(targets.close);
  // Where waiting does not help, nothing is bound.
  const asked = await askBrokers(targets);
  const { database } = options;
  const store =
    database === null ? undefined : await context.events(database, { create: true, drains: true });
  const check = store?.ready ?? (async () => undefined);
  const waiting = watchDatabase((text) => out.warn(text));
  const hurry = (): void => store?.hurry(LAST_WRITES);
  let isReady = false;
  // Until webhooks are received, nothing has to be finished.
  context.signal.addEventListener("abort", () => isReady || hurry(), { once: true });
  // Where waiting does not help, nothing is bound.
  await waiting.isThere(check);
  const kept = store ?? createMemoryLog();
  const log = admin?.measured(kept) ?? kept;
  const forwarding = openForwarding(options, store, {
    log,
    keys: keyring.read,
    now,
    timers,
    deliver: targets.deliver,
    signWith: forwardingKey?.key,
    warn: (text) => out.warn(text),
    observe: (event, forward, progress) => {
      admin?.metrics.forwarded(event, forward, progress?.state === "pending");
      reporter.forwarded(event, forward, progress);
    },
  });
  const reader = watchReader(context, options);
  later(reader.close);
  const end = watchForEnd(reader.stop, options);
  later(end.close);
  let tunnel: Tunnel | undefined;
  later(() => tunnel?.close());
  let address: ReceiverAddress | undefined = options.publicAddress;
  const server = await startReceiver({
    ...options,
    publicAddress: () => address,
    tls,
    serve: context.serve,
    keys: keyring.keys,
    renewKeys: keyring.renew,
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
  later(() => {
    if (isReady) summarise(reporter, context);
  });
  later(() => forwarding?.close());
  later(() => server.close());
  if (options.tls !== undefined && tls !== undefined)
    later(watchTls(options.tls, tls, server, context, (text) => out.warn(text)));
  if (options.tunnel) {
    const { openTunnel } = await import("./tunnel.ts");
    tunnel = await openTunnel(localAddress(server.url), context);
    void tunnel.ended.then(end.fail);
    address = publicAddress(new URL(options.paths[0], tunnel.url));
  }
  const listeners = listenersOf(server, options.paths, address);
  admin?.started({
    // Without a store, what is acknowledged is at the brokers.
    checkStore: store === undefined ? async () => void (await targets.check()) : check,
    connections: () => server.connections(),
    keys: keyring.read,
    backlog: () => store?.backlog(),
  });
  isReady = await waiting.until(check, end.reached);
  if (!isReady) return 0;
  if (admin !== undefined && store !== undefined) admin.metrics.useStore(await store.identity());
  forwarding?.start();
  if (options.keep !== undefined && store !== undefined)
    later(startDeleting(options.keep, store.prune, context));
  const keys = keyring.read();
  const notices = await backlogNotices(options, store, keys, context);
  showReady({ listeners, adminUrl: admin?.url, forwardingKey, store: store?.place, keys }, options, context);
  for (const warning of asked) out.warn(warning);
  for (const notice of notices) out.warn(notice);
  if (tls !== undefined && isSelfSigned(tls)) out.warn(SELF_SIGNED);
  await end.reached;
  admin?.ending();
  await drain(context.signal, options.drain);
  hurry();
  return 0;
}

/** What may lose messages at the brokers, and which of them are away, as warnings. Throws `broker_unusable`. */
async function askBrokers(targets: Pick<BrokerTargets, "check">): Promise<readonly string[]> {
  try {
    return await targets.check();
  } catch (error) {
    if (error instanceof PaylinkError) throw new PaylinkError(error.code, capitalized(error.message));
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

const SELF_SIGNED =
  "The certificate is self-signed, so services do not deliver to it. The sandbox does if it runs with --insecure.";

function summarise(reporter: ListenReporter, { out, now }: Context): void {
  const counts = reporter.finish();
  if (out.json) return out.data(jsonLine("summary", now(), counts));
  const words = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
  out.note(words.join(", "));
}
