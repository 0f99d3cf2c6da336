/** Shows a request to create a link: as a summary to confirm, or as a curl command without the token. */
import type { Paint } from "./paint.ts";
import { isJsonObject, stringifyJson } from "../domain/json.ts";
import { formatAmount } from "../domain/money.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import { safeText } from "./safe-text.ts";

/** The amount first, then every other field. */
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

/** In single quotes, a POSIX shell changes no character; only a single quote itself needs care. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export function renderCurl(url: URL, body: string): string {
  return [
    `curl --fail-with-body --silent --show-error --request POST ${quoted(url.href)}`,
    `--header "Authorization: Bearer $PAYLINK_TOKEN"`,
    `--header 'Content-Type: application/json'`,
    `--header 'Accept: application/json'`,
    `--data-raw ${quoted(body)}`,
  ].join(" \\\n  ");
}
