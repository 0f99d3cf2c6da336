/** A request in words, for the last look before it is sent: the amount first, then every field that it holds. */
import type { Paint } from "./paint.ts";
import { isJsonObject, stringifyJson } from "../domain/json.ts";
import { formatAmount } from "../domain/money.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import { safeText } from "./safe-text.ts";

export function renderRequestSummary(request: PaymentLinkRequest, paint: Paint): string {
  const { amount, currency, ...rest } = request;
  const rows: [string, string][] = [["amount", formatAmount(amount, currency)], ...rowsOf("", rest)];
  const width = Math.max(...rows.map(([label]) => label.length)) + 2;
  return rows.map(([label, value]) => `  ${paint.dim(label.padEnd(width))}${safeText(value)}`).join("\n");
}

function rowsOf(path: string, value: Readonly<Record<string, unknown>>): [string, string][] {
  return Object.entries(value).flatMap(([name, member]): [string, string][] => {
    if (member === undefined) return [];
    const at = path === "" ? name : `${path}.${name}`;
    if (isJsonObject(member)) return rowsOf(at, member);
    return [[at, typeof member === "string" ? member : stringifyJson(member)]];
  });
}
