/** `paylink listen`: receives webhooks until it is stopped, and shows the result of each. */
import type { Context } from "../../context.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import type { Server } from "../../http/exchange.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import { createEventIds } from "../../receiver/event-ids.ts";
import type { WebhookEvent } from "../../receiver/events.ts";
import { measured, NO_BACKLOG } from "../../receiver/metrics.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { renderSummary } from "../../render/received-webhook.ts";
import { transactionCommand } from "../transaction-command.ts";
import type { Admin } from "./admin.ts";
import { drain, watchForEnd } from "./end.ts";
import { createTally } from "./expectations.ts";
import { openForwarding } from "./forwarding.ts";
import type { ListenOptions } from "./options.ts";
import { openLog } from "./open-log.ts";
import { watchReader } from "./reader-gone.ts";
import { listenersOf, showReady } from "./ready.ts";
import { reloadOnHangup } from "./reload.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { isSelfSigned, readTls, watchTls } from "./tls.ts";
import type { Tunnel } from "./tunnel.ts";

export async function listen(context: Context, options: ListenOptions): Promise<number> {
  context.out.streamWarnings();
  if (options.admin === undefined) return receive(context, options, undefined);
  const { openAdmin } = await import("./admin.ts");
  const admin = await openAdmin(options.admin, context);
  try {
    return await receive(context, options, admin);
  } finally {
    await admin.close();
  }
}

async function receive(context: Context, options: ListenOptions, admin: Admin | undefined): Promise<number> {
  const { out, now } = context;
  const keyring = await openKeyring(options.keySources, {
    ...context,
    place: options.keyPlace,
    effect: "receive",
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
  const store = await openLog(options.database, context);
  const log = admin === undefined ? store.log : measured(store.log, admin.metrics, now);
  const forwarding = openForwarding(
    options,
    { shows, log, queue: store.queue },
    context,
    (id, forward, progress) => {
      admin?.metrics.forwarded(forward, progress?.state === "pending");
      reporter.forwarded(id, forward, progress);
    },
  );
  const reader = watchReader(context, options);
  const end = watchForEnd(reader.stop, options, tally);
  let tunnel: Tunnel | undefined;
  try {
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
        if (outcome.type === "event" && shows(outcome)) tally.count(outcome);
        end.observe(outcome);
      },
      dropped: (count) =>
        out.warn(
          `${count} rejected requests were not stored: they arrived faster than they could be written.`,
        ),
      faulted: (error: unknown) => out.warn(String(error)),
    });
    const tlsWatch =
      options.tls === undefined || tls === undefined
        ? undefined
        : watchTls(options.tls, tls, server, context, out.warn);
    let isReady = false;
    const ignoreHangup = reloadOnHangup(keyring, tlsWatch, context);
    try {
      if (options.tunnel) {
        const { openTunnel } = await import("./tunnel.ts");
        tunnel = await openTunnel(localUrl(server), context);
        void tunnel.ended.then(end.fail);
        address = publicAddress(new URL(options.paths[0], tunnel.url));
      }
      const listeners = listenersOf(server, options.paths, address);
      await store.announce(listeners);
      admin?.started({
        checkStore: store.check,
        connections: () => server.connections(),
        backlog: async () => store.queue?.backlog() ?? NO_BACKLOG,
      });
      isReady = true;
      forwarding.start();
      showReady({ listeners, adminUrl: admin?.url }, options, context);
      if (tls !== undefined && isSelfSigned(tls)) out.warn(SELF_SIGNED);
      await end.reached;
      admin?.ending();
      await drain(context.signal, options.drain);
    } finally {
      ignoreHangup();
      tlsWatch?.close();
      await server.close();
      await forwarding.close();
      if (isReady) summarise(reporter, context);
    }
  } finally {
    await tunnel?.close();
    reader.close();
    end.close();
    await store.close();
  }
  return 0;
}

const SELF_SIGNED =
  "The certificate is self-signed, so services do not deliver to it. The sandbox does if it runs with --insecure.";

/** Every address of the machine includes this one. */
const localUrl = ({ url }: Server): string => url.replace(/\/\/(?:0\.0\.0\.0|\[::\]):/, "//127.0.0.1:");

function eventFilter({ filter: { outcome, reference } }: ListenOptions): (event: WebhookEvent) => boolean {
  if (outcome === undefined && reference === undefined) return () => true;
  return ({ record }) =>
    record !== null &&
    (outcome === undefined || outcomeOf(record) === outcome) &&
    (reference === undefined || (textOf(record, "reference") ?? "").includes(reference));
}

function summarise(reporter: Reporter, { out }: Context): void {
  const counts = reporter.finish();
  if (out.json) out.data(JSON.stringify({ type: "summary", ...counts }));
  else out.note(renderSummary(counts));
}
