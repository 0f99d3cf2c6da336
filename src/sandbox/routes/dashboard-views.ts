/** What the dashboard's pages show for a request, read from the service. */
import type { Context } from "hono";
import { stringifyJson } from "../../domain/json.ts";
import type { Problem } from "../../domain/errors.ts";
import type { Attempt, Delivery, Ledger, Link, ListPage, ListQuery, Payment } from "../ledger.ts";
import { linkResponse } from "../links.ts";
import type { Chain } from "../pages/dashboard-chain.ts";
import { notFoundPage } from "../pages/dashboard-frame.ts";
import { linkPage } from "../pages/dashboard-link.ts";
import type { Filters, ListParts } from "../pages/dashboard-lists.ts";
import type { View } from "../pages/dashboard-parts.ts";
import type { ListedDelivery, ListedPayment } from "../pages/dashboard-tables.ts";
import { pageHeaders, type Page } from "../pages/page-frame.ts";
import type { Service } from "../service.ts";
import { checkoutUrl } from "../replies.ts";

export async function htmlReply(content: Page, status = 200): Promise<Response> {
  const headers = { ...pageHeaders(), "Content-Type": "text/html; charset=utf-8" };
  return new Response(String(await content), { status, headers });
}

/** `here` is the page's address, if it is not that of the request. */
export function viewOf(c: Context, { parts, tokens }: Service, key: string | undefined, here?: string): View {
  const { merchant, clock, keys, ledger } = parts;
  return {
    merchantName: merchant.merchantName,
    now: clock.now(),
    clock: clock.running ? (clock.own ? "moved" : "running") : "stopped",
    keyid: keys.current().keyid ?? "",
    counts: ledger.counts(),
    key: key !== undefined && tokens.isDashboardKey(key) ? key : undefined,
    here: here ?? pathAndQuery(c.req.url),
    done: c.req.query("done"),
  };
}

/** Query parameters of a single request, which are not part of the address of a page. */
const PASSING = ["key", "done", "ids"];

export function pathAndQuery(address: string): string {
  const { pathname, searchParams } = new URL(address);
  for (const name of PASSING) searchParams.delete(name);
  return searchParams.size === 0 ? pathname : `${pathname}?${searchParams.toString()}`;
}

/** The path and query of a page of this sandbox; the first page for any other address. */
export function localPath(given: string | null | undefined): string {
  const path = given?.startsWith("/") ? pathAndQuery(`http://sandbox${given}`) : "//";
  // Browsers read an address that starts with two slashes as one of another host.
  return path.startsWith("//") ? "/deliveries" : path;
}

/** Rows on a page of a list; the script asks for no more at once. */
const ROWS = 50;

/** The page of a list that the query names, and the rows of `ids` if it has them. */
export function listParts<Stored, Row>(
  c: Context,
  { parts }: Service,
  { read, show, id }: ListSource<Stored, Row>,
): ListParts<Row> {
  const { text = "", state = "", older, newer, ids } = c.req.query();
  const filters: Filters = { text, state };
  const query = { limit: ROWS, now: parts.clock.now() };
  const list = shownPage(read({ ...query, ...filters, older, newer }), show);
  if (ids === undefined) return { ...filters, list };
  const given = { ...query, ids: ids.split(",").slice(0, ROWS) };
  const rows = read(given).rows.map(show);
  const listed = new Set(read({ ...given, ...filters }).rows.map(id));
  return { ...filters, list, chosen: { rows, listed } };
}

/** How a list is read, and what its table shows for each row. */
export interface ListSource<Stored, Row> {
  readonly read: (query: ListQuery) => ListPage<Stored>;
  readonly show: (stored: Stored) => Row;
  readonly id: (stored: Stored) => string;
}

export const shownPage = <Stored, Row>(
  page: ListPage<Stored>,
  show: (stored: Stored) => Row,
): ListPage<Row> => ({ ...page, rows: page.rows.map(show) });

export const linkSource = (ledger: Ledger): ListSource<Link, Link> => ({
  read: (query) => ledger.links(query),
  show: (link) => link,
  id: (link) => link.id,
});

export const paymentSource = (ledger: Ledger, now: Date): ListSource<Payment, ListedPayment> => ({
  read: (query) => ledger.payments(query),
  show: (payment) => ({
    payment,
    delivery: ledger.deliveries({ uti: payment.uti, limit: 1, now }).rows[0],
  }),
  id: ({ uti }) => uti,
});

export const deliverySource = (ledger: Ledger): ListSource<Delivery, ListedDelivery> => ({
  read: (query) => ledger.deliveries(query),
  show: (delivery) => ({ delivery, attempt: ledger.findAttempt(delivery.id, delivery.attempts) }),
  id: ({ id }) => id,
});

/** Attempts that a page lists. */
const ATTEMPTS = 20;

/** Shows the newest payment and delivery unless others are given. */
export function chainOf(
  { parts }: Service,
  link: Link,
  given: { readonly payment?: Payment | undefined; readonly delivery?: Delivery } = {},
): Chain {
  const { ledger, clock } = parts;
  const newest = { limit: 1, now: clock.now() };
  const payment = given.payment ?? ledger.payments({ linkId: link.id, ...newest }).rows[0];
  const delivery = given.delivery ?? (payment && ledger.deliveries({ uti: payment.uti, ...newest }).rows[0]);
  return { link, payment, delivery, attempts: newestAttempts(ledger, delivery) };
}

export const newestAttempts = (ledger: Ledger, delivery: Delivery | undefined): Attempt[] =>
  delivery === undefined ? [] : ledger.attemptsOf(delivery.id, ATTEMPTS);

/** Payments on the page of their link. */
const LINK_PAYMENTS = 10;

interface RefusedPayment {
  readonly amount: string;
  readonly problems: readonly Problem[];
}

/** The page of a link; `refused` is a payment that was tried there. */
export function linkDetail(
  c: Context,
  service: Service,
  { id, view, refused }: { readonly id: string; readonly view: View; readonly refused?: RefusedPayment },
): Promise<Response> {
  const { ledger } = service.parts;
  const link = ledger.findLink(id);
  if (link === undefined) return htmlReply(notFoundPage(view, "link"), 404);
  const { show } = paymentSource(ledger, view.now);
  const reply = linkResponse(link, checkoutUrl(c), view.now);
  const content = linkPage(view, {
    chain: chainOf(service, link),
    url: reply.url,
    json: stringifyJson(reply, 2),
    payments: shownPage(ledger.payments({ linkId: id, limit: LINK_PAYMENTS, now: view.now }), show),
    ...(refused === undefined ? {} : { refused }),
  });
  return htmlReply(content, refused === undefined ? 200 : 422);
}
