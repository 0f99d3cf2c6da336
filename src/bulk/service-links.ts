/** Reads from the service, page by page, which links there are of the rows of a list: those that are known, and those of its order numbers. */
import { comparableText } from "../values/comparable-text.ts";
import { PaylinkError } from "../domain/errors.ts";
import { isJsonObject, type Json, memberOf } from "../values/json.ts";
import { ACTIVE, OPEN_STATUSES, readPaymentLink, type LinkStatus } from "../domain/payment-link-reply.ts";
import type { PaymentLink } from "../domain/payment-link-shapes.ts";
import { linkKind } from "../domain/payment-link-values.ts";
import { parseInstant, UNITS } from "../values/time.ts";
import { linkEnd } from "../orders/link-end.ts";
import { allLinks, CLOCK_DIFFERENCE, ownText } from "../service/all-links.ts";
import type { Api } from "../service/client.ts";
import { linkId } from "../service/links.ts";
import type { Attempt } from "../store/sent-rows.ts";
import { NOT_SAID, paymentText } from "./row.ts";

export interface LinksReading {
  /** How many links were read, and since when they were created; undefined if none was asked for. */
  readonly links: number;
  readonly since: Date | undefined;
  /** Links that were known, by their id. */
  readonly byId: ReadonlyMap<string, Attempt>;
  /** Links of the order numbers of the list, with the key of their rows. */
  readonly ofOrders: readonly Attempt[];
  /** Why the service could not be asked; undefined if it was. */
  readonly failure: PaylinkError | undefined;
}

export interface Wanted {
  readonly terminals: ReadonlySet<string>;
  readonly ids: ReadonlySet<string>;
  /** The key of the rows with an order number, as it is compared; undefined if the list has none. */
  readonly keyOf: (terminal: string, orderNumber: string) => string | undefined;
  /** When the first of them were created at the earliest, and the last of them in milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
}

/** Milliseconds that a service looks back. */
const LONGEST_LOOK_BACK = 365 * UNITS.d - CLOCK_DIFFERENCE;

export const NOTHING_READ: LinksReading = {
  links: 0,
  since: undefined,
  byId: new Map(),
  ofOrders: [],
  failure: undefined,
};

/**
 * From when on links are asked for: for the time of `lookBack`, and since the oldest known attempt. A link that is not found is made
 * again: the clock of this machine, which may be wrong, or may have been, must not be what keeps it from being found.
 */
export function firstAsked({
  known,
  lookBack,
  now,
}: {
  readonly known: readonly Attempt[];
  readonly lookBack: number;
  readonly now: Date;
}): number {
  const earliest = now.getTime() - LONGEST_LOOK_BACK;
  const oldest = known.reduce((first, { sentAt, state }) => {
    const margin = state === "unknown" ? LONGEST_LOOK_BACK / 2 : CLOCK_DIFFERENCE;
    return Math.min(first, sentAt > now.getTime() ? 0 : sentAt - margin);
  }, now.getTime() - lookBack);
  return Math.max(oldest, earliest);
}

/** Reads the pages of the list once. */
export async function askService(
  open: () => Promise<Pick<Api, "listLinks">>,
  { terminals, ids, keyOf, since, until }: Wanted,
  now: Date,
): Promise<LinksReading> {
  const byId = new Map<string, Attempt>();
  const ofOrders: Attempt[] = [];
  const from = new Date(since);
  // As far ahead as the service allows: this clock may be behind.
  const to = new Date(Math.max(now.getTime(), until, since + LONGEST_LOOK_BACK) + CLOCK_DIFFERENCE);
  let links = 0;
  const read = (failure: PaylinkError | undefined): LinksReading => ({
    links,
    since: from,
    byId,
    ofOrders,
    failure,
  });
  try {
    const api = await open();
    for (const terminalId of terminals)
      for await (const json of allLinks(api.listLinks, { terminalId, from, to })) {
        links++;
        const [orderNumber, named] = [comparableText(linkTextAt(json, "invoiceId")), linkTextAt(json, "id")];
        const terminal = linkTextAt(json, "terminalId") || terminalId;
        const key = orderNumber === "" ? undefined : keyOf(terminal, orderNumber);
        // Most links of a service are of other lists.
        if (key === undefined && named !== "" && !ids.has(named)) continue;
        const attempt = attemptOf(readPaymentLink(json).link, key ?? "", now);
        if (attempt.id === null) continue;
        if (ids.has(attempt.id)) byId.set(attempt.id, attempt);
        if (key !== undefined) ofOrders.push(attempt);
      }
    return read(undefined);
  } catch (error) {
    if (!(error instanceof PaylinkError) || error.isInterruption) throw error;
    return read(error);
  }
}

function linkTextAt(json: Json, name: string): string {
  const value = isJsonObject(json) ? memberOf(json, name) : undefined;
  return typeof value === "string" ? value : "";
}

/** A link as the attempt that has made it. Parts of its page would keep all of it in memory. */
function attemptOf(link: PaymentLink, key: string, now: Date): Attempt {
  const id = linkId(link);
  return {
    source: "service",
    key,
    occurrence: 0,
    attempt: 0,
    state: "created",
    id: id === undefined ? null : ownText(id),
    url: link.url === undefined ? null : ownText(link.url),
    error: null,
    sentAt: parseInstant(String(link.createdDate))?.getTime() ?? 0,
    payment: paymentOf(link),
    content: undefined,
    orderNumber: ownText(comparableText(link.invoiceId ?? "")),
    status: linkEnd(link, now) ?? openStatus(link),
  };
}

/** A service may use words of its own for a link that can be paid. */
const openStatus = ({ status = "" }: PaymentLink): LinkStatus =>
  OPEN_STATUSES.find((one) => one === status.toLowerCase()) ?? ACTIVE;

/** In the form of a row's `payment`. Of the kind, a link says only that it is reusable; of the transaction type, nothing. */
function paymentOf({ amount, currency, linkOptions }: PaymentLink): string | undefined {
  if (amount === undefined || currency === undefined) return undefined;
  const kind = linkOptions === undefined ? NOT_SAID : linkKind({ linkOptions });
  return [paymentText(amount, currency.toUpperCase()), kind, NOT_SAID].join(" ");
}
