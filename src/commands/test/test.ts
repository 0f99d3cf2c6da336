/** `paylink test -- <command …>`: runs another program with a sandbox and a receiver of its own, for CI. */
import { createPublicKey } from "node:crypto";
import type { Context } from "../../context.ts";
import { createForwarder, targetOf, type Route } from "../../receiver/forward.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { SCHEDULE } from "../../sandbox/deliveries.ts";
import { SANDBOX_PROFILE } from "../../domain/addresses.ts";
import type { Environment } from "../../settings/resolved-settings.ts";
import { SETTING_KEYS, SETTINGS } from "../../settings/setting-table.ts";
import { createFlagReader } from "../flag-reader.ts";
import { readRoutes } from "../forward-flags.ts";
import { openLocalServices, type LocalServices } from "../local-services.ts";
import { runProgram } from "./run-program.ts";
import { createTestReport, type TestReport } from "./test-report.ts";

export interface TestOptions {
  /** The program and its arguments. */
  readonly command: readonly string[];
  readonly routes: readonly Route[];
}

/** Throws `usage`. */
export function testOptions(
  command: readonly string[],
  flags: { readonly forwardTo?: readonly string[] },
): TestOptions {
  const reader = createFlagReader();
  const routes = readRoutes(reader, "--forward-to", flags.forwardTo);
  reader.finish("Nothing was run.");
  return { command, routes: routes.value };
}

/** Returns the command's own exit code. */
export async function test(context: Context, { command, routes }: TestOptions): Promise<number> {
  const { out } = context;
  const report = createTestReport();
  const services = await openServices(context, routes, report);
  let exit: number;
  try {
    exit = await runProgram(command, await environmentOf(services), context);
    // The report covers the webhooks that are still due.
    await services.sandbox.idle();
  } finally {
    await services.close();
  }
  if (out.json) out.data(JSON.stringify({ type: "summary", command, exit, ...report.counts }));
  else out.note(report.text(out.notePaint));
  return exit;
}

function openServices(
  context: Context,
  routes: readonly Route[],
  report: TestReport,
): Promise<LocalServices> {
  const { send, now, pause } = context;
  const log = createMemoryLog();
  const forwarder = createForwarder({
    send,
    now,
    pause,
    headers: [],
    insecure: false,
    log,
    targetOf: (event) => targetOf(routes, event),
    observe: report.onForward,
  });
  return openLocalServices(
    {
      schedule: SCHEDULE,
      strict: false,
      log,
      forwarder,
      onWebhook: report.onWebhook,
      onSandboxEvent: report.onSandboxEvent,
    },
    context,
  );
}

/** Variables of a live account or of its event store would win over the profile of the sandbox. */
const UNSET: Environment = Object.fromEntries(
  SETTING_KEYS.flatMap((key) => SETTINGS[key].variable ?? []).map((variable) => [variable, undefined]),
);

/** Registers the sandbox as the profile of its home, and returns the variables for the command. */
async function environmentOf({ home, sandboxHome, sandbox, receiver }: LocalServices): Promise<Environment> {
  await sandboxHome.register(sandbox.baseUrl, receiver.url);
  const { token, terminals, privateKey } = sandboxHome.identity;
  return {
    ...UNSET,
    PAYLINK_HOME: home,
    PAYLINK_PROFILE: SANDBOX_PROFILE,
    PAYLINK_BASE_URL: sandbox.baseUrl,
    PAYLINK_TOKEN: token,
    PAYLINK_TERMINAL_ID: terminals[0] ?? "",
    PAYLINK_WEBHOOK_KEY: createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString(),
    PAYLINK_CALLBACK_URL: receiver.url,
  };
}
