/** `paylink create --wait`: starts a receiver, creates the link, and ends with the outcome of its payment. */
import type { CreatedLink } from "../../api/created-link.ts";
import type { Context, Output } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { DEFAULT_REFERENCE_MODE, type PaymentLinkRequest } from "../../domain/payment-link.ts";
import { belongsTo } from "../../domain/reference.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import type { Server } from "../../http/exchange.ts";
import type { Rejection, WebhookEvent } from "../../receiver/events.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { amountOf, renderCompactRecord, renderRecord } from "../../render/transaction-record.ts";
import { renderRejection } from "../../render/received-webhook.ts";
import { DEFAULT_POLICY } from "../../signatures/policy.ts";
import type { InForce } from "../../store/settings/in-force.ts";
import type { CreateOptions } from "./options.ts";
import { receiverPlan, type ReceiverPlan } from "./receiver-plan.ts";

export interface WaitParts extends Pick<CreateOptions, "settings" | "draft" | "quiet" | "timeout"> {
  readonly request: PaymentLinkRequest;
  readonly send: (request: PaymentLinkRequest) => Promise<CreatedLink>;
}

const MAX_BODY = 1024 * 1024;

type Observe = (outcome: WebhookEvent | Rejection) => void;
type PaymentEvent = WebhookEvent & { readonly record: TransactionRecord };

export async function createAndWait(context: Context, parts: WaitParts): Promise<number> {
  const { out, signal } = context;
  const { settings, quiet, timeout, send } = parts;
  const plan = receiverPlan(parts.request, parts.draft.flags, settings);
  const request = withReference(parts.request, context);
  const { payment, observe } = watchForPayment(request, out);
  const server = await openReceiver(context, settings, plan, observe);
  try {
    await send(withCallbacks(request, plan, server.url));
    out.note("Waiting for the payment. Ctrl-C ends the wait, and the link stays.");
    const event = await paymentInTime(payment, signal, timeout);
    if (event !== undefined) showPayment(event, quiet, out);
    return 0;
  } finally {
    await server.close();
  }
}

/** Without an invoice id nothing in a webhook tells one link's payment from another's. */
function withReference(request: PaymentLinkRequest, { out, newId }: Context): PaymentLinkRequest {
  const mode = request.linkOptions?.paymentReferenceMode ?? DEFAULT_REFERENCE_MODE;
  if (mode !== DEFAULT_REFERENCE_MODE)
    out.warn(
      `With reference mode ${mode} the customer can change the reference by which --wait recognises the payment.`,
    );
  if (request.invoiceId !== undefined && request.invoiceId !== "") return request;
  const invoiceId = `PL-${newId().replaceAll("-", "").slice(0, 12).toUpperCase()}`;
  out.note(`The link had no invoice id. It gets ${invoiceId}, so that its payment can be recognised.`);
  return { ...request, invoiceId };
}

/** Accepted and failed payments both count, so both callbacks lead here. */
function withCallbacks(request: PaymentLinkRequest, plan: ReceiverPlan, bound: string): PaymentLinkRequest {
  const callbackUrl = plan.callbackUrl ?? new URL(plan.path, bound).href;
  return {
    ...request,
    paymentSettings: { failureCallbackUrl: callbackUrl, ...plan.given, callbackUrl },
  };
}

/** Resolves `payment` with the first payment of the link, and prints everything else that arrives. */
function watchForPayment(
  request: PaymentLinkRequest,
  out: Output,
): { readonly payment: Promise<PaymentEvent>; readonly observe: Observe } {
  let resolve = (_payment: PaymentEvent): void => undefined;
  const payment = new Promise<PaymentEvent>((onPayment) => {
    resolve = onPayment;
  });
  return {
    payment,
    observe: (outcome) => {
      if (outcome.type === "rejected") out.note(renderRejection(outcome, out.notePaint));
      else if (isPaymentOf(request, outcome)) resolve(outcome);
      else if (outcome.record !== null)
        out.note(`Another payment: ${renderCompactRecord(outcome.record, out.notePaint)}`);
    },
  };
}

/** The reference is the link's invoice id; payments of a reusable link add a suffix (Events rule 4). */
function isPaymentOf(
  { invoiceId = "", linkOptions }: PaymentLinkRequest,
  event: WebhookEvent,
): event is PaymentEvent {
  const reference = event.record === null ? undefined : textOf(event.record, "reference");
  if (reference === undefined) return false;
  return linkOptions === undefined ? reference === invoiceId : belongsTo(reference, invoiceId);
}

async function openReceiver(
  { out, serve, now, newId, readFile, send }: Context,
  settings: InForce,
  plan: ReceiverPlan,
  observe: Observe,
): Promise<Server> {
  const sources = settings.get("webhookKey");
  if (sources === undefined)
    throw new PaylinkError(
      "key_required",
      "There is no key to verify the payment's webhook. Nothing was sent.",
      {
        hint: "paylink config set webhookKey <file or URL>   keeps the service's public key",
      },
    );
  const keyring = await openKeyring(sources, { readFile, send, warn: out.warn, now });
  return startReceiver({
    ...plan,
    serve,
    now,
    newId,
    observe,
    keys: keyring.keys,
    renewKeys: keyring.renew,
    policy: DEFAULT_POLICY,
    maxBody: MAX_BODY,
    strict: false,
    unverified: false,
    log: createMemoryLog(),
    faulted: (error) => out.warn(String(error)),
  });
}

/** Undefined if the run was interrupted first. Throws `timed_out`. */
async function paymentInTime(
  payment: Promise<PaymentEvent>,
  signal: AbortSignal,
  timeout: number | undefined,
): Promise<PaymentEvent | undefined> {
  let end = (): void => undefined;
  const ended = new Promise<undefined>((resolve) => {
    end = () => resolve(undefined);
  });
  const timer = timeout === undefined ? undefined : setTimeout(end, timeout);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    const event = await Promise.race([payment, ended]);
    if (event !== undefined || signal.aborted) return event;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
  throw new PaylinkError("timed_out", "The time is up, and no payment of this link has arrived.", {
    hint: "The link exists and can still be paid. This run does not see a later payment.",
  });
}

/** Throws `payment_failed` unless the payment was approved. */
function showPayment({ record, breaches, request }: PaymentEvent, quiet: boolean, out: Output): void {
  if (out.json) out.data(new TextDecoder().decode(request.body).trimEnd() || stringifyJson(record));
  else if (quiet) out.note(renderCompactRecord(record, out.notePaint));
  else out.data(renderRecord(record, breaches, out));
  const outcome = outcomeOf(record);
  if (outcome !== "APPROVED")
    throw new PaylinkError("payment_failed", `The payment of ${amountOf(record)} was ${WORDS[outcome]}.`, {
      details: { outcome },
    });
}

const WORDS = {
  DECLINED: "declined",
  CANCELLED: "cancelled",
  UNCLEAR: "neither approved nor clearly refused",
};
