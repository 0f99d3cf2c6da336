/** A sandbox and a receiver of its webhooks, on free ports of this machine and in a home of their own. */
import type { Context, SandboxHome } from "../../context.ts";
import type { Server } from "../../http/exchange.ts";
import { DEFAULT_MAX_BODY } from "../../receiver/admit.ts";
import { createEventIds, type EventLog, type Rejection, type WebhookEvent } from "../../receiver/events.ts";
import { startReceiver, type ReceiverOptions } from "../../receiver/receiver.ts";
import { createClock } from "../../sandbox/clock.ts";
import { createIds } from "../../sandbox/ids.ts";
import { createSigningKeys } from "../../sandbox/signing-keys.ts";
import type { SandboxSetup } from "../../sandbox/setup.ts";
import { startSandbox, type RunningSandbox } from "../../sandbox/server.ts";
import { SERVICE_FORM } from "../../signatures/cover.ts";
import { readKeys, type VerificationKey } from "../../signatures/keys.ts";
import { DEFAULT_POLICY } from "../../signatures/policy.ts";

const ADDRESS = { host: "127.0.0.1", port: 0 } as const;

/** What the receiver does with a webhook. */
export interface Receiving {
  readonly log: EventLog;
  readonly forwarder: ReceiverOptions["forwarder"];
  readonly close: () => Promise<void>;
}

interface LocalServicesParts extends Pick<SandboxSetup, "schedule"> {
  /** Whether the receiver refuses records that break the specification. */
  readonly strict: boolean;
  readonly openReceiving: (home: SandboxHome) => Promise<Receiving>;
  readonly onWebhook: (outcome: WebhookEvent | Rejection) => void;
  readonly onSandboxEvent: SandboxSetup["observe"];
}

interface RunningServices {
  readonly sandbox: RunningSandbox;
  readonly receiver: Server;
  /** Stops both. */
  readonly stop: () => Promise<void>;
}

export interface LocalServices extends Omit<RunningServices, "stop"> {
  /** The path of their `PAYLINK_HOME`. */
  readonly home: string;
  readonly sandboxHome: SandboxHome;
  /** Stops both and deletes the home. */
  readonly close: () => Promise<void>;
}

export async function openLocalServices(parts: LocalServicesParts, context: Context): Promise<LocalServices> {
  const home = await context.temporaryHome();
  try {
    const sandboxHome = await context.sandbox(home.path);
    const { sandbox, receiver, stop } = await start(parts, sandboxHome, context);
    const close = async (): Promise<void> => {
      try {
        await stop();
      } finally {
        await home.remove();
      }
    };
    return { home: home.path, sandboxHome, sandbox, receiver, close };
  } catch (error) {
    await home.remove();
    throw error;
  }
}

async function start(
  { schedule, strict, openReceiving, onWebhook, onSandboxEvent }: LocalServicesParts,
  home: SandboxHome,
  { serve, send, now, newId, out }: Context,
): Promise<RunningServices> {
  const { identity, renewKey, ledger } = home;
  const keys = createSigningKeys(identity, renewKey, now);
  const shared = { ...ADDRESS, serve, faulted: (error: unknown): void => out.warn(String(error)) };
  const sandbox = await startSandbox({
    ...shared,
    merchant: identity,
    keys,
    ledger: ledger(),
    clock: createClock(now),
    ids: createIds(newId),
    send,
    machineNow: now,
    allowRemote: false,
    allowedHosts: [],
    insecure: false,
    schedule,
    fault: undefined,
    form: SERVICE_FORM,
    duplicateInvoices: "refuse",
    tokenAuth: "post",
    observe: onSandboxEvent,
  });
  let known = publishedKeys(keys);
  const { log, forwarder, close } = await openReceiving(home).catch(async (error: unknown) => {
    await sandbox.close();
    throw error;
  });
  const receiver = await startReceiver({
    ...shared,
    paths: ["/"],
    publicAddress: () => undefined,
    maxBody: DEFAULT_MAX_BODY,
    keys: () => known,
    renewKeys: async () => {
      known = publishedKeys(keys);
      return true;
    },
    policy: DEFAULT_POLICY,
    strict,
    unverified: false,
    log,
    forwarder,
    now,
    newId: createEventIds({ now, newId }),
    observe: onWebhook,
  }).catch(async (error: unknown) => {
    await sandbox.close();
    await close();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await sandbox.close();
    await receiver.close();
    await close();
  };
  return { sandbox, receiver, stop };
}

function publishedKeys(keys: SandboxSetup["keys"]): VerificationKey[] {
  const read = readKeys(JSON.stringify({ keys: keys.published() }));
  if (!read.ok) throw new Error(read.reason);
  return read.keys;
}
