/** What the service knows of the links that were sent before: their state now, and links of rows whose outcome is unknown. */
import { comparableText } from "../domain/comparable-text.ts";
import { PaylinkError } from "../domain/errors.ts";
import { LINK_STATUSES, readPaymentLink } from "../domain/payment-link-reply.ts";
import type { PaymentLink } from "../domain/payment-link-values.ts";
import { parseInstant } from "../domain/time.ts";
import { allLinks } from "../service/all-links.ts";
import type { Api } from "../service/client.ts";
import type { LinkState } from "./plan.ts";
import { paymentText } from "./row.ts";

export interface ServiceLinks {
  /** By the id of the link. */
  readonly states: ReadonlyMap<string, LinkState>;
  /** Those with a wanted order number, by that number as it is compared. */
  readonly byOrder: ReadonlyMap<string, readonly OrderLink[]>;
  /** Why the service could not be asked; undefined if it was. */
  readonly failure: PaylinkError | undefined;
}

export interface OrderLink {
  readonly id: string;
  readonly url: string | null;
  /** Its amount and currency, in the spelling of `paymentText`; empty if the service does not say them. */
  readonly payment: string;
}

export interface Wanted {
  readonly terminals: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
  readonly orderNumbers: ReadonlySet<string>;
  /** When the first of them was sent, in ms since 1970. */
  readonly since: number;
}

/** Milliseconds: the clock of the service may be another one, such as that of a sandbox. */
const CLOCK_DIFFERENCE = 7 * 86_400_000;
/** Milliseconds that a service looks back. */
const LONGEST = 365 * 86_400_000 - CLOCK_DIFFERENCE;

export const NO_LINKS: ServiceLinks = { states: new Map(), byOrder: new Map(), failure: undefined };

/** Reads the pages of the list once. Where it cannot be had, the run goes on without it. */
export async function askService(open: () => Promise<Api>, wanted: Wanted, now: Date): Promise<ServiceLinks> {
  const states = new Map<string, LinkState>();
  const byOrder = new Map<string, OrderLink[]>();
  if (wanted.ids.size + wanted.orderNumbers.size === 0) return NO_LINKS;
  const from = new Date(Math.max(wanted.since - CLOCK_DIFFERENCE, now.getTime() - LONGEST));
  const to = new Date(now.getTime() + CLOCK_DIFFERENCE);
  try {
    const api = await open();
    for (const terminalId of wanted.terminals)
      for await (const json of allLinks(api.listLinks, { terminalId, from, to })) {
        const { link } = readPaymentLink(json);
        const { id, invoiceId = "" } = link;
        if (id === undefined) continue;
        const state = wanted.ids.has(id) ? stateOf(link, now) : undefined;
        if (state !== undefined) states.set(id, state);
        const order = comparableText(invoiceId);
        if (!wanted.orderNumbers.has(order)) continue;
        const found = { id, url: link.url ?? null, payment: paymentOf(link) };
        byOrder.set(order, [...(byOrder.get(order) ?? []), found]);
      }
    return { states, byOrder, failure: undefined };
  } catch (error) {
    if (!(error instanceof PaylinkError) || error.exit >= 100) throw error;
    return { states, byOrder, failure: error };
  }
}

const paymentOf = ({ amount, currency = "" }: PaymentLink): string =>
  amount === undefined ? "" : paymentText(amount, currency.toUpperCase());

/** Whether a link that the service has may be that of an attempt. */
export const isPaymentOf = ({ payment }: OrderLink, attempt: string): boolean =>
  payment !== "" && attempt.startsWith(`${payment} `);

/** The dates count as the status does, in whatever words the service has it. */
function stateOf(link: PaymentLink, now: Date): LinkState | undefined {
  const status = LINK_STATUSES.find((one) => one === link.status?.toLowerCase());
  const isReusable = link.linkOptions !== undefined;
  if (status === "paid" || (link.paidDate && !isReusable)) return "paid";
  if (status === "cancelled" || link.cancelledDate) return "cancelled";
  const expires = parseInstant(String(link.expirationDate));
  if (status === "expired" || (expires !== undefined && expires <= now && status !== undefined))
    return "expired";
  return status;
}
