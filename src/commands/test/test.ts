/** `paylink test -- <command …>`: a sandbox and a receiver of its own around another program, for CI. */
import { createPublicKey } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { createForwarder } from "../../receiver/forward.ts";
import { parseTarget } from "../../receiver/forward-target.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { startReceiver } from "../../receiver/start.ts";
import { createClock } from "../../sandbox/clock.ts";
import { SCHEDULE } from "../../sandbox/deliveries.ts";
import { createIds } from "../../sandbox/ids.ts";
import { createSigningKeys } from "../../sandbox/signing-keys.ts";
import { startSandbox } from "../../sandbox/start.ts";
import { readKeys } from "../../signatures/keys.ts";
import { DEFAULT_POLICY } from "../../signatures/policy.ts";
import { folders } from "../../store/folders.ts";
import { openIdentity, profileOf, renewKey } from "../../store/sandbox-identity.ts";
import { openLedger } from "../../store/sandbox.ts";
import type { TestFlags } from "./command.ts";
import { runCommand } from "./run-command.ts";
import { createReport, type Report } from "./report.ts";

const HOST = "127.0.0.1";
const PROFILE = "sandbox";
const MAX_BODY = 1024 * 1024;

export async function test(
  context: Context,
  words: readonly [string, ...string[]],
  flags: TestFlags,
): Promise<void> {
  const { out } = context;
  const home = await mkdtemp(join(tmpdir(), "paylink-test-"));
  const report = createReport();
  try {
    const stage = await setUp(context, home, flags, report);
    let exit: number;
    try {
      exit = await runCommand(words, stage.env, context);
      await stage.settle();
    } finally {
      await stage.close();
    }
    if (out.json) out.data(JSON.stringify({ type: "summary", command: words, exit, ...report.counts }));
    else out.note(report.words(out.notePaint));
    context.endWith(exit);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

interface Stage {
  readonly env: Readonly<Record<string, string>>;
  /** Waits for the webhooks that are due, so that the report tells of them. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

async function setUp(context: Context, home: string, flags: TestFlags, report: Report): Promise<Stage> {
  const { serve, send, now, newId, settings } = context;
  const folder = join(folders(home).data, "sandbox");
  const identity = openIdentity(folder, newId);
  const faulted = (error: unknown): void => context.out.note(String(error));
  const signingKeys = createSigningKeys(identity, () => renewKey(folder, newId, now()), now);
  const readPublished = () => {
    const read = readKeys(JSON.stringify({ keys: signingKeys.published() }));
    return read.ok ? read.keys : [];
  };
  const log = createMemoryLog();
  const receiver = await startReceiver({
    serve,
    host: HOST,
    port: 0,
    path: "/",
    publicAddress: undefined,
    maxBody: MAX_BODY,
    faulted,
    keys: readPublished(),
    renewKeys: async () => readPublished(),
    policy: DEFAULT_POLICY,
    strict: false,
    unverified: false,
    log,
    forward: forwarderTo(flags.forwardTo, context, log, report),
    now,
    newId,
    observe: report.received,
  });
  const sandbox = await startSandbox({
    merchant: identity,
    keys: signingKeys,
    ledger: openLedger(join(folder, "sandbox.db")),
    clock: createClock(now),
    ids: createIds(newId),
    newToken: newId,
    send,
    serve,
    host: HOST,
    port: 0,
    machineNow: now,
    allowRemote: false,
    schedule: SCHEDULE,
    fault: undefined,
    observe: report.happened,
    faulted,
  });
  const stored = await settings(home);
  await stored.save(PROFILE, profileOf(identity, sandbox.baseUrl, receiver.url));
  return {
    env: {
      PAYLINK_HOME: home,
      PAYLINK_PROFILE: PROFILE,
      PAYLINK_BASE_URL: sandbox.baseUrl,
      PAYLINK_TOKEN: identity.token,
      PAYLINK_TERMINAL_ID: identity.terminals[0] ?? "",
      PAYLINK_WEBHOOK_KEY: createPublicKey(identity.privateKey)
        .export({ type: "spki", format: "pem" })
        .toString(),
      PAYLINK_CALLBACK_URL: receiver.url,
    },
    settle: sandbox.idle,
    close: async () => {
      await sandbox.close();
      await receiver.close();
    },
  };
}

function forwarderTo(
  target: string | undefined,
  { send, now }: Context,
  log: ReturnType<typeof createMemoryLog>,
  report: Report,
): ReturnType<typeof createForwarder> | undefined {
  if (target === undefined) return undefined;
  const url = parseTarget(target);
  if (!url.ok) throw new PaylinkError("usage", `--forward-to ${url.message}.`);
  return createForwarder({
    send,
    now,
    headers: [],
    insecure: false,
    log,
    targetOf: () => url.value,
    observe: report.forwarded,
  });
}
