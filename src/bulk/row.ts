/** What a row of a list asks for: the request that is sent, and what makes it the same row wherever the list is sent. */
import { hash } from "node:crypto";
import { comparableText } from "../values/comparable-text.ts";
import { NO_PROBLEMS, type Problem } from "../domain/errors.ts";
import {
  isJsonNumber,
  isJsonObject,
  joinPath,
  memberOf,
  stringifyJson,
  type Json,
  type JsonObject,
} from "../values/json.ts";
import { type Amount, amountKey, formatAmount, isKnownCurrency } from "../domain/money.ts";
import { SALE } from "../domain/payment-link.ts";
import { linkKind } from "../domain/payment-link-values.ts";
import type { BuiltRequest } from "../service/request.ts";
import type { SentClaim } from "../store/sent-rows.ts";
import { cellText, fieldsOf } from "../lists/cells.ts";
import { currencyOf, type ListCurrency } from "../lists/currencies.ts";
import { leftoverIn, requiredLeftovers } from "../lists/leftovers.ts";
import { numberKey, orderNumberProblem, orderNumberWarnings } from "../lists/order-numbers.ts";
import type { ListRow } from "../lists/read-list.ts";

/** Completes the fields of a row with the defaults of the run, and checks the request. */
export type BuildRequest = (now: Date, given: ReadonlyMap<string, Json>) => BuiltRequest;

/** What all rows of a list have in common. */
export interface RowContext extends ListCurrency {
  readonly build: BuildRequest;
  /** Where the rows go: the service's address in its canonical spelling. */
  readonly service: string;
  /** The list is one of links that exist. */
  readonly isOfLinks?: boolean;
  /** Fields that only the account's defaults fill: they say nothing of what a row asks for. */
  readonly defaults: ReadonlySet<string>;
}

/** Each problem and warning is at its column, or at the flag with a wrong default. */
export interface RowRequest extends Pick<BuiltRequest, "request" | "problems" | "warnings"> {
  /** Computed when it is asked for. Undefined for a row that cannot be sent, unless only its expiry has passed. */
  readonly identity: () => RowIdentity | undefined;
}

/** What makes a row the same row. */
export interface RowIdentity extends Pick<SentClaim, "payment" | "content" | "orderNumber"> {
  /** The same for two rows with one order number, else for rows that ask for the same, at one service and terminal. */
  readonly key: string;
  readonly terminal: string;
}

export function requestOf(row: ListRow, context: RowContext, now: Date): RowRequest {
  const invalid = (problems: readonly Problem[]): RowRequest => ({
    request: null,
    problems,
    warnings: () => [],
    identity: () => undefined,
  });
  if (row.problems.length > 0) return invalid(row.problems);
  const given = fieldsOf(row);
  // The expiry of a link that exists is not asked for.
  if (context.isOfLinks === true) given.delete("expirationDate");
  const currency = currencyOf(row, given, context);
  if (typeof currency === "object") return invalid([currency]);
  if (currency !== undefined) given.set("currency", currency);
  const left = [...requiredLeftovers(given), ...orderNumberProblems(given)];
  const { request, problems, warnings, draft } = context.build(now, given);
  const atColumn = (problem: Problem): Problem => {
    const place = row.columns.findIndex(({ field }) => field === problem.at);
    return { ...problem, at: row.columns[place]?.name ?? problem.at };
  };
  const all = [...left, ...problems.filter(({ at }) => !left.some((known) => known.at === at))];
  if (all.some(({ at }) => !EXPIRIES.has(at))) return invalid(all.map(atColumn));
  return {
    request: all.length === 0 ? request : null,
    problems: all.length === 0 ? NO_PROBLEMS : all.map(atColumn),
    warnings: () =>
      [
        ...optionalLeftovers(given),
        ...orderNumberWarnings(ORDER_NUMBER, orderNumberIn(given)),
        ...warnings(),
      ].map(atColumn),
    identity: () => identityOf(draft, given, context),
  };
}

/** Where the problems of an expiry are. A row whose expiry has passed is still the row that was sent. */
const EXPIRIES: ReadonlySet<string> = new Set(["expirationDate", "--expires", "expires"]);

/** On one line. */
export const problemsText = (problems: readonly Problem[]): string =>
  problems.map(({ at, message }) => `${at} ${message}`.trim()).join("; ");

const ORDER_NUMBER = "invoiceId";

