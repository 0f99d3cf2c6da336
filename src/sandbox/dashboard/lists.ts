/** The lists of deliveries, payments, links and requests: what their rows show, and what they add up to. */
import { plural, formatCount } from "../../values/plural.ts";
import { html } from "hono/html";
import { SAMPLE_OUTCOMES } from "../../domain/outcome.ts";
import { capitalized } from "../../values/sentence.ts";
import { fieldTitle } from "../../domain/payment-link-field-lookup.ts";
import { LINK_STATUSES } from "../../domain/payment-link-reply.ts";
import { textOf, type TransactionRecord } from "../../domain/transaction.ts";
import { badge, clipped, exactTime, shownAmount, spaced, timeAgo } from "../../pages/components.ts";
import type { Listing } from "../../pages/lists.ts";
import { isSuccess } from "../../http/message.ts";
import type { Page } from "../../pages/page.ts";
import { approvedSums, sumsOf } from "../../pages/totals.ts";
import { type ChartPlace, trendPart, type Series } from "../../pages/trend.ts";
import { linkStatusAt } from "../links.ts";
import { isFailed, type ApiRequest } from "../requests.ts";
import { ROWS_COUNTED, queryOfBars, type LedgerPage, type LedgerQuery } from "../store/ledger-lists.ts";
import {
  recordOf,
  type DeliveryAttempt,
  type Delivery,
  type DeliveryState,
  type Link,
  type PaymentRow,
} from "../store/ledger-rows.ts";
import {
  deliveryPath,
  linkPath,
  linkTitle,
  recordOutcome,
  pageLink,
  paidAt,
  paymentPath,
  priceOf,
  recordReference,
  apiRequestPath,
  shortUrl,
  attemptText,
  type DashboardView,
} from "./components.ts";
import { faultControl } from "./faults.ts";
import { failedAlert, type TabName } from "./frame.ts";

/** What differs between the lists. */
export interface DashboardList<Row> extends Listing<Row, DashboardView> {
  /** The rows in plural, as the tab and the address name them. */
  readonly tab: TabName;
  readonly one: string;
  readonly states: readonly string[];
  readonly nothingYet: Page | string;
  /** A button beside the title. */
  readonly action?: (view: DashboardView) => Page | "";
  /** What to notice above the rows. */
  readonly alert?: (view: DashboardView) => Page | "";
  readonly read: (view: DashboardView, query: LedgerQuery) => LedgerPage<Row>;
  /** How many rows there are and what they sum up to, on all pages. */
  readonly totals: (view: DashboardView, query: LedgerQuery) => Promise<string>;
  /** Whether rows are filtered by the outcome of a payment, besides their state. */
  readonly hasOutcome?: boolean;
  /** How they spread over time. */
  readonly trend?: (view: DashboardView, place: ChartPlace) => Promise<Page>;
}

/** "6 deliveries." */
const countWords = (count: number, one: string, many: string): string =>
  count > ROWS_COUNTED ? `More than ${plural(ROWS_COUNTED, one, many)}.` : `${plural(count, one, many)}.`;

/** Under a chart that does not show all rows of its time. */
const onlyNewest = (count: number): string =>
  count > ROWS_COUNTED ? `Only the newest ${formatCount(ROWS_COUNTED)} are counted.` : "";

/** A delivery with the record that it carries and its newest attempt. */
interface ListedDelivery extends Delivery {
  readonly record: TransactionRecord;
  readonly attempt: DeliveryAttempt | undefined;
}

export const DELIVERY_LIST: DashboardList<ListedDelivery> = {
  tab: "deliveries",
  one: "delivery",
  states: ["failed", "pending", "delivered"],
  nothingYet: "A webhook appears here when a link with a callback URL is paid.",
  alert: failedAlert,
  read: ({ ledger }, query) => {
    const page = ledger.deliveries(query);
    const rows = page.rows.map((delivery) => ({
      ...delivery,
      record: recordOf(delivery),
      attempt: ledger.lastAttempt(delivery.id),
    }));
    return { ...page, rows };
  },
  totals: async ({ counts }, query) => countWords(await counts.deliveries(query), "delivery", "deliveries"),
  hasOutcome: true,
  trend: ({ counts, now }, place) =>
    trendPart(now, place, async (bars) => {
      const counted = await counts.deliveryBars(bars);
      const series = (state: DeliveryState, kind: Series["kind"]): Series => ({
        kind,
        title: state,
        counts: counted.get(state) ?? [],
      });
      return {
        series: [series("delivered", "good"), series("pending", "warn"), series("failed", "bad")],
        words: onlyNewest(await counts.deliveries(queryOfBars(bars))),
      };
    }),
  caption: "Deliveries of webhooks, newest first",
  id: ({ id }) => id,
  columns: [
    { title: "State", cell: ({ state }) => badge(state) },
    {
      title: "Reference",
      kind: "main",
      cell: ({ id, uti, record }) => pageLink(deliveryPath(id), recordReference(record, uti)),
    },
    { title: "Outcome", cell: ({ record }) => spaced(recordOutcome(record)) },
    { title: "Amount", kind: "number", cell: ({ record }) => shownAmount(record) },
    { title: "Address", kind: "wide mono", cell: ({ url }) => shortUrl(url) },
    {
      title: "Answer",
      cell: ({ attempt }) =>
        attempt &&
        html`<span class="${isSuccess(attempt.status) ? "" : "bad"}">${clipped(attemptText(attempt))}</span>`,
    },
    {
      title: "Last attempt",
      cell: ({ attempt }, { now }) => attempt && exactTime(attempt.at, now),
    },
    {
      title: "Next attempt",
      kind: "wide",
      cell: ({ state, due }, { now }) => state === "pending" && timeAgo(new Date(due), now),
    },
  ],
};

