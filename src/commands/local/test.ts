/** `paylink test -- <command …>`: runs another program with a sandbox and a receiver of its own, for CI. */
import { plural } from "../../values/plural.ts";
import { isSuccess } from "../../http/message.ts";
import { withDirectLoopback } from "../../http/proxies.ts";
import { createPublicKey } from "node:crypto";
import type { Context } from "../../context.ts";
import type { ApiFault } from "../../sandbox/api-faults.ts";
import { SANDBOX_PROFILE } from "../../domain/known-services.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { programReason } from "../../values/system-reason.ts";
import { formatAmount } from "../../domain/money.ts";
import { hasApprovedAmount } from "../../domain/outcome.ts";
import { moneyIn, outcomeOf, readRecord, textOf } from "../../domain/transaction.ts";
import { type Forward, type Rejection, type WebhookEvent } from "../../events/event.ts";
import type { Route } from "../../receiver/outcome-routes.ts";
import type { Paint } from "../../render/paint.ts";
import { safeText } from "../../render/safe-text.ts";
import type { SandboxEvent } from "../../sandbox/setup.ts";
import type { Environment } from "../../values/typed-text.ts";
import { SETTING_KEYS, SETTINGS } from "../../settings/setting-table.ts";
import { openLocalServices, type LocalServices } from "./services.ts";

interface TestOptions {
  readonly forwardTo: readonly Route[];
  readonly fail: readonly ApiFault[];
  /** Fails where a payment did not reach the application. */
  readonly reconcile: boolean;
}

/** Returns the command's own exit code. Throws `records_differ` if that is 0 and a payment was lost. */
export async function test(
  context: Context,
  command: readonly string[],
  { forwardTo, fail, reconcile }: TestOptions,
): Promise<number> {
  const { out } = context;
  const report = createTestReport(forwardTo.length > 0);
  const services = await openLocalServices(context, { routes: forwardTo, fail, ...report });
  const exit = await runCommandWith(await environmentOf(services, context.env), command, context);
  // The report covers the webhooks that are still due.
  await services.sandbox.idle();
  const lost = reconcile ? [...report.lost.values()] : [];
  out.result({ type: "summary", command, exit, ...report.counts, lost: lost.length }, undefined);
  out.note(report.text(out.notePaint));
  if (exit !== 0) out.note(SANDBOX_ENDED);
  if (lost.length === 0 || exit !== 0) return exit;
  throw new PaylinkError(
    "records_differ",
    `${plural(lost.length, "payment")} did not reach your application: ${lost.map(safeText).join(", ")}.`,
  );
}

/** What a failed command has advised names the sandbox that ends with it. */
const SANDBOX_ENDED =
  "The sandbox of this run has ended, and its links with it. Commands that were printed above work only inside such a run: paylink test -- <command>.";

/** Variables of a live account or of its event store would win over the profile of the sandbox. */
const UNSET: Environment = Object.fromEntries(
  SETTING_KEYS.flatMap((key) => SETTINGS[key].variable ?? []).map((variable) => [variable, undefined]),
);

/** Registers the sandbox as the profile of its home, and returns the variables for the command. */
async function environmentOf(
  { home, eventStore, sandboxHome, sandbox, receiver }: LocalServices,
  env: Environment,
): Promise<Environment> {
  await sandboxHome.register(sandbox.baseUrl, receiver.url);
  const { token, terminalId, privateKey } = sandboxHome.identity;
  return {
    ...UNSET,
    ...withDirectLoopback(env),
    PAYLINK_HOME: home,
    PAYLINK_PROFILE: SANDBOX_PROFILE,
    PAYLINK_BASE_URL: sandbox.baseUrl,
    PAYLINK_TOKEN: token,
    PAYLINK_TERMINAL_ID: terminalId,
    PAYLINK_WEBHOOK_KEY: createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString(),
    PAYLINK_CALLBACK_URL: receiver.url,
    PAYLINK_DB: eventStore,
  };
}

/** A variable that is undefined in `changed` is unset. With `--json` stdout is for the report, so the program prints to stderr. */
function runCommandWith(
  changed: Environment,
  [program = "", ...args]: readonly string[],
  { env, out, runProgram }: Context,
): Promise<number> {
  return runProgram(program, args, { env: { ...env, ...changed }, toStderr: out.json }).catch(
    (error: unknown) => {
      const message = `Cannot run ${program}: ${programReason(error)}. Nothing was run.`;
      throw new PaylinkError("usage", message, { cause: error });
    },
  );
}

const NO_COUNTS = {
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

/** The outcomes that the sandbox makes. */
const COUNT_OF = {
  APPROVED: "approved",
  PARTIALLY_APPROVED: "partiallyApproved",
  DECLINED: "declined",
  CANCELLED: "cancelled",
} as const;

function utiIn({ request }: Pick<WebhookEvent, "request">): string {
  const { record } = readRecord(request.body);
  return (record && textOf(record, "uti")) ?? "";
}

/** `forwards`: a payment has reached the application once the application accepts it, not once its webhook arrives. */
function createTestReport(forwards: boolean) {
  const counts = { ...NO_COUNTS };
  /** The order and the amount of each payment that has not reached the application, by its uti. */
  const lost = new Map<string, string>();
  const undelivered = new Map<string, string>();
  const rejections: string[] = [];
  /** The last forward of each record, if the target did not accept it. */
  const failedForwards = new Map<string, string>();
  return {
    counts,
    lost,
    onSandboxEvent: (event: SandboxEvent): void => {
      if (event.type === "link") counts.created += 1;
      if (event.type === "payment") {
        const outcome = outcomeOf(event.record);
        if (outcome !== "UNCLEAR") counts[COUNT_OF[outcome]] += 1;
        const money = moneyIn(event.record);
        if (hasApprovedAmount(outcome) && money !== undefined)
          lost.set(
            event.record.uti,
            `${event.record.reference} (${formatAmount(money.amount, money.currency)})`,
          );
      }
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
    onWebhook: (outcome: WebhookEvent | Rejection): void => {
      if (outcome.type === "event" && !forwards) lost.delete(utiIn(outcome));
      if (outcome.type !== "rejected") return;
      counts.rejected += 1;
      rejections.push(`${outcome.code}: ${outcome.detail}`);
    },
    onForward: (event: Pick<WebhookEvent, "request">, { target, status, detail }: Forward): void => {
      counts.forwarded += 1;
      const uti = utiIn(event);
      if (isSuccess(status)) lost.delete(uti);
      if (isSuccess(status)) failedForwards.delete(uti);
      else failedForwards.set(uti, `${target}: ${status === null ? detail : `answered ${status}`}`);
    },
    text: (paint: Paint): string => {
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
