/** The page of one payment: what was paid, its record, and the deliveries of its webhook. */
import { html } from "hono/html";
import { stringifyJson } from "../../domain/json.ts";
import { textOf } from "../../domain/transaction.ts";
import { chainSection, type Chain } from "./dashboard-chain.ts";
import { dashboardPage } from "./dashboard-frame.ts";
import {
  badge,
  block,
  clipped,
  copyButton,
  exactTime,
  facts,
  paymentPath,
  type View,
} from "./dashboard-parts.ts";
import { deliveryTable, type ListedDelivery } from "./dashboard-tables.ts";
import { amountOf, outcomeText, paidAt } from "./dashboard-values.ts";
import { CUSTOMER_FIELDS, CUSTOMER_LABELS } from "../customer.ts";
import type { Payment } from "../ledger.ts";
import type { Page } from "./page-frame.ts";

interface PaymentParts {
  readonly chain: Chain;
  readonly payment: Payment;
  readonly deliveries: readonly ListedDelivery[];
}

export function paymentPage(view: View, { chain, payment, deliveries }: PaymentParts): Page {
  const { uti, record, linkId, customer } = payment;
  const time = paidAt(record);
  return dashboardPage(view, {
    title: `Payment ${clipped(textOf(record, "reference") ?? uti)}`,
    tab: "payments",
    link: linkId,
    content: html`<div class="title-row">
        <h1>${amountOf(record)} <span id="title-state" data-live>${badge(outcomeText(record))}</span></h1>
      </div>
      <div class="detail">
        ${chainSection(view, chain, paymentPath(uti))}
        <div class="detail-main">
          <section class="panel" id="summary" data-live aria-label="Summary">
            ${facts([
              ["Reference", clipped(textOf(record, "reference") ?? "", 100)],
              ["UTI", html`<span class="mono">${uti}</span> ${copyButton("UTI", { text: uti })}`],
              ["Time", time === undefined ? undefined : exactTime(time)],
              ["Card", textOf(record, "cardPan")],
              ["Type", textOf(record, "transType")],
              ...CUSTOMER_FIELDS.map(
                (field) =>
                  [CUSTOMER_LABELS[field], customer[field] && clipped(customer[field], 100)] as const,
              ),
            ])}
          </section>
          <section class="panel" id="deliveries" data-live aria-labelledby="deliveries-title">
            <h2 id="deliveries-title">Webhook</h2>
            ${
              deliveries.length === 0
                ? html`<p class="hint">No webhook: the link has no callback address for this outcome.</p>`
                : deliveryTable(view, deliveries)
            }
          </section>
          <section class="panel" aria-labelledby="record-title">
            <h2 id="record-title">Record</h2>
            ${block({ id: "record", title: "Transaction record", text: stringifyJson(record, 2) })}
          </section>
        </div>
      </div>`,
  });
}
