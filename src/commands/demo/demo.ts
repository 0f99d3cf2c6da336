/** `paylink demo`: the whole loop on free ports, in one process, touching nothing that the user has. */
import { createApi, type Api } from "../../api/client.ts";
import { payAtCheckout } from "../../api/checkout.ts";
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
import { outcomeOf, TRANSACTION_PATH } from "../../domain/transaction.ts";
import type { HttpRequest } from "../../http/message.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import type { Rejection, WebhookEvent } from "../../receiver/events.ts";
import { startReceiver } from "../../receiver/start.ts";
import { renderCompactRecord } from "../../render/record.ts";
import { createIds } from "../../sandbox/ids.ts";
import type { Choice } from "../../sandbox/payments.ts";
import { createSandbox } from "../../sandbox/sandbox.ts";
import { publicJwk, readKeys, readSigningKey } from "../../signatures/keys.ts";
import { DEFAULT_POLICY } from "../../signatures/policy.ts";
import { newIdentity, type SandboxIdentity } from "../../store/sandbox-identity.ts";

const HOST = "127.0.0.1";
const MAX_BODY = 1024 * 1024;
/** How long a webhook of the demo may take, in milliseconds: it comes within a few, or something is broken. */
const PATIENCE = 10_000;

/** What the steps work with. */
interface Stage {
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
  const { stage, close } = await setUp(context);
  try {
    const event = await payOnce(stage, "one-time link, paid", oneTime(stage), "approved");
    await payReusable(stage);
    await payOnce(stage, "subscription start", subscription(stage), "approved");
    await payOnce(stage, "one-time link, declined", oneTime(stage), "declined");
    await payOnce(stage, "one-time link, cancelled", oneTime(stage), "cancelled");
    await forge(stage, event.request);
  } finally {
    await close();
  }
  out.note("\nEvery step did what it should. Next: paylink sandbox");
}

async function setUp(context: Context): Promise<{ stage: Stage; close: () => Promise<void> }> {
  const { serve, send, now, newId } = context;
  const identity = newIdentity(newId);
  const key = readSigningKey(identity.privateKey, identity.keyid);
  if (!key.ok) throw new Error(key.reason);
  const keys = readKeys(JSON.stringify(publicJwk(key.key.key, identity.keyid)));
  if (!keys.ok) throw new Error(keys.reason);
  const faulted = (error: unknown): void => context.out.note(String(error));
  const queue = createQueue<WebhookEvent | Rejection>();
  const receiver = await startReceiver({
    serve,
    host: HOST,
    port: 0,
    path: "/",
    publicAddress: undefined,
    maxBody: MAX_BODY,
    faulted,
    keys: keys.keys,
    policy: DEFAULT_POLICY,
    strict: true,
    unverified: false,
    log: createMemoryLog(),
    now,
    newId,
    observe: queue.put,
  });
  const sandbox = createSandbox({
    merchant: identity,
    key: key.key,
    ids: createIds(newId),
    send,
    now,
    allowRemote: false,
    observe: () => undefined,
  });
  const service = await serve(sandbox.handler, { host: HOST, port: 0, maxBody: MAX_BODY, faulted });
  const baseUrl = service.url.replace(/\/$/, "");
  const tokens = fixedToken(identity.token);
  const api = createApi({ send, baseUrl, tokens, transactionPath: TRANSACTION_PATH, timeout: PATIENCE });
  return {
    stage: { context, identity, api, receiverUrl: receiver.url, next: queue.take },
    close: async () => {
      await sandbox.close();
      await Promise.all([service.close(), receiver.close()]);
    },
  };
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

function request({ identity, receiverUrl, context }: Stage, amount: string): PaymentLinkRequest {
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

const oneTime = (stage: Stage): PaymentLinkRequest => ({ ...request(stage, "10.00"), invoiceId: "INV-1" });

const subscription = (stage: Stage): PaymentLinkRequest => ({
  ...request(stage, "0"),
  invoiceId: "SUB-1",
  transactionType: VERIFICATION,
  periodic: SUBSCRIPTION_START,
});

async function payOnce(
  stage: Stage,
  title: string,
  link: PaymentLinkRequest,
  outcome: Choice,
): Promise<WebhookEvent> {
  const created = await stage.api.createLink(link);
  return pay(stage, title, created.link.url, outcome);
}

async function payReusable(stage: Stage): Promise<void> {
  const linkOptions = { mode: VARIABLE_MODE, minAmount: "5", maxAmount: "500" };
  const { link } = await stage.api.createLink({ ...request(stage, "0"), invoiceId: "DONATION", linkOptions });
  await pay(stage, "reusable link, first payment", link.url, "approved", "25.00");
  await pay(stage, "reusable link, second payment", link.url, "approved", "7.50");
}

async function pay(
  stage: Stage,
  title: string,
  url: string | undefined,
  outcome: Choice,
  amount?: string,
): Promise<WebhookEvent> {
  const { context, next } = stage;
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
async function forge({ context, next }: Stage, genuine: HttpRequest): Promise<void> {
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
