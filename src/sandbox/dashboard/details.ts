/** The layout of every detail, with the chain of what happened from the link to the last attempt; and a payment and a delivery in it. */
import { html } from "hono/html";
import { withoutPassword } from "../../domain/addresses.ts";
import { shellWord } from "../../domain/errors.ts";
import { stringifyJson } from "../../domain/json.ts";
import { parseJson } from "../../domain/parse-json.ts";
import { responseText } from "../../domain/response-codes.ts";
import { textOf } from "../../domain/transaction.ts";
import { CUSTOMER_FIELD_NAMES, CUSTOMER_FIELDS } from "../customer.ts";
import { isAccepted } from "../deliveries.ts";
import { statusOf } from "../links.ts";
import { facts, type Page } from "../page.ts";
import type { Attempt, Delivery, Link, Payment } from "../store/rows.ts";
import { dashboardPage, type DashboardPage } from "./frame.ts";
import { DELIVERIES, listPanel } from "./lists.ts";
import {
  actionForm,
  address,
  amountOf,
  badge,
  block,
  clipped,
  copyable,
  deliveryPath,
  exactTime,
  foldedBlock,
  headerTable,
  linkPath,
  outcomeText,
  paidAt,
  panel,
  paymentPath,
  plural,
  priceOf,
  recordOf,
  referenceOf,
  statusText,
  table,
  timeOf,
  type Listing,
  type View,
} from "./parts.ts";

interface Detail extends Omit<DashboardPage, "content" | "text"> {
  readonly heading: Page | string;
  readonly state: string;
  readonly actions?: Page | "";
  readonly chain: Chain;
  /** The path of the page: its step in the chain is marked. */
  readonly path: string;
  /** Terms and values at the top. */
  readonly summary: Page;
  readonly sections: readonly (Page | "")[];
}

export const detailPage = (
  view: View,
  { heading, state, actions = "", chain, path, summary, sections, ...page }: Detail,
): Page =>
  dashboardPage(view, {
    live: {},
    ...page,
    content: html`<div class="title-row">
        <h1>${heading} <span id="title-state">${badge(state)}</span></h1>
        <div class="actions">${actions}</div>
      </div>
      <div class="detail">
        ${chainSection(view, chain, path)}
        <div class="detail-main">
          <section class="panel" id="summary" aria-label="Summary">${summary}</section>
          ${sections}
        </div>
      </div>`,
  });

/** A link with one of its payments, and one delivery of that payment's webhook. */
export interface Chain {
  readonly link: Link;
  readonly payment: Payment | undefined;
  readonly delivery: Delivery | undefined;
}

/** Shows the newest payment and delivery unless others are given. */
export function chainOf(
  { ledger, now }: View,
  link: Link,
  given: { readonly payment?: Payment | undefined; readonly delivery?: Delivery } = {},
): Chain {
  const newest = { limit: 1, now };
  const payment = given.payment ?? ledger.payments({ linkId: link.id, ...newest }).rows[0];
  const delivery = given.delivery ?? (payment && ledger.deliveries({ uti: payment.uti, ...newest }).rows[0]);
  return { link, payment, delivery };
}

interface Step {
  readonly key: string;
  readonly title: Page | string;
  readonly time: Date | null | undefined;
  readonly note?: Page | string;
  readonly state?: string;
}

function chainSection(view: View, chain: Chain, path: string): Page {
  return html`<section class="panel chain" aria-labelledby="chain-title" id="chain">
    <h2 id="chain-title">What happened</h2>
    <ol>
      ${[...stepsOf(view, chain, path)].map(
        ({ key, title, time, note, state }) =>
          html`<li data-row="${key}" class="${time === null ? "open" : "done"} ${state ?? ""}">
            <div class="step">
              <b>${title}</b>
              <span class="quiet"
                >${time === null ? "not yet" : time === undefined ? "" : timeOf(time, view.now)}</span
              >
            </div>
            ${note === undefined ? "" : html`<p class="note" dir="auto">${note}</p>`}
          </li>`,
      )}
    </ol>
  </section>`;
}

/** The most attempts in the chain; the delivery's page lists more. */
const STEPS = 6;

