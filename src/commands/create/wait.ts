/** `paylink create --wait`: a receiver first, then the link, then the payment's outcome as the exit code. */
import type { CreatedLink } from "../../api/client.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { DEFAULT_REFERENCE_MODE, type PaymentLinkRequest } from "../../domain/payment-link.ts";
import { belongsTo } from "../../domain/reference.ts";
import { outcomeOf, textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { createMemoryLog } from "../../receiver/memory-log.ts";
import type { Rejection, WebhookEvent } from "../../receiver/events.ts";
import { startReceiver } from "../../receiver/start.ts";
import { openKeyring } from "../../receiver/webhook-keys.ts";
import { amountOf, renderCompactRecord, renderRecord } from "../../render/transaction-record.ts";
import { renderRejection } from "../../render/received-webhook.ts";
import { DEFAULT_POLICY } from "../../signatures/policy.ts";
import type { InForce } from "../../store/in-force.ts";
import { receiverPlan, type ReceiverPlan } from "./receiver-plan.ts";

export interface WaitParts {
  readonly context: Context;
  readonly settings: InForce;
  readonly request: PaymentLinkRequest;
  /** Whether the request's callbacks are the user's own choice of this run. */
  readonly chosen: boolean;
  readonly quiet: boolean;
  /** Milliseconds; undefined waits for as long as it takes. */
  readonly timeout: number | undefined;
  readonly send: (request: PaymentLinkRequest) => Promise<CreatedLink>;
}

const MAX_BODY = 1024 * 1024;

type PaymentEvent = WebhookEvent & { readonly record: TransactionRecord };

export async function createAndWait(parts: WaitParts): Promise<void> {
  const { context, settings, request, chosen, send } = parts;
  const plan = receiverPlan(request, settings, chosen);
  const arrivals = createArrivals();
  const server = await receive(parts, plan, (outcome) => arrivals.put(outcome));
  try {
    const link = withReference(withCallbacks(request, plan, server.url), context);
    await send(link);
    context.out.note("Waiting for the payment; Ctrl-C stops waiting, and the link stays.");
    const event = await awaited(parts, link, arrivals);
    if (event !== undefined) conclude(event, parts);
  } finally {
    await server.close();
  }
}

async function receive(
  { context, settings }: WaitParts,
  plan: ReceiverPlan,
  observe: (outcome: WebhookEvent | Rejection) => void,
) {
  const { out, serve, now, newId, readFile, send } = context;
  const source = settings.get("webhookKey");
  if (source === undefined)
    throw new PaylinkError("key_required", "There is no key to verify the payment's webhook with.", {
      hint: "paylink config set webhookKey <file or URL>   keeps the service's public key",
    });
  const warn = (warning: string): void => out.note(`${out.notePaint.yellow("!")} ${warning}`);
  const keyring = await openKeyring([source], { readFile, send, warn, now });
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
    faulted: (error) => warn(String(error)),
  });
}

/** Both outcomes are awaited, so both callbacks lead here. */
function withCallbacks(request: PaymentLinkRequest, plan: ReceiverPlan, bound: string): PaymentLinkRequest {
  const callbackUrl = plan.callbackUrl ?? new URL(plan.path, bound).href;
  return {
    ...request,
    paymentSettings: { failureCallbackUrl: callbackUrl, ...plan.given, callbackUrl },
  };
}

/** Without an order number nothing in a webhook tells one link's payment from another's. */
function withReference(request: PaymentLinkRequest, { out, newId }: Context): PaymentLinkRequest {
  const mode = request.linkOptions?.paymentReferenceMode ?? DEFAULT_REFERENCE_MODE;
  if (mode !== DEFAULT_REFERENCE_MODE)
    out.note(
      `${out.notePaint.yellow("!")} With reference mode ${mode} the customer may change the reference that the payment is known by.`,
    );
  if (request.invoiceId !== undefined && request.invoiceId !== "") return request;
  const invoiceId = `PL-${newId().replaceAll("-", "").slice(0, 12).toUpperCase()}`;
  out.note(`The link has no invoice id; ${invoiceId} is given to it, to know its payment by.`);
  return { ...request, invoiceId };
}

/** The first payment of the link; undefined when the run was interrupted. Everything else that comes is told of. */
async function awaited(
  { context, timeout }: WaitParts,
  request: PaymentLinkRequest,
  arrivals: Arrivals,
): Promise<PaymentEvent | undefined> {
  const { out, signal } = context;
  const deadline = new AbortController();
  const timer = timeout === undefined ? undefined : setTimeout(() => deadline.abort(), timeout);
  try {
    for (;;) {
      const outcome = await arrivals.take(AbortSignal.any([signal, deadline.signal]));
      if (outcome === undefined) break;
      if (outcome.type === "rejected") out.note(renderRejection(outcome, out.notePaint));
      else if (isPaymentOf(request, outcome)) return outcome;
      else if (outcome.record !== null)
        out.note(`Another payment: ${renderCompactRecord(outcome.record, out.notePaint)}`);
    }
  } finally {
    clearTimeout(timer);
  }
  if (signal.aborted) return undefined;
  throw new PaylinkError("timed_out", "No payment of this link came in time.", {
    hint: "The link exists and can still be paid; a later payment is not seen by this run.",
  });
}

/** A one-time link's payment has its invoiceId as reference; a reusable link's has a suffix besides (Events rule 4). */
function isPaymentOf(
  { invoiceId = "", linkOptions }: PaymentLinkRequest,
  event: WebhookEvent,
): event is PaymentEvent {
  const reference = event.record === null ? undefined : textOf(event.record, "reference");
  if (reference === undefined) return false;
  return linkOptions === undefined ? reference === invoiceId : belongsTo(reference, invoiceId);
}

function conclude({ record, breaches, request }: PaymentEvent, { context, quiet }: WaitParts): void {
  const { out } = context;
  if (out.json) out.data(new TextDecoder().decode(request.body).trimEnd() || stringifyJson(record));
  else if (quiet) out.note(renderCompactRecord(record, out.notePaint));
  else out.data(renderRecord(record, breaches, out));
  const outcome = outcomeOf(record);
  if (outcome === "APPROVED") return;
  throw new PaylinkError(
    "payment_failed",
    `The payment of ${amountOf(record)} came and was ${WORDS[outcome]}.`,
    {
      details: { outcome },
    },
  );
}

const WORDS = {
  DECLINED: "declined",
  CANCELLED: "cancelled",
  UNCLEAR: "neither approved nor refused clearly",
};

interface Arrivals {
  readonly put: (outcome: WebhookEvent | Rejection) => void;
  /** The next one, in order; undefined once the signal has fired. */
  readonly take: (signal: AbortSignal) => Promise<WebhookEvent | Rejection | undefined>;
}

function createArrivals(): Arrivals {
  const waiting: (WebhookEvent | Rejection)[] = [];
  let wake = (): void => undefined;
  return {
    put: (outcome) => {
      waiting.push(outcome);
      wake();
    },
    take: async (signal) => {
      if (waiting.length === 0 && !signal.aborted)
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal.addEventListener("abort", () => resolve(), { once: true });
        });
      return waiting.shift();
    },
  };
}
