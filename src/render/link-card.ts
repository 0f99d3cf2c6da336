/** Shows a payment link as a card: the URL first, then what a merchant checks before sending it. */
import type { Paint } from "./paint.ts";
import { formatAmount } from "../domain/money.ts";
import type { PaymentLink } from "../domain/payment-link-reply.ts";
import { formatRelative, parseInstant } from "../domain/when.ts";
import { safeText } from "./safe-text.ts";
import { formatLocal } from "./time.ts";

interface LinkStyle {
  readonly paint: Paint;
  readonly now: Date;
}

export function renderLink(link: PaymentLink, { paint, now }: LinkStyle): string {
  const { currency = "", linkOptions } = link;
  const rows: [string, string | undefined][] = [
    ["status", link.status],
    ["amount", link.amount === undefined ? undefined : formatAmount(link.amount, currency).trim()],
    ["customer", link.customerName],
    ["terminal", link.terminalId],
    ["expires", link.expirationDate ? expiry(link.expirationDate.toString(), now) : undefined],
    ["id", link.id],
    ["mode", linkOptions?.mode],
    ["bounds", bounds(link)],
  ];
  const lines = rows.flatMap(([label, value]) =>
    value === undefined ? [] : [`  ${paint.dim(label.padEnd(10))}${safeText(value)}`],
  );
  return [paint.bold(link.url === undefined ? "(the answer has no URL)" : safeText(link.url)), ...lines].join(
    "\n",
  );
}

function expiry(text: string, now: Date): string {
  const date = parseInstant(text);
  return date === undefined ? text : `${formatLocal(date)} (${formatRelative(date, now)})`;
}

function bounds({ currency = "", linkOptions }: PaymentLink): string | undefined {
  const { minAmount, maxAmount } = linkOptions ?? {};
  if (minAmount === undefined && maxAmount === undefined) return undefined;
  const from = minAmount === undefined ? "any amount" : formatAmount(minAmount, currency).trim();
  const to = maxAmount === undefined ? "any amount" : formatAmount(maxAmount, currency).trim();
  return `${from} to ${to}`;
}
