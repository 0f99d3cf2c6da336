/** `paylink test -- <command …>`: runs another program with a sandbox and a receiver of its own, for CI. */
import { spawn } from "node:child_process";
import { createPublicKey } from "node:crypto";
import { constants } from "node:os";
import { isatty } from "node:tty";
import type { Context, SandboxHome } from "../../context.ts";
import { SANDBOX_PROFILE } from "../../domain/addresses.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { programReason } from "../../domain/system-reason.ts";
import { outcomeOf, readRecord, textOf } from "../../domain/transaction.ts";
import { isAccepted, type Forward, type Rejection, type WebhookEvent } from "../../receiver/events.ts";
import { openTargets } from "../../receiver/brokers/targets.ts";
import { createForwarder } from "../../receiver/forwarder.ts";
import type { Route } from "../../receiver/forward.ts";
import type { HttpRequest } from "../../http/message.ts";
import type { Paint } from "../../render/paint.ts";
import { safeText } from "../../render/safe-text.ts";
import { SCHEDULE } from "../../sandbox/deliveries.ts";
import type { SandboxEvent } from "../../sandbox/setup.ts";
import type { Environment } from "../../settings/resolved-settings.ts";
import { SETTING_KEYS, SETTINGS } from "../../settings/setting-table.ts";
import { FORWARD_SECONDS } from "../shared-flags.ts";
import { openLocalServices, type LocalServices, type Receiving } from "./services.ts";

/** Returns the command's own exit code. */
export async function test(
  context: Context,
  command: readonly string[],
  routes: readonly Route[],
): Promise<number> {
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
  const { now, out } = context;
  /** The program finds the events as it would find those of `listen`. */
  const openReceiving = async ({ eventsPath }: SandboxHome): Promise<Receiving> => {
    const log = await context.events(eventsPath);
    const { send, close } = await openTargets(routes, { ...context, insecure: false });
    const forwarder = createForwarder({
      routes,
      send,
      now,
      timeout: FORWARD_SECONDS * 1000,
      headers: [],
      insecure: false,
      log,
      observe: ({ request }, forward) => report.onForward(request, forward),
      warn: out.warn,
    });
    return {
      log,
      forwarder,
      close: async () => {
        await close();
        await log.close();
      },
    };
  };
  return openLocalServices(
    {
      schedule: SCHEDULE,
      strict: false,
      openReceiving,
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

/** A variable that is undefined in `changed` is unset. With `--json` stdout is for the report, so the program prints to stderr. */
function runProgram(
  [program = "", ...args]: readonly string[],
  changed: Environment,
  { env, out, signal }: Context,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...env, ...changed },
      stdio: ["inherit", out.json ? 2 : "inherit", "inherit"],
    });
    const forwardSignal = (): void => {
      const reason: unknown = signal.reason;
      const interrupted = reason instanceof PaylinkError && reason.code === "interrupted";
      if (!interrupted) child.kill("SIGTERM");
      else if (!atTerminal()) child.kill("SIGINT");
    };
    signal.addEventListener("abort", forwardSignal, { once: true });
    child.on("error", (error) => {
      signal.removeEventListener("abort", forwardSignal);
      const message = `Cannot run ${program}: ${programReason(error)}. Nothing was run.`;
      reject(new PaylinkError("usage", message, { cause: error }));
    });
    child.on("close", (code, ended) => {
      signal.removeEventListener("abort", forwardSignal);
      // POSIX shells give 128 and the signal's number for a program that a signal ended.
      resolve(code ?? 128 + (ended === null ? 0 : constants.signals[ended]));
    });
  });
}

/** A terminal sends Ctrl-C to every foreground program; forwarding it would send it twice. */
const atTerminal = (): boolean => [0, 1, 2].some((descriptor) => isatty(descriptor));

const NONE = {
  created: 0,
  approved: 0,
  partiallyApproved: 0,
  declined: 0,
  cancelled: 0,
  delivered: 0,
  undelivered: 0,
  rejected: 0,
  forwarded: 0,
};
type Counts = typeof NONE;

interface TestReport {
  readonly counts: Readonly<Counts>;
  readonly onSandboxEvent: (event: SandboxEvent) => void;
  readonly onWebhook: (outcome: WebhookEvent | Rejection) => void;
  readonly onForward: (request: HttpRequest | undefined, forward: Forward) => void;
  text(paint: Paint): string;
}

function createTestReport(): TestReport {
  const counts = { ...NONE };
  const undelivered = new Map<string, string>();
  const rejections: string[] = [];
  /** The last forward of each record, if the target did not accept it. */
  const failedForwards = new Map<string, string>();
  return {
    counts,
    onSandboxEvent: (event) => {
      if (event.type === "link") counts.created += 1;
      if (event.type === "payment") countOutcome(counts, event.record);
      if (event.type !== "delivery") return;
      if (event.state === "delivered") {
        counts.delivered += 1;
        undelivered.delete(event.delivery.id);
      } else {
        const { id, url, uti } = event.delivery;
        undelivered.set(id, failedForwards.get(uti) ?? `${url}: ${event.detail}`);
      }
      counts.undelivered = undelivered.size;
    },
    onWebhook: (outcome) => {
      if (outcome.type !== "rejected") return;
      counts.rejected += 1;
      rejections.push(`${outcome.code}: ${outcome.detail}`);
    },
    onForward: (request, { target, status, detail }) => {
      counts.forwarded += 1;
      const record = request === undefined ? null : readRecord(request.body).record;
      const uti = (record && textOf(record, "uti")) ?? "";
      if (isAccepted(status)) failedForwards.delete(uti);
      else failedForwards.set(uti, `${target}: ${status === null ? detail : `answered ${status}`}`);
    },
    text: (paint) => {
      const { created, approved, partiallyApproved, declined, cancelled, delivered, rejected } = counts;
      const paid = `${approved} approved, ${partiallyApproved} partially approved, ${declined} declined, ${cancelled} cancelled`;
      const line = `${created} created, ${paid}; ${delivered} delivered, ${undelivered.size} undelivered, ${rejected} rejected`;
      const failures = [...undelivered.values(), ...rejections].map(
        (failure) => `  ${paint.red("✗")} ${safeText(failure)}`,
      );
      return [`${paint.bold("paylink test")}  ${line}`, ...failures].join("\n");
    },
  };
}

function countOutcome(counts: Counts, record: Parameters<typeof outcomeOf>[0]): void {
  const outcome = outcomeOf(record);
  if (outcome === "APPROVED") counts.approved += 1;
  if (outcome === "PARTIALLY_APPROVED") counts.partiallyApproved += 1;
  if (outcome === "DECLINED") counts.declined += 1;
  if (outcome === "CANCELLED") counts.cancelled += 1;
}
