/** Shows everything that a service returns for one link: every field and date, also those that the specification lacks. */
import { isJsonObject, type Json, type JsonObject, memberOf, stringifyJson } from "../domain/json.ts";
import type { PaymentLink } from "../domain/payment-link-reply.ts";
import { linkAmount, type LinkStyle, relativeDate } from "./link-card.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { renderServiceName } from "./service-name.ts";
import { localTime } from "./time.ts";

/** Members of a link that have a row of their own, with its label. */
const FIELDS = {
  id: "id",
  status: "status",
  customerName: "customer",
  description: "description",
  invoiceId: "invoice",
  terminalId: "terminal",
  createdDate: "created",
  expirationDate: "expires",
  viewedDate: "viewed",
  attemptedDate: "attempted",
  paidDate: "paid",
  cancelledDate: "cancelled",
} as const;

const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([...Object.keys(FIELDS), "url", "amount", "currency"]);
const NONE = "–";

/** `json` is the link as the service wrote it. */
export function renderLinkDetails(
  link: PaymentLink,
  json: JsonObject,
  { paint, time, service }: LinkStyle,
): string {
  const shown = (name: string): string => {
    const value = memberOf(json, name) ?? null;
    const text = typeof value === "string" ? value : stringifyJson(value);
    if (value === null || text === "") return NONE;
    if (name === "expirationDate") return relativeDate(text, time);
    return name.endsWith("Date") ? localTime(text) : text;
  };
  const known = Object.entries(FIELDS).map(([name, label]): [string, string] => [label, shown(name)]);
  const others = Object.entries(json)
    .filter(([name]) => !SHOWN_ELSEWHERE.has(name))
    .flatMap(([name, value]) => rowsOf(name, value));
  const rows: [string, string][] = [["amount", linkAmount(link) ?? NONE], ...known, ...others];
  const width = Math.max(...rows.map(([label]) => safeText(label).length)) + 2;
  const lines = rows.map(([label, value]) => {
    const text = label === "status" ? paintStatus(safeText(value), paint) : safeText(value);
    return `  ${paint.dim(safeText(label).padEnd(width))}${text}`;
  });
  return [paint.bold(safeText(link.url ?? NONE)), ...lines, `  ${renderServiceName(service, paint)}`].join(
    "\n",
  );
}

/** The members of an object get a row each: `linkOptions.mode`. */
function rowsOf(name: string, value: Json): [string, string][] {
  if (isJsonObject(value) && Object.keys(value).length > 0)
    return Object.entries(value).flatMap(([member, inner]) => rowsOf(`${name}.${member}`, inner));
  if (value === null || value === "") return [[name, NONE]];
  return [[name, typeof value === "string" ? value : stringifyJson(value)]];
}

/** A status in its colour. */
export function paintStatus(status: string, paint: Paint): string {
  if (status === "paid") return paint.green(status);
  if (status === "attempted") return paint.yellow(status);
  return status === "expired" || status === "cancelled" ? paint.dim(status) : status;
}
