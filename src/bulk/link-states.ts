/** What the service knows of the links that were sent before: what each is for, its state now, and links of unknown outcomes. */
import { comparableText } from "../domain/comparable-text.ts";
import { PaylinkError } from "../domain/errors.ts";
import { LINK_STATUSES, readPaymentLink, type LinkStatus } from "../domain/payment-link-reply.ts";
import type { PaymentLink } from "../domain/payment-link-shapes.ts";
import { linkKind } from "../domain/payment-link-values.ts";
import { parseInstant, UNITS } from "../domain/time.ts";
import { allLinks, CLOCK_DIFFERENCE } from "../service/all-links.ts";
import type { Api } from "../service/client.ts";
import { addTo, type KnownLink } from "./plan.ts";
import { NOT_SAID, paymentText } from "./row.ts";

export interface ServiceLinks {
  /** By the id of the link. */
  readonly links: ReadonlyMap<string, KnownLink>;
  /** Those with a wanted order number, by that number as it is compared. */
  readonly byOrder: ReadonlyMap<string, readonly OrderLink[]>;
  /** Why the service could not be asked; undefined if it was. */
  readonly failure: PaylinkError | undefined;
}

export interface OrderLink {
  readonly id: string;
  readonly url: string | null;
  /** What it was created for; undefined if the service does not say it. */
  readonly payment: string | undefined;
}

export interface Wanted {
  readonly terminals: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
  readonly orderNumbers: ReadonlySet<string>;
  /** When the first and the last of them were sent, in ms since 1970. */
  readonly since: number;
  readonly until: number;
}

/** Milliseconds that a service looks back. */
const LONGEST_LOOK_BACK = 365 * UNITS.d - CLOCK_DIFFERENCE;

export const NO_LINKS: ServiceLinks = { links: new Map(), byOrder: new Map(), failure: undefined };

/** Reads the pages of the list once. Where it cannot be had, the run goes on without it. */
export async function askService(
  open: () => Promise<Pick<Api, "listLinks">>,
  wanted: Wanted,
  now: Date,
): Promise<ServiceLinks> {
  const links = new Map<string, KnownLink>();
  const byOrder = new Map<string, OrderLink[]>();
  if (wanted.ids.size + wanted.orderNumbers.size === 0) return NO_LINKS;
  const { from, to } = periodOf(wanted, now.getTime());
  try {
    const api = await open();
    for (const terminalId of wanted.terminals)
      for await (const json of allLinks(api.listLinks, { terminalId, from, to })) {
        const { link } = readPaymentLink(json);
        const { id, invoiceId = "" } = link;
        if (id === undefined) continue;
        const order = comparableText(invoiceId);
        if (wanted.ids.has(id))
          links.set(id, { status: standingOf(link, now), payment: paymentOf(link), orderNumber: order });
        if (!wanted.orderNumbers.has(order)) continue;
        addTo(byOrder, order, { id, url: link.url ?? null, payment: paymentOf(link) });
      }
    return { links, byOrder, failure: undefined };
  } catch (error) {
    if (!(error instanceof PaylinkError) || error.isInterruption) throw error;
    return { links, byOrder, failure: error };
  }
}

/**
 * The period in which the service is asked. A row whose link is not found is sent again: the clock of this machine, which may be
 * wrong, or may have been, must not be what keeps it from being found.
 */
function periodOf(
  { since, until, orderNumbers }: Wanted,
  now: number,
): { readonly from: Date; readonly to: Date } {
  const margin = orderNumbers.size > 0 ? LONGEST_LOOK_BACK / 2 : CLOCK_DIFFERENCE;
  const earliest = now - LONGEST_LOOK_BACK;
  const from = since > now ? earliest : Math.max(since - margin, earliest);
  const longest = orderNumbers.size > 0 ? from + LONGEST_LOOK_BACK : 0;
  return { from: new Date(from), to: new Date(Math.max(now, until, longest) + CLOCK_DIFFERENCE) };
}

/** In the form of a row's `payment`. Of the kind, a link says only that it is reusable; of the transaction type, nothing. */
function paymentOf({ amount, currency, linkOptions }: PaymentLink): string | undefined {
  if (amount === undefined || currency === undefined) return undefined;
  const kind = linkOptions === undefined ? NOT_SAID : linkKind({ linkOptions });
  return [paymentText(amount, currency.toUpperCase()), kind, NOT_SAID].join(" ");
}

/** The dates count as the status does, in whatever words the service has it. */
function standingOf(link: PaymentLink, now: Date): LinkStatus | undefined {
  const status = LINK_STATUSES.find((one) => one === link.status?.toLowerCase());
  const isReusable = link.linkOptions !== undefined;
  if (status === "paid" || (link.paidDate && !isReusable)) return "paid";
  if (status === "cancelled" || link.cancelledDate) return "cancelled";
  const expires = parseInstant(String(link.expirationDate));
  if (status === "expired" || (expires !== undefined && expires <= now && status !== undefined))
    return "expired";
  return status;
}
