/** `paylink demo`: the whole loop on free ports, in one process, touching nothing that the user has. */
import { createApi, type Api } from "../../api/client.ts";
import { payAtCheckout } from "../../api/pay-link.ts";
import { fixedToken } from "../../api/tokens.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { JsonNumber } from "../../domain/json.ts";
import {
  SUBSCRIPTION_START,
  VARIABLE_MODE,
  VERIFICATION,
  type PaymentLinkRequest,
} from "../../domain/payment-link.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import { TRANSACTION_PATH } from "../../store/in-force.ts";
import type { HttpRequest } from "../../http/message.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import type { Rejection, WebhookEvent } from "../../receiver/events.ts";
import { renderCompactRecord } from "../../render/transaction-record.ts";
import type { Choice } from "../../sandbox/payments.ts";
import { newIdentity, type SandboxIdentity } from "../../store/sandbox-identity.ts";
import { openLedger } from "../../store/sandbox.ts";
import { openStage } from "../stage.ts";

/** How long a webhook of the demo may take, in milliseconds: it comes within a few, or something is broken. */
const PATIENCE = 10_000;

/** What the steps work with. */
interface Setting {
  readonly context: Context;
  readonly identity: SandboxIdentity;
  readonly api: Api;
  readonly receiverUrl: string;
  /** The next thing that the receiver makes of a request. */
  readonly next: () => Promise<WebhookEvent | Rejection>;
}

export async function demo(context: Context): Promise<void> {
  const { out } = context;
  out.note(
    "A sandbox, a receiver and a client on this machine; no money moves, and no profile is touched.\n",
  );
  const { setting, close } = await setUp(context);
  try {
    const event = await payOnce(setting, "one-time link, paid", oneTime(setting), "approved");
    await payReusable(setting);
    await payOnce(setting, "subscription start", subscription(setting), "approved");
    await payOnce(setting, "one-time link, declined", oneTime(setting), "declined");
    await payOnce(setting, "one-time link, cancelled", oneTime(setting), "cancelled");
    await forge(setting, event.request);
  } finally {
    await close();
  }
  out.note("\nEvery step did what it should. Next: paylink sandbox");
}

async function setUp(context: Context): Promise<{ setting: Setting; close: () => Promise<void> }> {
  const { send, newId } = context;
  const identity = newIdentity(newId);
  const queue = createQueue<WebhookEvent | Rejection>();
  const { sandbox, receiver, close } = await openStage(
    {
      identity,
      renewKey: () => identity,
      ledger: openLedger(":memory:"),
      schedule: [],
      strict: true,
      log: createMemoryLog(),
      received: queue.put,
      happened: () => undefined,
    },
    context,
  );
  const { baseUrl } = sandbox;
  const tokens = fixedToken(identity.token);
  const api = createApi({ send, baseUrl, tokens, transactionPath: TRANSACTION_PATH, timeout: PATIENCE });
  return { setting: { context, identity, api, receiverUrl: receiver.url, next: queue.take }, close };
}

/** The values of both sides meet here one at a time, in order. */
function createQueue<T>(): { put: (value: T) => void; take: () => Promise<T> } {
  const values: T[] = [];
  let wake: (() => void) | undefined;
  const take = async (): Promise<T> => {
    const deadline = setTimeout(() => wake?.(), PATIENCE);
    if (values.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    clearTimeout(deadline);
    const value = values.shift();
    if (value === undefined) throw new PaylinkError("internal", "No webhook came within ten seconds.");
    return value;
  };
  return {
    put: (value) => {
      values.push(value);
      wake?.();
    },
    take,
  };
}

function request({ identity, receiverUrl, context }: Setting, amount: string): PaymentLinkRequest {
  const tomorrow = new Date(context.now().getTime() + 86_400_000);
  return {
    amount: new JsonNumber(amount),
    currency: "EUR",
    terminalId: identity.terminals[0] ?? "",
    customerName: "Ada Lovelace",
    expirationDate: tomorrow.toISOString(),
    paymentSettings: { callbackUrl: receiverUrl, failureCallbackUrl: receiverUrl },
  };
}

const oneTime = (setting: Setting): PaymentLinkRequest => ({
  ...request(setting, "10.00"),
  invoiceId: "INV-1",
});

const subscription = (setting: Setting): PaymentLinkRequest => ({
  ...request(setting, "0"),
  invoiceId: "SUB-1",
  transactionType: VERIFICATION,
  periodic: SUBSCRIPTION_START,
});

async function payOnce(
  setting: Setting,
  title: string,
  link: PaymentLinkRequest,
  outcome: Choice,
): Promise<WebhookEvent> {
  const created = await setting.api.createLink(link);
  return pay(setting, title, created.link.url, outcome);
}

async function payReusable(setting: Setting): Promise<void> {
  const linkOptions = { mode: VARIABLE_MODE, minAmount: "5", maxAmount: "500" };
  const { link } = await setting.api.createLink({
    ...request(setting, "0"),
    invoiceId: "DONATION",
    linkOptions,
  });
  await pay(setting, "reusable link, first payment", link.url, "approved", "25.00");
  await pay(setting, "reusable link, second payment", link.url, "approved", "7.50");
}

async function pay(
  setting: Setting,
  title: string,
  url: string | undefined,
  outcome: Choice,
  amount?: string,
): Promise<WebhookEvent> {
  const { context, next } = setting;
  await payAtCheckout(context.send, new URL(url ?? ""), {
    outcome,
    ...(amount === undefined ? {} : { amount }),
  });
  const event = await next();
  if (event.type !== "event" || event.record === null || outcomeOf(event.record).toLowerCase() !== outcome) {
    throw new PaylinkError("internal", `${title}: the webhook was not taken as ${outcome}.`, {
      details: { event },
    });
  }
  done(context, title, renderCompactRecord(event.record, context.out.paint));
  return event;
}

/** The amount is changed on its way: what was signed is no longer what arrives. */
async function forge({ context, next }: Setting, genuine: HttpRequest): Promise<void> {
  const text = new TextDecoder().decode(genuine.body).replace('"amountTrans":10.00', '"amountTrans":99.00');
  const { status } = await context.send({ ...genuine, body: new TextEncoder().encode(text) });
  const rejection = await next();
  if (status !== 401 || rejection.type !== "rejected") {
    throw new PaylinkError("internal", "A tampered webhook was not turned away.", { details: { status } });
  }
  done(context, "tampered webhook, turned away", `${status} ${rejection.code}`);
}

function done({ out }: Context, step: string, result: string): void {
  if (out.json) out.data(JSON.stringify({ type: "step", step, ok: true }));
  else out.data(`${out.paint.green("✓")} ${step.padEnd(32)}${result}`);
}
