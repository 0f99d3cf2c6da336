/** The operations of the sandbox on its ledger: creating and changing links, accepting payments, resending webhooks. */
import { addDuration } from "../domain/time.ts";
import { type Json, stringifyJson } from "../domain/json.ts";
import { checkLinksQuery, checkUpdate, type LinkStatus, LISTED_AGE } from "../domain/payment-link-reply.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import { detailsOfPayment } from "./customer-details.ts";
import { withFault } from "./delivery/delivery-faults.ts";
import type { Delivery, Ledger } from "./ledger-types.ts";
import { createLink, type Link, OPEN_STATUSES, requireOwnTerminal, statusOf, validated } from "./links.ts";
import { type PaymentInput, takePayment } from "./payments.ts";
import { ServiceProblem, unknownLink } from "./service-problem.ts";
import type { Service } from "./service.ts";

/** Creates a link and resolves when it is durable. */
export async function addLink(service: Service, request: Json, checkoutUrl: string): Promise<Link> {
  const { merchant, ids, ledger, clock, duplicateInvoices } = service.parts;
  const link = createLink(request, merchant, ids.newLinkId, clock.now());
  if (duplicateInvoices === "refuse") requireNewInvoice(ledger, link);
  await ledger.write(() => ledger.addLink(link));
  service.emit({ type: "link", link, url: `${checkoutUrl}?r=${link.id}` });
  return link;
}

/** Throws a 422 problem for an `invoiceId` that a link of the terminal has. */
function requireNewInvoice(ledger: Ledger, { request: { invoiceId, terminalId } }: Link): void {
  if (invoiceId === undefined || !ledger.hasInvoice(terminalId, invoiceId)) return;
  throw new ServiceProblem(
    422,
    "Unprocessable Content",
    `another link at this terminal has the invoiceId ${JSON.stringify(invoiceId)}`,
    [{ at: "invoiceId", message: "is the invoiceId of another link at this terminal" }],
  );
}

/** Throws a 404 problem for an unknown id, a 403 problem for a link on a terminal of another merchant. */
export function ownLink({ parts }: Service, id: string): Link {
  const link = findLink(parts.ledger, id);
  requireOwnTerminal(parts.merchant, link.request.terminalId);
  return link;
}

/** The newest links first. Throws a 400 problem for an invalid query, a 403 problem for a foreign terminal. */
export function listLinks({ parts }: Service, query: Readonly<Record<string, string>>): LinksPage {
  const { ledger, merchant, clock } = parts;
  const now = clock.now();
  const { terminalId, from, to, page, size, status } = validated(checkLinksQuery(query));
  requireOwnTerminal(merchant, terminalId);
  const oldest = new Date(Math.max(from.getTime(), addDuration(now, LISTED_AGE, -1).getTime()));
  const records: Link[] = [];
  let totalCount = 0;
  for (const link of ledger.linksCreated(oldest, to)) {
    if (link.request.terminalId !== terminalId) continue;
    if (status !== undefined && statusOf(link, now) !== status) continue;
    if (totalCount >= (page - 1) * size && records.length < size) records.push(link);
    totalCount++;
  }
  return { totalCount, records };
}

interface LinksPage {
  /** The links on all pages. */
  readonly totalCount: number;
  readonly records: readonly Link[];
}

/** Throws a 400 problem for invalid changes, a 422 problem once the customer has tried to pay. */
export async function updateLink(service: Service, id: string, body: Json): Promise<Link> {
  const { ledger, clock } = service.parts;
  const link = ownLink(service, id);
  const changes = validated(checkUpdate(body, clock.now()));
  requireStatus(link, ["active", "viewed"], "updated", clock.now());
  const { expirationDate = link.expirationDate } = changes;
  const updated = { ...link, request: { ...link.request, ...changes }, expirationDate };
  await ledger.write(() => ledger.saveLink(updated));
  service.emit({ type: "updated", link: updated });
  return updated;
}

/** Throws a 422 problem unless the link can still be paid. */
export async function cancelLink(service: Service, id: string): Promise<Link> {
  const { ledger, clock } = service.parts;
  const link = ownLink(service, id);
  const now = clock.now();
  requireStatus(link, OPEN_STATUSES, "cancelled", now);
  const cancelled = { ...link, cancelledDate: now };
  await ledger.write(() => ledger.saveLink(cancelled));
  service.emit({ type: "cancelled", link: cancelled });
  return cancelled;
}

const ONE_OF = new Intl.ListFormat("en-GB", { type: "disjunction" });

function requireStatus(link: Link, statuses: readonly LinkStatus[], changed: string, now: Date): void {
  const status = statusOf(link, now);
  if (statuses.includes(status)) return;
  const detail = `only a link that is ${ONE_OF.format(statuses)} can be ${changed}, and this link is ${status}`;
  throw new ServiceProblem(422, "Unprocessable Content", detail);
}

/**
 * Accepts a payment and queues its webhook in one commit; resolves when both are durable. Nothing is awaited between
 * reading the link and writing it, so the second of two simultaneous payments finds the link paid.
 */
export async function acceptPayment(
  service: Service,
  linkId: string,
  input: PaymentInput,
  form: string | null = null,
): Promise<WellFormedRecord> {
  const { parts, deliveries, emit } = service;
  const { ledger, clock, ids, merchant } = parts;
  const link = findLink(ledger, linkId);
  const isUsed = (reference: string): boolean => ledger.hasReference(reference);
  const record = takePayment(link, input, { merchant, ids, isUsed, now: clock.now() });
  const url = callbackFor(link, record);
  const customer = record.transCancelled ? {} : detailsOfPayment(link, input.customer);
  await ledger.write(() => {
    if (url !== undefined) queueWebhook(service, link, record, url);
    ledger.saveLink(link);
    ledger.addPayment({ uti: record.uti, linkId, record, customer, form });
  });
  emit({ type: "payment", link, record });
  if (url !== undefined) deliveries.wake(url);
  return record;
}

/**
 * Pays once for each rendered form: a second submission gets the payment of the first. Resolves when it is durable.
 * Nothing is awaited between the look-up and the payment.
 */
export async function submitForm(
  service: Service,
  linkId: string,
  input: PaymentInput,
  form: string | null,
): Promise<TransactionRecord> {
  const { ledger } = service.parts;
  const earlier = form === null ? undefined : ledger.findPaymentByForm(linkId, form);
  if (earlier === undefined) return acceptPayment(service, linkId, input, form);
  // The commit of the first submission may still be in progress; an empty unit joins it.
  await ledger.write(() => undefined);
  return earlier.record;
}

function findLink(ledger: Ledger, id: string): Link {
  const link = ledger.findLink(id);
  if (link === undefined) throw unknownLink();
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

/** Starts the schedule of every failed delivery again, with an attempt now. */
export async function resendFailed({ parts, deliveries }: Service): Promise<void> {
  const { ledger, clock } = parts;
  await ledger.write(() => ledger.resendFailed(clock.now().getTime()));
  for (const origin of ledger.waitingOrigins()) deliveries.wake(origin);
}
