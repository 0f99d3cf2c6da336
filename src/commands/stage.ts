/** A sandbox and a receiver of its webhooks, each on a free port of this machine: what a command runs its work on. */
import type { Context } from "../context.ts";
import type { Server } from "../http/exchange.ts";
import { DEFAULT_MAX_BODY } from "../receiver/admit.ts";
import type { EventLog, Rejection, WebhookEvent } from "../receiver/events.ts";
import type { ReceiverParts } from "../receiver/receiver.ts";
import { startReceiver } from "../receiver/receiver.ts";
import { createClock } from "../sandbox/clock.ts";
import { createIds } from "../sandbox/ids.ts";
import type { SandboxParts } from "../sandbox/service.ts";
import { createSigningKeys, type StoredKeys } from "../sandbox/signing-keys.ts";
import { startSandbox, type RunningSandbox } from "../sandbox/start.ts";
import { readKeys, type VerificationKey } from "../signatures/keys.ts";
import { DEFAULT_POLICY } from "../signatures/policy.ts";

const HERE = { host: "127.0.0.1", port: 0 } as const;
interface StageParts extends Pick<SandboxParts, "ledger" | "schedule"> {
  readonly identity: SandboxParts["merchant"] & StoredKeys;
  /** Makes a new key, where the sandbox is asked to rotate its own. */
  readonly renewKey: () => StoredKeys;
  /** Whether the receiver refuses records that break the specification. */
  readonly strict: boolean;
  readonly log: EventLog;
  readonly forward?: ReceiverParts["forward"];
  readonly received: (outcome: WebhookEvent | Rejection) => void;
  readonly happened: SandboxParts["observe"];
}

export interface Stage {
  readonly sandbox: RunningSandbox;
  readonly receiver: Server;
  readonly close: () => Promise<void>;
}

export async function openStage(
  { identity, renewKey, ledger, schedule, strict, log, forward, received, happened }: StageParts,
  { serve, send, now, newId, out }: Context,
): Promise<Stage> {
  const keys = createSigningKeys(identity, renewKey, now);
  const shared = { ...HERE, serve, faulted: (error: unknown): void => out.note(String(error)) };
  const published = (): VerificationKey[] => publishedKeys(keys);
  const sandbox = await startSandbox({
    ...shared,
    merchant: identity,
    keys,
    ledger,
    clock: createClock(now),
    ids: createIds(newId),
    newToken: newId,
    send,
    machineNow: now,
    allowRemote: false,
    schedule,
    fault: undefined,
    observe: happened,
  });
  const receiver = await startReceiver({
    ...shared,
    path: "/",
    publicAddress: undefined,
    maxBody: DEFAULT_MAX_BODY,
    keys: published(),
    renewKeys: async () => published(),
    policy: DEFAULT_POLICY,
    strict,
    unverified: false,
    log,
    forward,
    now,
    newId,
    observe: received,
  }).catch(async (error: unknown) => {
    await sandbox.close();
    throw error;
  });
  return {
    sandbox,
    receiver,
    close: async () => {
      await sandbox.close();
      await receiver.close();
    },
  };
}

function publishedKeys(keys: SandboxParts["keys"]): VerificationKey[] {
  const read = readKeys(JSON.stringify({ keys: keys.published() }));
  if (!read.ok) throw new Error(read.reason);
  return read.keys;
}