function* stepsOf(view: View, { link, payment, delivery }: Chain, path: string): Generator<Step> {
  const to = (target: string, text: string): Page =>
    html`<a href="${address(view, target)}" ${target === path ? html`aria-current="page"` : ""}>${text}</a>`;
  const { id, createdDate, viewedDate, attemptedDate, paidDate, cancelledDate } = link;
  const isExpired = statusOf(link, view.now) === "expired";
  yield { key: "created", title: to(linkPath(id), "Link created"), time: createdDate, note: priceOf(link) };
  yield { key: "viewed", title: "Viewed", time: viewedDate };
  yield { key: "attempted", title: "Attempted", time: attemptedDate };
  if (paidDate !== null || (cancelledDate === null && !isExpired))
    yield { key: "paid", title: "Paid", time: paidDate, state: "paid" };
  if (cancelledDate !== null)
    yield { key: "cancelled", title: "Link cancelled", time: cancelledDate, state: "cancelled" };
  if (isExpired)
    yield { key: "expired", title: "Link expired", time: new Date(link.expirationDate), state: "expired" };
  if (payment === undefined) return;
  const { uti, record } = payment;
  const outcome = outcomeText(record);
  yield {
    key: uti,
    title: to(paymentPath(uti), `Payment ${outcome}`),
    time: paidAt(record),
    note: html`${amountOf(record)} · <bdi>${referenceOf(record, uti)}</bdi>`,
    state: outcome,
  };
  if (delivery === undefined) {
    const note = "The link has no callback address for this outcome.";
    return yield { key: "webhook", title: "No webhook", time: undefined, note };
  }
  const { state, attempts } = delivery;
  const note = html`${badge(state)} ${plural(attempts, "attempt")}`;
  yield { key: delivery.id, title: to(deliveryPath(delivery.id), "Webhook"), time: undefined, note, state };
  for (const attempt of view.ledger.attemptsOf(delivery.id, STEPS))
    yield {
      key: `step-${attempt.number}`,
      title: html`<a href="${attemptAddress(view, attempt)}">Attempt ${attempt.number}</a>`,
      time: attempt.at,
      note: statusText(attempt),
      state: isAccepted(attempt) ? "delivered" : "failed",
    };
}

const attemptAddress = (view: View, { deliveryId, number }: Attempt): string =>
  `${address(view, deliveryPath(deliveryId), { attempt: String(number) })}#attempt`;

/** Undefined for an unknown payment. */
export function paymentPage(view: View, uti: string): Page | undefined {
  const payment = view.ledger.findPayment(uti);
  const link = payment && view.ledger.findLink(payment.linkId);
  if (payment === undefined || link === undefined) return undefined;
  const { record, customer } = payment;
  const time = paidAt(record);
  return detailPage(view, {
    title: `Payment ${referenceOf(record, uti)}`,
    tab: "payments",
    heading: amountOf(record),
    state: outcomeText(record),
    chain: chainOf(view, link, { payment }),
    path: paymentPath(uti),
    summary: facts([
      ["Reference", clipped(textOf(record, "reference") ?? "", 100)],
      ["UTI", copyable("UTI", uti)],
      ["Time", time && exactTime(time)],
      ["Card", textOf(record, "cardPan")],
      ["Response code", responseText(textOf(record, "responseCode") ?? "")],
      ["Type", textOf(record, "transType")],
      ...CUSTOMER_FIELD_NAMES.map(
        (field) => [CUSTOMER_FIELDS[field].label, customer[field] && clipped(customer[field], 100)] as const,
      ),
    ]),
    sections: [
      listPanel(view, DELIVERIES, {
        query: { uti },
        title: "Webhook",
        nothing: "No webhook: the link has no callback address for this outcome.",
      }),
      panel(
        "record",
        "Record",
        block({ id: "record-json", title: "Transaction record", text: stringifyJson(record, 2) }),
      ),
    ],
  });
}

/** The most attempts that the page of a delivery lists. */
const ATTEMPTS = 20;

/** Shows the newest attempt unless another is asked for. Undefined for an unknown delivery. */
export function deliveryPage(view: View, id: string, asked: number): Page | undefined {
  const { ledger } = view;
  const delivery = ledger.findDelivery(id);
  const link = delivery && ledger.findLink(delivery.linkId);
  if (delivery === undefined || link === undefined) return undefined;
  const attempts = ledger.attemptsOf(id, ATTEMPTS);
  const attempt = (Number.isSafeInteger(asked) && ledger.findAttempt(id, asked)) || attempts[0];
  const { uti, state, due } = delivery;
  const url = withoutPassword(delivery.url);
  const record = recordOf(delivery);
  const reference = referenceOf(record, uti);
  const verify = `paylink verify --event ${uti} -p sandbox`;
  return detailPage(view, {
    title: `Webhook ${reference}`,
    tab: "deliveries",
    heading: html`Webhook <bdi>${reference}</bdi>`,
    state,
    actions: actionForm(
      view,
      `/sandbox/deliveries/${encodeURIComponent(id)}/resend`,
      html`<button class="primary">Resend</button>`,
    ),
    chain: chainOf(view, link, { payment: ledger.findPayment(uti), delivery }),
    path: deliveryPath(id),
    // An attempt that someone reads stays on the page when a newer one is made.
    live: attempt === undefined ? {} : { attempt: String(attempt.number) },
    summary: facts([
      ["Address", copyable("address", clipped(url, 2_000), clipped(url, 200))],
      ["Payment", `${amountOf(record)} ${outcomeText(record)}`],
      [
        "Next attempt",
        state === "waiting"
          ? timeOf(new Date(due), view.now)
          : state === "failed"
            ? "none: every attempt failed"
            : undefined,
      ],
      ["Delivery id", copyable("delivery id", id)],
      ["Verify", copyable("paylink verify command", verify)],
    ]),
    sections: [
      attemptList(view, attempts, attempt, delivery),
      attempt === undefined
        ? ""
        : panel(
            "attempt",
            `Attempt ${attempt.number}`,
            html`<p class="hint">${exactTime(attempt.at)} · ${clipped(attempt.detail, 200)}</p>
              ${attempt.headers.length === 0 ? "" : requestParts(view, attempt, delivery)}
              ${responseParts(attempt)}`,
          ),
    ],
  });
}

