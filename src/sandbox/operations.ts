/** What changes the ledger: creating and cancelling links, accepting payments, resending webhooks. */
import { stringifyJson, type Json } from "../domain/json.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import { withFault } from "./delivery/delivery-faults.ts";
import type { Delivery } from "./ledger-types.ts";
import { createLink, statusOf, type Link } from "./links.ts";
import { takePayment, type PaymentInput } from "./payments.ts";
import { ServiceProblem } from "./service-problem.ts";
import type { Service } from "./service.ts";

/** Creates a link and resolves when it is durable. */
export async function addLink(service: Service, request: Json, checkoutUrl: string): Promise<Link> {
  const { merchant, ids, ledger, clock } = service.parts;
  const link = createLink(request, merchant, ids.newId, clock.now());
  await ledger.write(() => ledger.addLink(link));
  service.emit({ type: "link", link, url: `${checkoutUrl}?r=${link.id}` });
  return link;
}

/** Throws a 422 problem unless the link is active. */
export async function cancelLink({ parts, emit }: Service, id: string): Promise<void> {
  const link = findLink(parts.ledger, id);
  const now = parts.clock.now();
  const status = statusOf(link, now);
  if (status !== "active")
    throw new ServiceProblem(
      422,
      "Unprocessable Content",
      `only an active link can be cancelled, and this link is ${status}`,
    );
  await parts.ledger.write(() => parts.ledger.saveLink({ ...link, cancelledDate: now }));
  emit({ type: "cancelled", link });
}

/**
 * Takes a payment and queues its webhook in one commit; resolves when both are durable. Nothing is awaited between
 * reading the link and writing it, so the second of two simultaneous payments finds the link paid.
 */
export async function acceptPayment(
  service: Service,
  linkId: string,
  input: PaymentInput,
): Promise<WellFormedRecord> {
  const { parts, deliveries, emit } = service;
  const { ledger, clock, ids, merchant } = parts;
  const link = findLink(ledger, linkId);
  const isUsed = (reference: string): boolean => ledger.hasReference(reference);
  const record = takePayment(link, input, { merchant, ids, isUsed, now: clock.now() });
  const url = callbackFor(link, record);
  await ledger.write(() => {
    if (url !== undefined) queueWebhook(service, link, record, url);
    ledger.saveLink(link);
    ledger.addPayment({ uti: record.uti, linkId, record });
  });
  emit({ type: "payment", link, record });
  if (url !== undefined) deliveries.wake(url);
  return record;
}

function findLink(ledger: Service["parts"]["ledger"], id: string): Link {
  const link = ledger.findLink(id);
  if (link === undefined) throw new ServiceProblem(404, "Not Found", "no payment link has this id");
  return link;
}

/** Events: a webhook goes to the address for its outcome, and only if the link has one. */
function callbackFor(link: Link, record: WellFormedRecord): string | undefined {
  const { callbackUrl, failureCallbackUrl } = link.request.paymentSettings ?? {};
  return record.transApproved ? callbackUrl : failureCallbackUrl;
}

function queueWebhook({ parts }: Service, link: Link, record: WellFormedRecord, url: string): void {
  const { ledger, ids, clock, fault } = parts;
  const delivery: Delivery = {
    id: ids.newId(),
    linkId: link.id,
    uti: record.uti,
    url,
    body: new TextEncoder().encode(stringifyJson(record)),
    state: "waiting",
    attempts: 0,
    tries: 0,
    due: clock.now().getTime(),
  };
  for (const queued of withFault(delivery, fault, () => ledger.counts().payments, ids.newId))
    ledger.addDelivery(queued);
}

/** Starts a delivery's schedule again, with an attempt now. */
export async function resendDelivery({ parts, deliveries }: Service, id: string): Promise<void> {
  const delivery = parts.ledger.findDelivery(id);
  if (delivery === undefined) throw new ServiceProblem(404, "Not Found", "no delivery has this id");
  await parts.ledger.write(() => parts.ledger.resend(delivery.id, parts.clock.now().getTime()));
  deliveries.wake(delivery.url);
}