const orderNumberIn = (given: ReadonlyMap<string, Json>): string =>
  comparableText(cellText(given.get(ORDER_NUMBER) ?? null));

function orderNumberProblems(given: ReadonlyMap<string, Json>): Problem[] {
  const message = orderNumberProblem(orderNumberIn(given));
  return message === undefined ? [] : [{ at: ORDER_NUMBER, message, kind: "is a shortened number" }];
}

const optionalLeftovers = (given: ReadonlyMap<string, Json>): Problem[] =>
  [...given].flatMap(([at, value]) => {
    const left = leftoverIn(value);
    return left === undefined ? [] : [{ at, message: `is sent as it is: ${left}`, kind: "is sent as it is" }];
  });

/** What is not what the customer pays for: where it is sent to, and until when. */
const APART: ReadonlySet<string> = new Set(["terminalId", "expirationDate", "paymentSettings"]);

function identityOf(
  draft: JsonObject,
  given: ReadonlyMap<string, Json>,
  { service, defaults }: RowContext,
): RowIdentity | undefined {
  const [amount, periodic, linkOptions] = ["amount", "periodic", "linkOptions"].map((at) =>
    memberOf(draft, at),
  );
  const textAt = (at: string): string => comparableText(cellText(memberOf(draft, at) ?? null));
  if (!isJsonNumber(amount)) return undefined;
  const code = textAt("currency").toUpperCase();
  const kind = linkKind({ amount, periodic, linkOptions });
  // The service takes a link without a type as a sale: whether a list says so makes no other row.
  const payment = [paymentText(amount, code), kind, textAt("transactionType") || SALE].join(" ");
  const facts = [...factsOf(draft)]
    .filter(([at]) => !APART.has(at.split(".")[0] ?? "") && (given.has(at) || !defaults.has(at)))
    .filter(([at, value]) => at !== "transactionType" || value !== SALE)
    .map(([at, value]) => (at === "currency" ? [at, code] : [at, value]))
    .toSorted(([one = ""], [other = ""]) => (one < other ? -1 : 1));
  const content = digest(facts);
  const orderNumber = textAt(ORDER_NUMBER);
  const terminal = textAt("terminalId");
  const key =
    orderNumber === ""
      ? digest([service, terminal, "content", content])
      : orderKey(service, terminal, orderNumber);
  return { key, payment, content, terminal, orderNumber };
}

/** The key of the rows with this order number, in whichever spelling of a spreadsheet. */
export const orderKey = (service: string, terminal: string, orderNumber: string): string =>
  digest([service, terminal, "order", numberKey(orderNumber)]);

/** The same for every spelling of an amount: `EUR 10.00`. */
export const paymentText = (amount: Amount, currency: string): string => {
  const text = formatAmount(amount, currency);
  return isKnownCurrency(currency) ? text : text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
};

/** What is not known of the payment of a link. */
export const NOT_SAID = "?";

/** Whether a link that was created for `sent` is one for what a row asks for. What is not known of it agrees with anything. */
export function isSamePayment(asked: string, sent: string): boolean {
  const words = asked.split(" ");
  return sent.split(" ").every((word, at) => word === NOT_SAID || word === words[at]);
}

/** What is known of a payment, for people. */
export const knownPart = (payment: string): string =>
  payment
    .split(" ")
    .filter((word) => word !== NOT_SAID)
    .join(" ");

/** 128 bits: no two of billions of rows have the same by chance. A slice of a text would keep the whole of it in memory. */
const digest = (facts: unknown): string =>
  hash("sha256", JSON.stringify(facts), "buffer").toString("base64url", 0, 16);

/** Bounds are sent as text. */
const BOUNDS: ReadonlySet<string> = new Set(["linkOptions.minAmount", "linkOptions.maxAmount"]);

/** Every value of a request in a form that all its spellings share, by the path of its field. */
function* factsOf(object: JsonObject, path = ""): Generator<[at: string, value: string]> {
  for (const [name, value] of Object.entries(object)) {
    const at = joinPath(path, name);
    if (isJsonObject(value) && Object.keys(value).length > 0) yield* factsOf(value, at);
    else if (isJsonNumber(value)) yield [at, amountKey(value)];
    else if (typeof value === "string") yield [at, BOUNDS.has(at) ? amountKey(value) : comparableText(value)];
    else yield [at, stringifyJson(value)];
  }
}
