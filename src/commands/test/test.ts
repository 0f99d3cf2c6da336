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
import { SCHEDULE } from "../../sandbox/deliveries.ts";
import { folders } from "../../store/folders.ts";
import { openIdentity, profileOf, renewKey } from "../../store/sandbox/sandbox-identity.ts";
import { openLedger } from "../../store/sandbox/sqlite-ledger.ts";
import { openStage } from "../stage.ts";
import type { TestFlags } from "./command.ts";
import { runCommand } from "./run-command.ts";
import { createReport, type Report } from "./report.ts";

const PROFILE = "sandbox";

export async function test(
  context: Context,
  words: readonly [string, ...string[]],
  flags: TestFlags,
): Promise<void> {
  const { out } = context;
  const home = await mkdtemp(join(tmpdir(), "paylink-test-"));
  const report = createReport();
  try {
    const setting = await setUp(context, home, flags, report);
    let exit: number;
    try {
      exit = await runCommand(words, setting.env, context);
      await setting.settle();
    } finally {
      await setting.close();
    }
    if (out.json) out.data(JSON.stringify({ type: "summary", command: words, exit, ...report.counts }));
    else out.note(report.words(out.notePaint));
    context.endWith(exit);
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

/** A folder with a sandbox's identity and profile in it, and both sides running. */
async function setUp(context: Context, home: string, flags: TestFlags, report: Report): Promise<Setting> {
  const { now, newId, settings } = context;
  const folder = join(folders(home).data, "sandbox");
  const identity = openIdentity(folder, newId);
  const log = createMemoryLog();
  const forward = forwarderTo(flags.forwardTo, context, log, report);
  const { sandbox, receiver, close } = await openStage(
    {
      identity,
      renewKey: () => renewKey(folder, newId, now()),
      ledger: openLedger(join(folder, "sandbox.db")),
      schedule: SCHEDULE,
      strict: false,
      log,
      forward,
      received: report.received,
      happened: report.happened,
    },
    context,
  );
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
    close,
  };
}

interface Setting {
  /** What the command finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Waits for the webhooks that are due, so that the report tells of them. */
  settle(): Promise<void>;
  close(): Promise<void>;
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
