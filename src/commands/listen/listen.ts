/** `paylink listen`: receives webhooks until it is stopped, and shows the result of each. */
import { setTimeout as sleep } from "node:timers/promises";
import { openForwardingKey } from "../../check/signing-key.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { localAddress } from "../../domain/addresses.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import { messageOf } from "../../domain/system-reason.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import type { ForwardQueue, Listener } from "../../receiver/event-store.ts";
import { createEventIds, type EventLog, type WebhookEvent } from "../../receiver/events.ts";
import { openTargets } from "../../receiver/brokers/targets.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { renderSummary } from "../../render/received-webhook.ts";
import { closingLater } from "../resources.ts";
import { transactionCommand } from "../shared-flags.ts";
import type { Admin } from "./admin.ts";
import { drain, watchForEnd, watchReader } from "./end.ts";
import { openForwarding } from "./forwarding.ts";
import type { ListenOptions } from "./options.ts";
import { createReporter, jsonLine, listenersOf, type Reporter, showReady } from "./report.ts";
import { isSelfSigned, readTls, reloadOnHangup, watchTls } from "./tls.ts";
import type { Tunnel } from "./tunnel.ts";

export const listen = (context: Context, options: ListenOptions): Promise<number> =>
  closingLater(async (later) => {
    const { out, now } = context;
    out.streamWarnings();
    const admin = await openAdminOf(options, context);
    later(() => admin?.close());
    const keyring = await openKeyring(options.keySources, {
      ...context,
      place: options.keyPlace,
      effect: "receive",
      warn: out.warn,
    });
    const tls = options.tls === undefined ? undefined : await readTls(options.tls, context);
    const forwardingKey =
      options.signWith === undefined ? undefined : await openForwardingKey(options.signWith, context);
    const shows = eventFilter(options);
    const reporter = createReporter({
      ...options,
      out,
      shows,
      transactionCommand: await transactionCommand(context),
    });
    const targets = await openTargets(options.forwarding.routes, { ...context, insecure: options.insecure });
    later(targets.close);
    const store = await openLog(options.database, context);
    later(store.close);
    const waiting = watchDatabase(out.warn);
    // Where waiting does not help, nothing is bound.
    await waiting.isThere(store.check);
    const log = admin?.measured(store.log) ?? store.log;
    const forwarding = openForwarding(
      options,
      { shows, log, queue: store.queue, signWith: forwardingKey?.key },
      { ...context, send: targets.send },
      (id, first, forward, progress) => {
        admin?.metrics.forwarded(forward, progress?.state === "pending");
        reporter.forwarded(id, first, forward, progress);
      },
    );
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
      log,
      forwarder: forwarding.forwarder,
      now,
      newId: createEventIds(context),
      observe: (outcome) => {
        admin?.metrics.observe(outcome);
        reporter.observe(outcome);
        end.observe(outcome, outcome.type === "event" && shows(outcome));
      },
      dropped: (count) =>
        out.warn(
          `${count} rejected requests were not stored: they arrived faster than they could be written.`,
        ),
      faulted: (error: unknown) => out.warn(String(error)),
    });
    let isReady = false;
    later(() => {
      if (isReady) summarise(reporter, context);
    });
    later(forwarding.close);
    later(() => server.close());
    const tlsWatch =
      options.tls === undefined || tls === undefined
        ? undefined
        : watchTls(options.tls, tls, server, context, out.warn);
    later(() => tlsWatch?.close());
    later(reloadOnHangup(keyring, tlsWatch, context));
    if (options.tunnel) {
      const { openTunnel } = await import("./tunnel.ts");
      tunnel = await openTunnel(localAddress(server.url), context);
      void tunnel.ended.then(end.fail);
      address = publicAddress(new URL(options.paths[0], tunnel.url));
    }
    const listeners = listenersOf(server, options.paths, address);
    admin?.started({
      // Without a store, what is acknowledged is at the brokers.
      checkStore: options.database === null ? targets.check : store.check,
      connections: () => server.connections(),
      backlog: () => store.queue?.backlog(),
    });
    isReady = await waiting.until(() => store.announce(listeners), end.reached);
    if (!isReady) return 0;
    forwarding.start();
    void targets.check().catch((error: unknown) => out.warn(`${messageOf(error)}. ${UNTIL_IT_DOES}`));
    showReady({ listeners, adminUrl: admin?.url, forwardingKey }, options, context);
    if (tls !== undefined && isSelfSigned(tls)) out.warn(SELF_SIGNED);
    await end.reached;
    admin?.ending();
    await drain(context.signal, options.drain);
    return 0;
  });