const listing = (shown: Attempt | undefined): Listing<Attempt> => ({
  caption: "Attempts, the last one first",
  id: ({ number }) => `attempt-${number}`,
  columns: [
    {
      title: "Attempt",
      cell: (attempt, view) =>
        html`<a
          href="${attemptAddress(view, attempt)}"
          ${attempt.number === shown?.number ? html`aria-current="true"` : ""}
          >Attempt ${attempt.number}</a
        >`,
    },
    {
      title: "Status",
      cell: (attempt) =>
        html`<span class="${isAccepted(attempt) ? "good" : "bad"}">${statusText(attempt)}</span>`,
    },
    {
      title: "Duration",
      kind: "medium number",
      cell: ({ duration }) => (duration === null ? "–" : `${duration} ms`),
    },
    { title: "Time", cell: ({ at }, { now }) => timeOf(at, now) },
    { title: "Result", kind: "wide", cell: ({ detail }) => clipped(detail, 100) },
  ],
});

function attemptList(
  view: View,
  attempts: readonly Attempt[],
  shown: Attempt | undefined,
  delivery: Delivery,
): Page {
  const rest = delivery.attempts - attempts.length;
  return panel(
    "attempts",
    attempts.length === 0 ? "Attempts" : plural(delivery.attempts, "attempt"),
    attempts.length === 0
      ? html`<p class="hint">The webhook has not been sent yet.</p>`
      : html`${table(view, listing(shown), attempts)}
        ${rest > 0 ? html`<p class="hint">And ${plural(rest, "earlier attempt")}.</p>` : ""}`,
  );
}

function requestParts(view: View, { headers, base }: Attempt, delivery: Delivery): Page {
  const text = new TextDecoder().decode(delivery.body);
  const json = parseJson(text);
  const whole = address(view, `${deliveryPath(delivery.id)}/body`);
  const url = withoutPassword(delivery.url);
  const curl = curlCommand(url, headers, text);
  return html`<h3>Request</h3>
    <p class="mono request-line">POST ${clipped(url, 200)}</p>
    ${headerTable("Request headers", headers)}
    ${json.ok ? block({ id: "json", title: "Body as JSON", text: stringifyJson(json.value.value, 2), whole }) : ""}
    ${foldedBlock({ id: "bytes", title: "Body", text, whole }, `Exact body, ${plural(delivery.body.length, "byte")}`)}
    ${foldedBlock({ id: "base", title: "Signature base", text: base }, "Signature base: the text that was signed")}
    ${curl.length > LONGEST_COMMAND ? "" : foldedBlock({ id: "curl", title: "curl command", text: curl }, "The same request with curl")}`;
}

/** Terminals cut off longer commands, and they make the page large. */
const LONGEST_COMMAND = 2_500;

function curlCommand(url: string, headers: Attempt["headers"], body: string): string {
  // curl writes these itself.
  const own = headers.filter(([name]) => !["host", "content-length"].includes(name.toLowerCase()));
  const lines = own.map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`);
  return [`curl ${shellWord(url)}`, ...lines, `--data-binary ${shellWord(body)}`].join(" \\\n  ");
}

function responseParts({ status, duration, answerHeaders, answer }: Attempt): Page {
  if (status === null) return html`<h3>No response</h3>`;
  return html`<h3>
      Response ${status}${duration === null ? "" : html` <span class="quiet">after ${duration} ms</span>`}
    </h3>
    ${headerTable("Response headers", answerHeaders)}
    ${answer === "" ? html`<p class="hint">The response has no body.</p>` : block({ id: "answer", title: "Response body", text: answer })}`;
}
