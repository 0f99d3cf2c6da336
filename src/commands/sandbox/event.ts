/** Shows the events of the sandbox: one line for each link, payment and delivery. */
import type { Paint } from "../../render/paint.ts";
import { stringifyJson, type JsonObject } from "../../domain/json.ts";
import { formatAmount } from "../../domain/money.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import { withoutPassword } from "../../domain/addresses.ts";
import { amountOf, paintOutcome } from "../../render/transaction-record.ts";
import type { SandboxEvent } from "../../sandbox/parts.ts";
import { safeText } from "../../render/safe-text.ts";
import { clockTime } from "../../render/layout.ts";

interface SandboxStyle {
  readonly json: boolean;
  readonly paint: Paint;
}

export function renderSandboxEvent(event: SandboxEvent, now: Date, { json, paint }: SandboxStyle): string {
  if (json) return stringifyJson(jsonOf(event));
  return `${paint.dim(clockTime(now))} ${line(event, paint)}`;
}

function line(event: SandboxEvent, paint: Paint): string {
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

function jsonOf(event: SandboxEvent): Record<string, unknown> {
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
