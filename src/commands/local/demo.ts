/** `paylink demo`: the whole loop in one process, on free ports and in a temporary home. */
import type { PaymentLinkRequest } from "../../domain/payment-link-shapes.ts";
import { outcomeName, type SampleOutcome } from "../../domain/outcome.ts";
import { type Api, createApi } from "../../service/client.ts";
import { payAtCheckout } from "../../service/sandbox.ts";
import { fixedToken } from "../../service/tokens.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { JsonNumber } from "../../values/json.ts";
import { SUBSCRIPTION_START, VARIABLE_MODE, VERIFICATION } from "../../domain/payment-link.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import type { HttpRequest } from "../../http/message.ts";
import type { Rejection, WebhookEvent } from "../../events/event.ts";
import { clip } from "../../render/width.ts";
import { renderOutcomeLine } from "../../render/transaction-record.ts";
import { wrap } from "../../render/layout.ts";
import { openLocalServices } from "./services.ts";
import { UNITS } from "../../values/time.ts";

const INTRODUCTION =
  "Runs a sandbox, a receiver and a client on this machine. No money moves, and no profile is changed.";

/** Columns, as a picture of it has too. */
const DEMO_WIDTH = 80;

/** Milliseconds that one request may take; it takes a few unless something is broken. */
const STEP_TIMEOUT = 10_000;

/** What the steps work with. */
interface Loop {
  readonly context: Context;
  readonly api: Api;
  readonly terminalId: string;
  readonly receiverUrl: string;
  readonly nextWebhook: () => Promise<WebhookEvent | Rejection>;
}

export async function demo(context: Context): Promise<number> {
  const { out } = context;
  out.note(`${wrap(INTRODUCTION, Math.min(DEMO_WIDTH, out.lineWidth))}\n`);
  const loop = await openLoop(context);
  const event = await payOnce(loop, "one-time link, paid", { invoiceId: "INV-1" }, "approved");
  await payReusable(loop);
  await payOnce(loop, "subscription start", SUBSCRIPTION_REQUEST, "approved");
  await payOnce(loop, "one-time link, declined", { invoiceId: "INV-2" }, "declined");
  await payOnce(loop, "one-time link, cancelled", { invoiceId: "INV-3" }, "cancelled");
  await sendTampered(loop, event.request);
  // `npm run demo` has just built the clone, where the shell does not find paylink.
  const next = context.env["npm_lifecycle_event"] === "demo" ? "npx paylink sandbox" : "paylink sandbox";
  out.note(`\nAll steps passed. Next: ${next}`);
  return 0;
}

async function openLoop(context: Context): Promise<Loop> {
  const received: (WebhookEvent | Rejection)[] = [];
  const { sandboxHome, sandbox, receiver } = await openLocalServices(context, {
    routes: [],
    onWebhook: (webhook) => received.push(webhook),
    onSandboxEvent: () => undefined,
    onForward: () => undefined,
  });
  const { token, terminalId } = sandboxHome.identity;
  const api = createApi({
    send: context.send,
    now: context.now,
    sent: context.now,
    awaiting: () => undefined,
    baseUrl: sandbox.baseUrl,
    tokens: fixedToken(token),
    timeout: STEP_TIMEOUT,
    transactionUrl: undefined,
  });
  const nextWebhook = async (): Promise<WebhookEvent | Rejection> => {
    await sandbox.idle();
    const webhook = received.shift();
    if (webhook === undefined) throw new PaylinkError("internal", "No webhook arrived.");
    return webhook;
  };
  return { context, api, terminalId, receiverUrl: receiver.url, nextWebhook };
}

function request(
  { terminalId, receiverUrl, context }: Loop,
  changes: Partial<PaymentLinkRequest>,
): PaymentLinkRequest {
  const tomorrow = new Date(context.now().getTime() + UNITS.d);
  return {
    amount: new JsonNumber("10.00"),
    currency: "EUR",
    terminalId,
    customerName: "Ada Lovelace",
    expirationDate: tomorrow.toISOString(),
    paymentSettings: { callbackUrl: receiverUrl, failureCallbackUrl: receiverUrl },
    ...changes,
  };
}

const SUBSCRIPTION_REQUEST = {
  amount: new JsonNumber("0"),
  invoiceId: "SUB-1",
  transactionType: VERIFICATION,
  periodic: SUBSCRIPTION_START,
};

async function payOnce(
  loop: Loop,
  title: string,
  changes: Partial<PaymentLinkRequest>,
  outcome: SampleOutcome,
): Promise<WebhookEvent> {
  const { link } = await loop.api.createLink(request(loop, changes));
  return payLink(loop, title, link.url, outcome);
}

async function payReusable(loop: Loop): Promise<void> {
  const linkOptions = { mode: VARIABLE_MODE, minAmount: "5", maxAmount: "500" };
  const changes = { amount: new JsonNumber("0"), invoiceId: "DONATION", linkOptions };
  const { link } = await loop.api.createLink(request(loop, changes));
  await payLink(loop, "reusable link, first payment", link.url, "approved", "25.00");
  await payLink(loop, "reusable link, second payment", link.url, "approved", "7.50");
}

async function payLink(
  loop: Loop,
  title: string,
  url: string,
  outcome: SampleOutcome,
  amount?: string,
): Promise<WebhookEvent> {
  const { context, nextWebhook } = loop;
  context.signal.throwIfAborted();
  await payAtCheckout(context.send, new URL(url), {
    outcome,
    ...(amount === undefined ? {} : { amount }),
  });
  const event = await nextWebhook();
  const record = event.type === "event" ? event.content.record : null;
  if (event.type !== "event" || record === null || outcomeName(outcomeOf(record)) !== outcome) {
    throw new PaylinkError("internal", `${title}: the webhook was not accepted as ${outcome}.`, {
      details: { event },
    });
  }
  done(context, title, (width) => renderOutcomeLine(record, { paint: context.out.paint, width }));
  return event;
}

/** The amount is changed in transit, so the signature no longer matches. */
async function sendTampered({ context, nextWebhook }: Loop, genuine: HttpRequest): Promise<void> {
  const text = new TextDecoder().decode(genuine.body).replace('"amountTrans":10.00', '"amountTrans":99.00');
  const { status } = await context.send({ ...genuine, body: new TextEncoder().encode(text) });
  const rejection = await nextWebhook();
  if (status !== 401 || rejection.type !== "rejected") {
    throw new PaylinkError("internal", "A tampered webhook was not refused.", { details: { status } });
  }
  done(context, "tampered webhook, refused", (width) => clip(`${status} ${rejection.code}`, width));
}

const STEP_WIDTH = 32;

function done({ out }: Context, step: string, result: (width: number) => string): void {
  out.line(
    { type: "step", step, ok: true },
    () => `${out.paint.green("✓")} ${step.padEnd(STEP_WIDTH)}${result(out.lineWidth - STEP_WIDTH - 2)}`,
  );
}
