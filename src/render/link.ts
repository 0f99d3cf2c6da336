/** Shows payment links: a new link as a card, everything that a service returns for one, and a request before it is sent. */
import { shellWord } from "../domain/errors.ts";
import { isJsonObject, memberOf, stringifyJson, type JsonObject } from "../domain/json.ts";
import { formatAmount, signOf, type Amount } from "../domain/money.ts";
import { labelOf, LINK_DATES, type LinkFieldPath } from "../domain/payment-link-fields.ts";
import type { PaymentLink } from "../domain/payment-link-reply.ts";
import type { PaymentLinkRequest } from "../domain/payment-link.ts";
import { isSecretName } from "../domain/secrets.ts";
import { formatRelative, parseInstant, type ServiceTime } from "../domain/time.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import { renderServiceName } from "./account.ts";
import { formatLocal, localTime } from "./layout.ts";

interface LinkStyle {
  readonly paint: Paint;
  readonly time: ServiceTime;
  readonly service: ResolvedSettings;
}

type FieldRow = readonly [label: string, value: string];

/** One row for each field, the values below each other. */
function rowLines(rows: readonly FieldRow[], paint: Paint): string[] {
  const width = Math.max(...rows.map(([label]) => safeText(label).length)) + 2;
  return rows.map(([label, value]) => `  ${paint.dim(safeText(label).padEnd(width))}${value}`);
}

/** The URL first, then what a merchant checks before sending it. */
export function renderLink(
  link: PaymentLink & { readonly url: string },
  { paint, time, service }: LinkStyle,
): string {
  const fields: [LinkFieldPath, string | undefined][] = [
    ["status", link.status],
    ["amount", linkAmount(link)],
    ["customerName", link.customerName],
    ["terminalId", link.terminalId],
    ["expirationDate", link.expirationDate ? relativeDate(link.expirationDate.toString(), time) : undefined],
    ["id", link.id],
    ["linkOptions.mode", link.linkOptions?.mode],
  ];
  const rows = fields.flatMap(([path, value]): FieldRow[] =>
    value === undefined ? [] : [[labelOf(path), safeText(value)]],
  );
  return framed(link.url, rows, paint, service);
}

const framed = (url: string, rows: readonly FieldRow[], paint: Paint, service: ResolvedSettings): string =>
  [paint.bold(safeText(url)), ...rowLines(rows, paint), `  ${renderServiceName(service, paint)}`].join("\n");

function relativeDate(text: string, { now, ofSandbox }: ServiceTime): string {
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

/** The fields of `links show` below the URL and the amount, in this order; those that the specification lacks follow. */
const SHOWN_FIELDS: readonly LinkFieldPath[] = [
  "id",
  "status",
  "customerName",
  "description",
  "invoiceId",
  "terminalId",
  ...LINK_DATES,
];

const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([...SHOWN_FIELDS, "url", "amount", "currency"]);
const NONE = "–";

/** Every field and date, also those that the specification lacks. `json` is the link as the service wrote it. */
export function renderLinkDetails(
  link: PaymentLink,
  json: JsonObject,
  { paint, time, service }: LinkStyle,
): string {
  const shown = (name: string): string => {
    const text = textOf(memberOf(json, name) ?? null);
    if (text === NONE) return NONE;
    if (name === "expirationDate") return relativeDate(text, time);
    return name.endsWith("Date") ? localTime(text) : text;
  };
  const known = SHOWN_FIELDS.map((name): FieldRow => {
    const value = safeText(shown(name));
    return [labelOf(name), name === "status" ? paintStatus(value, paint) : value];
  });
  const others = Object.entries(json)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .flatMap(([name, value]) => rowsOf(name, value));
  const rows: FieldRow[] = [["amount", safeText(linkAmount(link) ?? NONE)], ...known, ...others];
  return framed(link.url ?? NONE, rows, paint, service);
}

/** The members of an object get a row each. */
function rowsOf(path: string, value: unknown): FieldRow[] {
  if (isJsonObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([name, member]) => rowsOf(`${path}.${name}`, member));
  return [[labelOf(path), safeText(textOf(value))]];
}

function textOf(value: unknown): string {
  if (value === null || value === "") return NONE;
  return typeof value === "string" ? value : stringifyJson(value);
}

/** A status in its colour. */
export function paintStatus(status: string, paint: Paint): string {
  if (status === "paid") return paint.green(status);
  if (status === "attempted") return paint.yellow(status);
  return status === "expired" || status === "cancelled" ? paint.dim(status) : status;
}

/** A request as a summary to confirm: the amount first, then every other field. */
export function renderRequestSummary(request: PaymentLinkRequest, paint: Paint): string {
  const { amount, currency, ...rest } = request;
  const others = Object.entries(rest).flatMap(([name, value]) =>
    value === undefined ? [] : rowsOf(name, value),
  );
  return rowLines([["amount", safeText(formatAmount(amount, currency))], ...others], paint).join("\n");
}

/** In double quotes, only these characters are special to a POSIX shell. */
const doubleQuoted = (text: string): string => `"${text.replace(/[\\"$`]/g, "\\$&")}"`;

interface CurlHeaders {
  /** With `{token}` in it. */
  readonly authHeader: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request as a curl command. The token stays in the environment. */
export function renderCurl(url: URL, body: string, { authHeader, headers }: CurlHeaders): string {
  const auth = doubleQuoted(authHeader).replaceAll("{token}", "$PAYLINK_TOKEN");
  const added = Object.entries(headers).map(([name, value]) => {
    return `--header ${shellWord(`${name}: ${isSecretName(name) ? "[redacted]" : value}`)}`;
  });
  return [
    `curl --fail-with-body --silent --show-error --request POST ${shellWord(url.href)}`,
    `--header ${auth}`,
    ...added,
    `--header 'Content-Type: application/json'`,
    `--header 'Accept: application/json'`,
    `--data-raw ${shellWord(body)}`,
  ].join(" \\\n  ");
}
