/** Shows a payment link as a card: the URL first, then what a merchant checks before sending it. */
import type { Paint } from "./paint.ts";
import { type Amount, formatAmount, signOf } from "../domain/money.ts";
import type { PaymentLink } from "../domain/payment-link-reply.ts";
import { formatRelative, parseInstant, type ServiceTime } from "../domain/time.ts";
import { safeText } from "./safe-text.ts";
import { type NamedService, renderServiceName } from "./service-name.ts";
import { formatLocal } from "./time.ts";

type CreatedLink = PaymentLink & { readonly url: string };

export interface LinkStyle {
  readonly paint: Paint;
  readonly time: ServiceTime;
  readonly service: NamedService;
}

export function renderLink(link: CreatedLink, { paint, time, service }: LinkStyle): string {
  const { linkOptions } = link;
  const rows: [string, string | undefined][] = [
    ["status", link.status],
    ["amount", linkAmount(link)],
    ["customer", link.customerName],
    ["terminal", link.terminalId],
    ["expires", link.expirationDate ? relativeDate(link.expirationDate.toString(), time) : undefined],
    ["id", link.id],
    ["mode", linkOptions?.mode],
  ];
  const lines = rows.flatMap(([label, value]) =>
    value === undefined ? [] : [`  ${paint.dim(label.padEnd(10))}${safeText(value)}`],
  );
  return [paint.bold(safeText(link.url)), ...lines, `  ${renderServiceName(service, paint)}`].join("\n");
}

export function relativeDate(text: string, { now, ofSandbox }: ServiceTime): string {
  const date = parseInstant(text);
  if (date === undefined) return text;
  return `${formatLocal(date)} (${formatRelative(date, now)}${ofSandbox ? ", sandbox clock" : ""})`;
}

/** The customer of a reusable link with amount 0 enters the amount, within the bounds. */
export function linkAmount({ amount: fixed, currency = "", linkOptions }: PaymentLink): string | undefined {
  const shown = (value: Amount): string => formatAmount(value, currency).trim();
  if (fixed !== undefined && (linkOptions === undefined || signOf(fixed) !== 0)) return shown(fixed);
  if (linkOptions === undefined) return undefined;
  const { minAmount: min, maxAmount: max } = linkOptions;
  if (min !== undefined && max !== undefined) return `${shown(min)} to ${shown(max)}`;
  if (min !== undefined) return `at least ${shown(min)}`;
  return max === undefined ? "any amount" : `at most ${shown(max)}`;
}
