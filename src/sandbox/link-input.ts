/** What the operations on links accept besides a link to create: the query of a list, and the changes of an update. */
import type { Problem } from "../domain/errors.ts";
import type { PaymentLinkUpdate } from "../domain/exchanges.ts";
import { isJsonObject, type Json } from "../values/json.ts";
import { LINK_STATUSES, type LinkStatus } from "../domain/payment-link-reply.ts";
import { pastExpiry } from "../domain/payment-link.ts";
import { isUtcDateTime, parseInstant } from "../values/time.ts";

export type Validated<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const LARGEST_PAGE = 5000;

export interface LinksQuery {
  readonly terminalId: string;
  readonly from: Date;
  readonly to: Date;
  readonly page: number;
  readonly size: number;
  readonly status: LinkStatus | undefined;
}

/** The parameters of a list, each as text. */
export function checkLinksQuery(query: Readonly<Record<string, string>>): Validated<LinksQuery> {
  const { terminalId, from, to, page = "1", size = "20", status } = query;
  const problems: Problem[] = [];
  const problem = (at: string, message: string): undefined => void problems.push({ at, message });
  const instant = (at: string, text: string | undefined): Date | undefined => {
    if (text === undefined) return problem(at, "is required");
    return (
      parseInstant(text) ??
      problem(at, "must be an ISO 8601 date-time with a zone, such as 2030-01-31T12:00:00Z")
    );
  };
  const count = (at: string, text: string, most: number, rule: string): number | undefined =>
    /^[1-9]\d{0,8}$/.test(text) && Number(text) <= most ? Number(text) : problem(at, rule);
  if (terminalId === undefined) problem("terminalId", "is required");
  const [start, end] = [instant("from", from), instant("to", to)];
  const pages = count("page", page, 999_999_999, "must be a whole number from 1");
  const sizes = count("size", size, LARGEST_PAGE, `must be a whole number from 1 to ${LARGEST_PAGE}`);
  const known = LINK_STATUSES.find((one) => one === status);
  if (status !== undefined && known === undefined)
    problem("status", `must be one of ${LINK_STATUSES.join(", ")}`);
  if (start !== undefined && end !== undefined && start > end) problem("from", "must not be later than to");
  if (problems.length > 0 || !terminalId || !start || !end || !pages || !sizes)
    return { ok: false, problems };
  return { ok: true, value: { terminalId, from: start, to: end, page: pages, size: sizes, status: known } };
}

export function checkUpdate(changes: Json, now: Date): Validated<PaymentLinkUpdate> {
  if (!isJsonObject(changes)) return { ok: false, problems: [{ at: "", message: "must be a JSON object" }] };
  const { description, expirationDate, ...others } = changes;
  const problems: Problem[] = Object.keys(others).map((at) => ({ at, message: "cannot be changed" }));
  const isText = description === undefined || typeof description === "string";
  if (!isText) problems.push({ at: "description", message: "must be text" });
  const date =
    typeof expirationDate === "string" && isUtcDateTime(expirationDate) ? expirationDate : undefined;
  if (date === undefined) {
    const rule = "must be an ISO 8601 date-time in UTC, such as 2030-01-31T12:00:00Z";
    problems.push({ at: "expirationDate", message: expirationDate === undefined ? "is required" : rule });
  } else problems.push(...pastExpiry({ expirationDate: date }, now));
  if (problems.length > 0 || date === undefined || !isText) return { ok: false, problems };
  return { ok: true, value: { ...(description === undefined ? {} : { description }), expirationDate: date } };
}