export const PAYMENT_LIST: DashboardList<PaymentRow> = {
  tab: "payments",
  one: "payment",
  states: SAMPLE_OUTCOMES,
  nothingYet: "Open a link and pay it with a test card.",
  read: ({ ledger }, query) => ledger.payments(query),
  totals: async ({ counts }, query) => {
    const count = await counts.payments(query);
    const sums = sumsOf(await counts.sums(query)).join("; ");
    const words =
      count > ROWS_COUNTED ? `Of the newest ${formatCount(ROWS_COUNTED)}: ${sums}.` : `${capitalized(sums)}.`;
    return `${countWords(count, "payment", "payments")}${sums === "" ? "" : ` ${words}`}`;
  },
  trend: ({ counts, now }, place) =>
    trendPart(now, place, async (bars) => {
      const counted = await counts.paymentBars(bars);
      const query = queryOfBars(bars);
      const others = SAMPLE_OUTCOMES.filter((outcome) => outcome !== "approved");
      return {
        series: [
          { kind: "good", title: "approved", counts: counted.get("approved") ?? [] },
          ...others.map((outcome) => ({
            kind: "quiet" as const,
            title: spaced(outcome),
            counts: counted.get(outcome) ?? [],
          })),
        ],
        words: `${approvedSums(await counts.sums(query))} ${onlyNewest(await counts.payments(query))}`.trim(),
      };
    }),
  caption: "Payments, newest first",
  id: ({ uti }) => uti,
  columns: [
    { title: "Outcome", cell: ({ record }) => badge(recordOutcome(record)) },
    {
      title: "Reference",
      kind: "main",
      cell: ({ uti, record }) => pageLink(paymentPath(uti), recordReference(record, uti)),
    },
    { title: "Amount", kind: "number", cell: ({ record }) => shownAmount(record) },
    {
      title: "Time",
      cell: ({ record }, { now }) => {
        const time = paidAt(record);
        return time && exactTime(time, now);
      },
    },
    {
      title: fieldTitle("customerName"),
      kind: "wide",
      cell: ({ linkId }, view) =>
        pageLink(linkPath(linkId), clipped(view.ledger.findLink(linkId)?.request.customerName ?? linkId)),
    },
    { title: "Card", kind: "wide mono", cell: ({ record }) => clipped(textOf(record, "cardPan") ?? "") },
    {
      title: "Webhook",
      cell: ({ uti }, view) => {
        const [delivery] = view.ledger.deliveries({ uti, limit: 1, now: view.now }).rows;
        return delivery && pageLink(deliveryPath(delivery.id), delivery.state);
      },
    },
  ],
};

export const LINK_LIST: DashboardList<Link> = {
  tab: "links",
  one: "link",
  states: LINK_STATUSES,
  nothingYet: html`Create one here, or with
    <code>paylink create --amount 10 --currency EUR -p sandbox</code>`,
  action: () => html`<a class="button primary" href="/links/new">New link</a>`,
  read: ({ ledger }, query) => ledger.links(query),
  totals: async ({ counts }, query) => countWords(await counts.links(query), "link", "links"),
  caption: "Links, newest first",
  id: ({ id }) => id,
  columns: [
    { title: fieldTitle("status"), cell: (link, { now }) => badge(linkStatusAt(link, now)) },
    {
      title: fieldTitle("description"),
      kind: "main",
      cell: (link) => pageLink(linkPath(link.id), clipped(linkTitle(link))),
    },
    { title: fieldTitle("amount"), kind: "number", cell: priceOf },
    {
      title: fieldTitle("invoiceId"),
      kind: "wide",
      cell: ({ request: { invoiceId } }) => invoiceId && html`<bdi>${clipped(invoiceId)}</bdi>`,
    },
    {
      title: fieldTitle("customerName"),
      kind: "wide",
      cell: ({ request }) => html`<bdi>${clipped(request.customerName)}</bdi>`,
    },
    {
      title: fieldTitle("createdDate"),
      cell: ({ createdDate }, { now }) => exactTime(createdDate, now),
    },
    {
      title: fieldTitle("expirationDate"),
      kind: "wide",
      cell: ({ expirationDate }, { now }) => exactTime(new Date(expirationDate), now),
    },
  ],
};

export const REQUEST_LIST: DashboardList<ApiRequest> = {
  tab: "requests",
  one: "request",
  states: ["succeeded", "failed"],
  nothingYet: "Requests to the service's API, since the sandbox was started, appear here with their answers.",
  read: ({ requests }, query) => requests.list(query),
  totals: async ({ requests }, query) => countWords(requests.list(query).rows.length, "request", "requests"),
  caption: "Requests to the API, newest first",
  action: faultControl,
  id: ({ number }) => String(number),
  columns: [
    {
      title: "Status",
      cell: (request) => html`<span class="${isFailed(request) ? "bad" : "good"}">${request.status}</span>`,
    },
    {
      title: "Request",
      kind: "main",
      cell: ({ number, method, target }) =>
        pageLink(apiRequestPath(number), `${method} ${clipped(target, 80)}`),
    },
    { title: "Fault", cell: ({ fault }) => fault && html`<span class="bad">fault ${clipped(fault)}</span>` },
    { title: "Duration", kind: "number", cell: ({ duration }) => `${duration} ms` },
    { title: "Time", cell: ({ at }, { now }) => exactTime(at, now) },
  ],
};
