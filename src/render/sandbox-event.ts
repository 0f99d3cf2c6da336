/** Shows the events of the sandbox: one line for each link, payment and delivery. */
import type { Paint } from "./paint.ts";
import { type JsonObject, stringifyJson } from "../domain/json.ts";
import { formatAmount } from "../domain/money.ts";
import { outcomeOf } from "../domain/transaction.ts";
import type { WellFormedRecord } from "../domain/transaction-fields.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import { withoutPassword } from "../domain/addresses.ts";
import { amountOf, paintOutcome } from "./transaction-record.ts";
import { safeText } from "./safe-text.ts";
import { clockTime } from "./layout.ts";

/** The parts of the events that are shown. */
export type ShownSandboxEvent =
  | {
      readonly type: "link";
      readonly link: { readonly id: string; readonly request: PaymentLinkRequest };
      readonly url: string;
    }
  | { readonly type: "payment"; readonly link: { readonly id: string }; readonly record: WellFormedRecord }
  | { readonly type: "updated" | "cancelled"; readonly link: { readonly id: string } }
  | {
      readonly type: "delivery";
      readonly delivery: { readonly id: string; readonly uti: string; readonly url: string };
      readonly attempt: number;
      readonly status: number | null;
      readonly detail: string;
      readonly state: string;
    };

interface SandboxStyle {
  readonly json: boolean;
  readonly paint: Paint;
}

export function renderSandboxEvent(
  event: ShownSandboxEvent,
  now: Date,
  { json, paint }: SandboxStyle,
): string {
  if (json) return stringifyJson(jsonOf(event));
  return `${paint.dim(clockTime(now))} ${line(event, paint)}`;
}

function line(event: ShownSandboxEvent, paint: Paint): string {
  switch (event.type) {
    case "link": {
      const { amount, currency } = event.link.request;
      return `link      ${safeText(formatAmount(amount, currency))}  ${safeText(event.url)}`;
    }
    case "payment":
      return `payment   ${paintOutcome(outcomeOf(event.record), paint)}  ${amountOf(event.record)}  ${safeText(event.record.reference)}`;
    case "updated":
    case "cancelled":
      return `link      ${event.type}  ${safeText(event.link.id)}`;
    case "delivery":
      return `delivery  ${event.state}  attempt ${event.attempt}: ${safeText(event.detail)}  ${safeText(withoutPassword(event.delivery.url))}`;
  }
}

function jsonOf(event: ShownSandboxEvent): Record<string, unknown> {
  switch (event.type) {
    case "link":
      return { type: "link", id: event.link.id, url: event.url };
    case "payment": {
      const record: JsonObject = event.record;
      return { type: "payment", linkId: event.link.id, record };
    }
    case "updated":
    case "cancelled":
      return { type: event.type, id: event.link.id };
    case "delivery": {
      const { delivery, attempt, status, detail, state } = event;
      return {
        type: "delivery",
        id: delivery.id,
        uti: delivery.uti,
        url: withoutPassword(delivery.url),
        attempt,
        status,
        state,
        detail,
      };
    }
  }
}
