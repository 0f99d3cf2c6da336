/** Shows payment links: a new link as a card, everything that a service returns for one, and a request before it is sent. */
import { isJsonNumber, isJsonObject, stringifyJson, type JsonObject } from "../values/json.ts";
import { formatAmount, signOf } from "../domain/money.ts";
import { boundWords } from "../domain/payment-link.ts";
import type { LinkFieldPath } from "../domain/payment-link-fields.ts";
import { linkFieldAt, isLinkField, fieldLabel, fieldsShownIn } from "../domain/payment-link-field-lookup.ts";
import { isDate } from "../domain/payment-link-types.ts";
import type { PaymentLink, PaymentLinkRequest } from "../domain/payment-link-shapes.ts";
import { linkKind } from "../domain/payment-link-values.ts";
import { formatRelative, parseInstant } from "../values/time.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import type { ResolvedSettings } from "../settings/resolved-settings.ts";
import { renderServiceName } from "./account.ts";
import { formatLocal, NO_VALUE, wrap } from "./layout.ts";

interface FieldStyle {
  readonly paint: Paint;
  /** Columns that a line may have. */
  readonly lineWidth: number;
  readonly now: Date;
}
interface LinkStyle extends FieldStyle {
  readonly service: ResolvedSettings;
}

/** What merchants check before they send a link. */
const CREATED_FIELDS = fieldsShownIn("card");

/** The URL first, and a few fields. */
export const renderLink = (link: PaymentLink & { readonly url: string }, style: LinkStyle): string =>
  framed(link.url, fieldRows(CREATED_FIELDS, link, link, style), style);

/** Fields that are objects, and those that the specification lacks, follow. */
const DETAILS = fieldsShownIn("details");

/** Every field and date, also those that the specification lacks. `json` is the link as the service wrote it. */
export const renderLinkDetails = (link: PaymentLink, json: JsonObject, style: LinkStyle): string =>
  framed(
    link.url ?? NO_VALUE,
    [
      ["kind", linkKind(link)],
      ...fieldRows(DETAILS, link, json, style, NO_VALUE),
      ...otherRows(json, link, style.now),
    ],
    style,
  );

/** Only a reusable link may have none (Endpoints rule 4). */
const BY_SERVICE = "3 years after its creation";

/** A request as a summary to confirm. `json` is the request itself. */
export const renderRequestSummary = (
  request: PaymentLinkRequest,
  json: JsonObject,
  style: FieldStyle,
): string =>
  rowLines(
    [
      ["kind", linkKind(request)],
      ...fieldRows(DETAILS, request, json, style),
      ...(request.expirationDate === undefined ? [[fieldLabel("expirationDate"), BY_SERVICE] as const] : []),
      ...otherRows(json, request, style.now),
    ],
    style,
  ).join("\n");

type FieldRow = readonly [label: string, value: string];

const framed = (url: string, rows: readonly FieldRow[], style: LinkStyle): string => {
  const { paint, service } = style;
  return [paint.bold(safeText(url)), ...rowLines(rows, style), `  ${renderServiceName(service, paint)}`].join(
    "\n",
  );
};

/** One row for each field, the values below each other. */
function rowLines(
  rows: readonly FieldRow[],
  { paint, lineWidth }: Pick<FieldStyle, "paint" | "lineWidth">,
): string[] {
  const width = Math.max(...rows.map(([label]) => safeText(label).length)) + 2;
  const column = width + 2;
  return rows.map(
    ([label, value]) =>
      `  ${paint.dim(safeText(label).padEnd(width))}${wrap(value, lineWidth - column, column)}`,
  );
}

/** A field without a value has a row only if `absent` is given. */
function fieldRows(
  fields: readonly LinkFieldPath[],
  link: LinkAmount,
  json: object,
  { paint, now }: FieldStyle,
  absent?: string,
): FieldRow[] {
  const members = new Map<string, unknown>(Object.entries(json));
  return fields.flatMap((name): FieldRow[] => {
    // An amount has its currency.
    if (name === "currency" && amountWords(link) !== ANY_AMOUNT) return [];
    const value =
      name === "amount" ? amountWords(link) : fieldText(name, members.get(name), link.currency, now);
    const text = value ?? absent;
    if (text === undefined) return [];
    return [[fieldLabel(name), name === "status" ? paintStatus(safeText(text), paint) : safeText(text)]];
  });
}

const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([...DETAILS, "url"]);

const otherRows = (json: JsonObject, { currency = "" }: LinkAmount, now: Date): FieldRow[] =>
  Object.entries(json)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .flatMap(([name, value]) => valueRows(name, value, currency, now));

/** The members of an object get a row each. */
function valueRows(path: string, value: unknown, currency: string, now: Date): FieldRow[] {
  if (isJsonObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([name, member]) =>
      valueRows(`${path}.${name}`, member, currency, now),
    );
  return [[fieldLabel(path), safeText(fieldText(path, value, currency, now) ?? NO_VALUE)]];
}

/** By the type of the field; undefined for an empty one. */
function fieldText(path: string, value: unknown, currency = "", now: Date): string | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const type = isLinkField(path) ? linkFieldAt(path).type : "text";
  if (type === "bound" && (isJsonNumber(value) || typeof value === "string"))
    return formatAmount(value, currency).trim();
  const text = typeof value === "string" ? value : stringifyJson(value);
  return isDate(type) ? dateText(text, type === "expiry", now) : text;
}

function dateText(text: string, isAhead: boolean, now: Date): string {
  const date = parseInstant(text);
  if (date === undefined) return text;
  return isAhead ? `${formatLocal(date)} (${formatRelative(date, now)})` : formatLocal(date);
}

type LinkAmount = Pick<PaymentLink, "amount" | "currency" | "linkOptions">;

const ANY_AMOUNT = "any amount";

/** The customer of a reusable link with amount 0 enters the amount, within the bounds. */
export function linkAmount(link: LinkAmount): string | undefined {
  const { amount: filled, currency = "", linkOptions } = link;
  if (filled !== undefined && (linkOptions === undefined || signOf(filled) !== 0))
    return formatAmount(filled, currency).trim();
  return linkOptions === undefined ? undefined : (boundWords(link, formatAmount) ?? ANY_AMOUNT);
}

/** The same for a card, which says that an amount is only filled in. */
function amountWords(link: LinkAmount): string | undefined {
  const { amount: filled, linkOptions } = link;
  const amount = linkAmount(link);
  if (linkOptions === undefined || filled === undefined || signOf(filled) === 0) return amount;
  const bounds = boundWords(link, formatAmount);
  return `${amount}, the customer can change it${bounds === undefined ? "" : ` (${bounds})`}`;
}

/** A status in its colour. */
export function paintStatus(status: string, paint: Paint): string {
  if (status === "paid") return paint.green(status);
  if (status === "attempted") return paint.yellow(status);
  return status === "expired" || status === "cancelled" ? paint.dim(status) : status;
}

/** JSON as bash, zsh and fish alike read it in single quotes: fish takes a backslash before a quote or a backslash for an escape. */
const inQuotes = (json: string): string => json.replaceAll("\\\\", "\\u005c").replaceAll("'", "\\u0027");

/** A request as a curl command. The token stays in the environment. */
export function renderCurl(url: URL, body: string): string {
  return [
    `curl --fail-with-body --silent --show-error --request POST '${url.href.replaceAll("'", "%27")}'`,
    `--header "Authorization: Bearer $PAYLINK_TOKEN"`,
    `--header 'Content-Type: application/json'`,
    `--header 'Accept: application/json'`,
    `--data-raw '${inQuotes(body)}'`,
  ].join(" \\\n  ");
}
