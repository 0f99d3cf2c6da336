/** The links of the documented service: what each operation requires, answers and refuses. */
import { randomBytes } from "node:crypto";

/** The one terminal of the client. */
export const TERMINAL_ID = "1234567890";

export type Members = Readonly<Record<string, unknown>>;

interface Link {
  readonly id: string;
  readonly request: Members;
  status: string;
  paidDate: string | null;
}

export type Links = Map<string, Link>;

/** An error as the documentation shows it: a status, and JSON with a code and a message. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function createLink(links: Links, request: Members): object {
  const required = ["amount", "currency", "terminalId", "customerName"];
  if (request["linkOptions"] === undefined) required.push("expirationDate");
  for (const name of required)
    if (request[name] === undefined) throw new Refusal(400, 20, `${name} is required`);
  const types: readonly unknown[] = [undefined, "SALE", "AUTH", "PRE-AUTH", "VERIFICATION"];
  if (!types.includes(request["transactionType"])) throw new Refusal(400, 24, "Unknown transactionType");
  if (typeof request["amount"] !== "number") throw new Refusal(400, 21, "amount must be a number");
  requireOwnTerminal(request["terminalId"]);
  const link = { id: randomBytes(5).toString("hex"), request, status: "active", paidDate: null };
  links.set(link.id, link);
  return showLink(link);
}

const YEAR = 365 * 86_400_000;

/** `totalCount` is the number of links in the reply. A page has at most `largest` links, whatever is asked for. */
export function listLinks(links: Links, query: URLSearchParams, largest: number): object {
  for (const name of ["terminalId", "from", "to"])
    if (!query.has(name)) throw new Refusal(400, 20, `${name} is required`);
  requireOwnTerminal(query.get("terminalId"));
  const [from, to] = ["from", "to"].map((name) => Date.parse(query.get(name) ?? ""));
  const [page, size] = [Number(query.get("page") ?? 1), Number(query.get("size") ?? 20)];
  if (!(Number(from) <= Number(to)) || !(page >= 1) || !(size >= 1 && size <= 5000))
    throw new Refusal(400, 22, "Invalid query");
  if (Number(from) < Date.now() - YEAR - 60_000) throw new Refusal(400, 25, "from is more than 365 days ago");
  const status = query.get("status");
  const all = [...links.values()].filter((link) => status === null || link.status === status);
  const given = Math.min(size, largest);
  const records = all.slice((page - 1) * given, page * given).map(showLink);
  return { totalCount: records.length, records: records.length === 0 ? null : records };
}

export function updateLink(links: Links, link: Link, changes: Members): object {
  if (Object.keys(changes).some((name) => !["description", "expirationDate"].includes(name)))
    throw new Refusal(400, 23, "Only description and expirationDate can be changed");
  if (typeof changes["expirationDate"] !== "string") throw new Refusal(400, 20, "expirationDate is required");
  move(link, ["active", "viewed"], link.status);
  const changed = { ...link, request: { ...link.request, ...changes } };
  links.set(link.id, changed);
  return showLink(changed);
}

export const cancelLink = (link: Link): object => move(link, ["active", "viewed", "attempted"], "cancelled");

function move(link: Link, from: readonly string[], to: string): object {
  if (!from.includes(link.status)) throw new Refusal(422, 30, `The payment link is ${link.status}`);
  link.status = to;
  return showLink(link);
}

/** A link that can be paid once is then paid; a payment that was declined leaves it as it is. */
export function payLink(link: Link): void {
  if (link.request["linkOptions"] !== undefined) return;
  link.status = "paid";
  link.paidDate = new Date().toISOString();
}

export function findLink(links: Links, id: string): Link {
  const link = links.get(id);
  if (link === undefined) throw new Refusal(404, 275, "Invalid payment link ID");
  return link;
}

function requireOwnTerminal(terminalId: unknown): void {
  if (terminalId !== TERMINAL_ID) throw new Refusal(403, 40, "The terminal is not yours");
}

/** The fields of the create reply; dates are null where they do not apply. */
export function showLink({ id, request, status, paidDate }: Link): object {
  const { paymentSettings: _, customerDetails: __, ...fields } = request;
  return {
    id,
    ...fields,
    expirationDate: request["expirationDate"] ?? "2029-01-31T12:00:00Z",
    createdDate: "2026-01-31T12:00:00.000Z",
    viewedDate: null,
    attemptedDate: null,
    paidDate,
    cancelledDate: status === "cancelled" ? "2026-01-31T13:00:00.000Z" : null,
    status,
    url: `https://checkout.service.example/?r=${id}`,
  };
}

export const members = (value: unknown): Members =>
  typeof value === "object" && value !== null ? { ...value } : {};