/** Milliseconds between tries to reach the database. */
const TRY_EVERY = 1_000;

/** Waits for a database that is away when `listen` starts. Says so once. */
function watchDatabase(warn: (text: string) => void) {
  let isSaid = false;
  /** Throws what waiting does not mend: a wrong address, a refused login, a missing database or permission. */
  const isThere = async (use: () => Promise<void>): Promise<boolean> => {
    try {
      await use();
      return true;
    } catch (error) {
      if (!(error instanceof PaylinkError) || error.code !== "database_unreachable") throw error;
      if (!isSaid) warn(`Waiting for the database, and answering webhooks with 503. ${error.message}`);
      isSaid = true;
      return false;
    }
  };
  return {
    isThere,
    /** Resolves with true once it was used, or with false if the run is over before. */
    until: async (use: () => Promise<void>, over: Promise<void>): Promise<boolean> => {
      const isOver = over.then(() => "over" as const);
      for (;;) {
        const found = await Promise.race([isOver, isThere(use)]);
        if (found !== false) return found === true;
        await Promise.race([isOver, sleep(TRY_EVERY, undefined, { ref: false })]);
      }
    },
  };
}

async function openAdminOf({ admin }: ListenOptions, context: Context): Promise<Admin | undefined> {
  if (admin === undefined) return undefined;
  const { openAdmin } = await import("./admin.ts");
  return openAdmin(admin, context);
}

interface OpenedLog {
  readonly log: EventLog;
  /** What is acknowledged and not forwarded yet; undefined if no events are kept. */
  readonly queue: ForwardQueue | undefined;
  /** Rejects if no event can be stored. */
  readonly check: () => Promise<void>;
  /** Lets `create --wait` find these. */
  readonly announce: (listeners: readonly Listener[]) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The event store, or memory for this run alone if `database` is null. */
async function openLog(
  database: string | null | undefined,
  { events }: Pick<Context, "events">,
): Promise<OpenedLog> {
  const nothing = async (): Promise<void> => undefined;
  if (database === null)
    return { log: createMemoryLog(), queue: undefined, check: nothing, announce: nothing, close: nothing };
  const store = await events(database);
  let announced: readonly Listener[] = [];
  return {
    log: store,
    queue: store.queue,
    check: () => store.ready(),
    announce: async (listeners) => {
      for (const listener of listeners) await store.addListener(listener);
      announced = listeners;
    },
    close: async () => {
      // A listener that stays in the store does no harm: others see that its port is free.
      for (const listener of announced) await store.removeListener(listener).catch(() => undefined);
      await store.close();
    },
  };
}

const UNTIL_IT_DOES =
  "Webhooks for it are answered 503 until it does, or wait with --ack stored. paylink help environment names the variables to log in with.";

const SELF_SIGNED =
  "The certificate is self-signed, so services do not deliver to it. The sandbox does if it runs with --insecure.";

function eventFilter({ filter: { outcome, reference } }: ListenOptions): (event: WebhookEvent) => boolean {
  if (outcome === undefined && reference === undefined) return () => true;
  return ({ record }) =>
    (outcome === undefined || outcomeOf(record) === outcome) &&
    (reference === undefined || ((record && textOf(record, "reference")) ?? "").includes(reference));
}

function summarise(reporter: Reporter, { out, now }: Context): void {
  const counts = reporter.finish();
  if (out.json) out.data(jsonLine("summary", now(), { ...counts }));
  else out.note(renderSummary(counts));
}
