/** `paylink create --wait`: receives webhooks or follows a running `listen`, creates the link, and waits for its payment. */
import type { CreatedLink } from "../../service/links.ts";
import type { Context, Output } from "../../context.ts";
import { hint, PaylinkError } from "../../domain/errors.ts";
import { DEFAULT_REFERENCE_MODE, type PaymentLinkRequest } from "../../domain/payment-link.ts";
import { judgeOutcome } from "../../domain/transaction.ts";
import { recordLine } from "../../receiver/events.ts";
import { renderWebhook } from "../../render/received-webhook.ts";
import { amountOf, renderCompactRecord } from "../../render/transaction-record.ts";
import { closingLater } from "../resources.ts";
import { transactionCommand } from "../transaction-command.ts";
import { openReception, type PaymentEvent, type ReceptionParts } from "./reception.ts";

interface WaitParts extends ReceptionParts {
  readonly request: PaymentLinkRequest;
  readonly send: (request: PaymentLinkRequest) => Promise<CreatedLink>;
  readonly quiet: boolean;
  readonly timeout: number | undefined;
}

export const createAndWait = (context: Context, parts: WaitParts): Promise<number> =>
  closingLater(async (later) => {
    const { out, signal } = context;
    const store = await context.events();
    later(() => store.close());
    const receive = await openReception(parts, store, context);
    const request = withReference(parts.request, context);
    const { callbacks, payment } = await receive(request, later);
    await parts.send({ ...request, paymentSettings: { ...request.paymentSettings, ...callbacks } });
    out.note("Waiting for the payment. Ctrl-C ends the wait; the link stays valid.");
    const event = await paymentInTime(payment, signal, parts.timeout);
    if (event !== undefined) showPayment(event, parts, out, await transactionCommand(context));
    return 0;
  });

/** Without an order number, a webhook does not show which link was paid. */
function withReference(request: PaymentLinkRequest, { out, newId }: Context): PaymentLinkRequest {
  const mode = request.linkOptions?.paymentReferenceMode ?? DEFAULT_REFERENCE_MODE;
  if (mode !== DEFAULT_REFERENCE_MODE)
    out.warn(
      `With reference mode ${mode} the customer can change the reference by which --wait recognises the payment.`,
    );
  if (request.invoiceId !== undefined && request.invoiceId !== "") return request;
  const invoiceId = `PL-${newId().replaceAll("-", "").slice(0, 12).toUpperCase()}`;
  out.note(`The link had no order number. It gets ${invoiceId}, so its payment can be recognised.`);
  return { ...request, invoiceId };
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
  throw new PaylinkError("timed_out", "Timed out: no payment of this link arrived.", {
    hints: [hint`The link exists and can still be paid. This run does not see a later payment.`],
  });
}

/** Throws `payment_failed` unless the payment was approved. */
function showPayment(
  event: PaymentEvent,
  { quiet }: Pick<WaitParts, "quiet">,
  out: Output,
  command: string | undefined,
): void {
  const { record } = event;
  if (out.json) out.data(recordLine(event));
  else if (quiet) out.note(renderCompactRecord(record, out.notePaint));
  else out.data(renderWebhook(event, { paint: out.paint, width: out.width, transactionCommand: command }));
  const { outcome, reason } = judgeOutcome(record);
  if (outcome !== "APPROVED")
    throw new PaylinkError(
      "payment_failed",
      `The payment of ${amountOf(record)} was ${WORDS[outcome]}${reason === undefined ? "" : `: ${reason}`}.`,
      {
        details: { outcome, reason },
      },
    );
}

const WORDS = {
  PARTIALLY_APPROVED: "approved for a part of the amount only",
  DECLINED: "declined",
  CANCELLED: "cancelled",
  UNCLEAR: "neither approved nor clearly refused",
};
