/** Shows a request to create a link: as a summary to confirm, or as a curl command without the token. */
import type { Paint } from "./paint.ts";
import { isJsonObject, stringifyJson } from "../domain/json.ts";
import { formatAmount } from "../domain/money.ts";
import { isSecretName } from "../domain/secret-names.ts";
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

/** In double quotes, only these characters are special to a POSIX shell. */
const doubleQuoted = (text: string): string => `"${text.replace(/[\\"$`]/g, "\\$&")}"`;

interface CurlHeaders {
  /** With `{token}` in it. */
  readonly authHeader: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The token stays in the environment. */
export function renderCurl(url: URL, body: string, { authHeader, headers }: CurlHeaders): string {
  const auth = doubleQuoted(authHeader).replaceAll("{token}", "$PAYLINK_TOKEN");
  const added = Object.entries(headers).map(([name, value]) => {
    return `--header ${quoted(`${name}: ${isSecretName(name) ? "[redacted]" : value}`)}`;
  });
  return [
    `curl --fail-with-body --silent --show-error --request POST ${quoted(url.href)}`,
    `--header ${auth}`,
    ...added,
    `--header 'Content-Type: application/json'`,
    `--header 'Accept: application/json'`,
    `--data-raw ${quoted(body)}`,
  ].join(" \\\n  ");
}
