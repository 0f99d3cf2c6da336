/** The receiver that `create --wait` runs until the payment has arrived, and which event is that payment. */
import type { Context, Output } from "../../context.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link.ts";
import { belongsTo } from "../../domain/reference.ts";
import { textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { createEventIds } from "../../receiver/event-ids.ts";
import type { EventStore } from "../../receiver/event-store.ts";
import type { Rejection, WebhookEvent } from "../../receiver/events.ts";
import { DEFAULT_MAX_BODY } from "../../receiver/admit.ts";
import { startReceiver } from "../../receiver/receiver.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { renderCompactRecord } from "../../render/transaction-record.ts";
import { renderRejection } from "../../render/received-webhook.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { createFlagReader } from "../flag-reader.ts";
import { readPolicy } from "../policy-flags.ts";
import type { ReceiverPlan } from "./receiver-plan.ts";

export type PaymentEvent = WebhookEvent & { readonly record: TransactionRecord };

/** Where the link's payment is reported: a receiver of this run, or a running `listen`. */
export interface Reception {
  /** Accepted and failed payments both count. */
  readonly callbacks: { readonly callbackUrl: string; readonly failureCallbackUrl: string };
  /** Resolves with the first payment of the link. */
  readonly payment: Promise<PaymentEvent>;
  readonly close: () => Promise<void>;
}

type Observe = (outcome: WebhookEvent | Rejection) => void;

interface OwnReceiverParts {
  readonly settings: ResolvedSettings;
  readonly requireCreated: boolean | undefined;
  readonly plan: ReceiverPlan;
  readonly store: EventStore;
}

/** Throws `key_required` or `port_in_use`. */
export async function receiveHere(
  request: PaymentLinkRequest,
  { settings, requireCreated, plan, store }: OwnReceiverParts,
  context: Context,
): Promise<Reception> {
  const { out, serve, now, readFile, send, signal } = context;
  const sources = settings.get("webhookKey");
  if (sources === undefined)
    throw new PaylinkError(
      "key_required",
      "There is no key to verify the payment's webhook. Nothing was sent.",
      {
        hints: [
          hint`To store the service's public key: ${paylink("config", "set", "webhookKey", "<file or URL>")}`,
        ],
      },
    );
  const keyring = await openKeyring(sources, {
    readFile,
    send,
    signal,
    place: "webhookKey",
    effect: "create",
    warn: out.warn,
    now,
  });
  await store.ready();
  const { payment, observe } = watchForPayment(request, out);
  const server = await startReceiver({
    ...plan,
    paths: [plan.path],
    publicAddress: () => plan.publicAddress,
    serve,
    now,
    newId: createEventIds(context),
    observe,
    keys: keyring.keys,
    renewKeys: keyring.renew,
    policy: readPolicy(createFlagReader(), { requireCreated }, settings).value,
    maxBody: DEFAULT_MAX_BODY,
    recordAt: settings.get("recordAt"),
    strict: false,
    unverified: false,
    log: store,
    faulted: (error) => out.warn(String(error)),
  });
  const callbackUrl = plan.callbackUrl ?? new URL(plan.path, server.url).href;
  return {
    callbacks: { callbackUrl, failureCallbackUrl: callbackUrl },
    payment,
    close: () => server.close(),
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
export function isPaymentOf(
  { invoiceId = "", linkOptions }: PaymentLinkRequest,
  event: WebhookEvent,
): event is PaymentEvent {
  const reference = event.record === null ? undefined : textOf(event.record, "reference");
  if (reference === undefined) return false;
  return linkOptions === undefined ? reference === invoiceId : belongsTo(reference, invoiceId);
}
