/** A sandbox and a receiver of its webhooks, on free ports of this machine and in a home of their own. */
import type { ApiFault } from "../../sandbox/api-faults.ts";
import type { Context, SandboxHome } from "../../context.ts";
import type { HttpServer } from "../../http/exchange.ts";
import { DEFAULT_MAX_BODY } from "../../receiver/admit.ts";
import { openTargets } from "../../receiver/brokers/targets.ts";
import type { Rejection, RunKeys, WebhookEvent } from "../../events/event.ts";
import { createEventIds } from "../../events/event-id.ts";
import type { Route } from "../../receiver/outcome-routes.ts";
import { createDirectForwarder } from "../../receiver/direct.ts";
import type { ForwarderParts } from "../../receiver/forwarder.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { thumbprintsOf } from "../../receiver/keyring.ts";
import { createClock } from "../../sandbox/clock.ts";
import { createSigningKeys } from "../../sandbox/signing-keys.ts";
import { AS_THE_SERVICE, type SandboxSetup } from "../../sandbox/setup.ts";
import { type RunningSandbox, startSandbox } from "../../sandbox/server.ts";
import { DEFAULT_POLICY } from "../../signatures/policy.ts";
import { FORWARD_SECONDS } from "../shared-flags.ts";

interface LocalServicesOptions {
  /** Where verified webhooks are forwarded to. */
  readonly routes: readonly Route[];
  /** What the sandbox's API does wrong on purpose. */
  readonly fail?: readonly ApiFault[];
  readonly onWebhook: (outcome: WebhookEvent | Rejection) => void;
  readonly onSandboxEvent: SandboxSetup["observe"];
  readonly onForward: ForwarderParts["observe"];
}

export interface LocalServices {
  /** The folder of their home. */
  readonly home: string;
  /** The file of the events that the receiver stores. */
  readonly eventStore: string;
  readonly sandboxHome: SandboxHome;
  readonly sandbox: RunningSandbox;
  readonly receiver: HttpServer;
}

export async function openLocalServices(
  context: Context,
  options: LocalServicesOptions,
): Promise<LocalServices> {
  const { send, now, timers, newId, serve, out, later } = context;
  const { routes, fail = [], onWebhook, onSandboxEvent, onForward } = options;
  const shared = {
    host: "127.0.0.1",
    port: 0,
    serve,
    faulted: (error: unknown): void => out.warn(String(error)),
  };
  const home = await context.temporaryHome();
  const sandboxHome = await home.sandbox();
  const { identity, renewKey, ledger } = sandboxHome;
  const keys = createSigningKeys(identity, renewKey, now);
  const runKeys = (): RunKeys => thumbprintsOf(keys.verifying());
  const log = await home.events();
  const targets = await openTargets(routes, { ...context, insecure: false });
  later(targets.close);
  const forwarder = createDirectForwarder({
    routes,
    deliver: targets.deliver,
    now,
    timers,
    timeout: FORWARD_SECONDS * 1000,
    headers: [],
    insecure: false,
    log,
    keys: runKeys,
    observe: onForward,
    warn: (text) => out.warn(text),
  });
  const receiver = await startReceiver({
    ...shared,
    paths: ["/"],
    publicAddress: () => undefined,
    maxBody: DEFAULT_MAX_BODY,
    keys: async () => keys.verifying(),
    runKeys,
    policy: DEFAULT_POLICY,
    strict: false,
    terminals: [],
    unverified: false,
    log,
    forwarder,
    now,
    newId: createEventIds({ now, newId }),
    observe: onWebhook,
  });
  later(() => receiver.close());
  const sandbox = await startSandbox({
    ...AS_THE_SERVICE,
    fail,
    ...shared,
    merchant: identity,
    keys,
    ledger: ledger(),
    clock: createClock(now),
    newId,
    send,
    machineNow: now,
    observe: onSandboxEvent,
  });
  later(() => sandbox.close());
  return { home: home.path, eventStore: log.place, sandboxHome, sandbox, receiver };
}
