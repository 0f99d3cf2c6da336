/** The hosted checkout: a page that works without JavaScript, and what its form sends. */
import { html } from "hono/html";
import { compareAmounts, formatAmount } from "../domain/money.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import { isReusable, statusOf, type Link } from "./links.ts";
import { CHOICES, type Attempt } from "./payments.ts";
import { ServiceProblem } from "./problem.ts";

type Page = ReturnType<typeof html>;

/** Reads the form that the checkout page posts. Throws a 400 problem. */
export function attemptFrom(form: URLSearchParams): Attempt {
  const outcome = CHOICES.find((choice) => choice === form.get("outcome"));
  if (outcome === undefined) {
    const message = `must be one of ${CHOICES.join(", ")}`;
    throw new ServiceProblem(400, "Bad Request", `outcome ${message}`, [{ at: "outcome", message }]);
  }
  const amount = form.get("amount") || undefined;
  const reference = form.get("reference") || undefined;
  return {
    outcome,
    ...(amount === undefined ? {} : { amount }),
    ...(reference === undefined ? {} : { reference }),
  };
}

export function checkoutPage(link: Link, merchantName: string, now: Date): Page {
  const status = statusOf(link, now);
  if (status !== "active") return page("Payment", html`<p role="status">This link is ${status}.</p>`);
  const { amount, currency, description } = link.request;
  const prefilled = compareAmounts(amount, "0") > 0 ? amount.toString() : "";
  return page(
    `Pay ${merchantName}`,
    html`<p>${description ?? ""}</p>
      <form method="post">
        ${
          isReusable(link)
            ? html`<label
                >Amount (${currency}) <input name="amount" inputmode="decimal" value="${prefilled}"
              /></label>`
            : html`<p><strong>${formatAmount(amount, currency)}</strong></p>`
        }
        <button name="outcome" value="approved">Pay with the card that is approved</button>
        <button name="outcome" value="declined">Pay with the card that is declined</button>
        <button name="outcome" value="cancelled">Cancel</button>
      </form>`,
  );
}

export function resultPage(record: WellFormedRecord): Page {
  const result = record.transApproved ? "approved" : record.transCancelled ? "cancelled" : "declined";
  const amount = formatAmount(record.amountTrans, record.transCurrencyCode);
  return page(
    `Payment ${result}`,
    html`<p role="status">${amount}: ${result}. Reference ${record.reference}.</p>`,
  );
}

function page(title: string, content: Page): Page {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
          <p>This is a sandbox: no money moves.</p>
        </main>
      </body>
    </html>`;
}
