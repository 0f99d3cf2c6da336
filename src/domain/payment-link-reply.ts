/** What the service answers about payment links, with every rule of the specification that it breaks, and what its other
 * operations accept: the query of a list, and the changes of an update. */
import * as z from "zod/mini";
import { problemWith, type Problem } from "./errors.ts";
import { isJsonNumber, isJsonObject, type Json, type JsonNumber, type JsonObject } from "./json.ts";
import { type Amount, compareAmounts, CURRENCY_CODE, isDecimal } from "./money.ts";
import { pastExpiry, type PaymentLinkRequest, paymentLinkUpdate } from "./payment-link.ts";
import { LINK_DATES } from "./payment-link-fields.ts";
import { must, onlyObject, problemsOf, validPart } from "./schema.ts";
import { parseWebAddress } from "./addresses.ts";
import { duration, isUtcDateTime, parseInstant } from "./time.ts";

const replied = (rule: string) => must(rule, "is missing");

const text = z.string(replied("must be text"));
const dateOrNull = z.nullable(z.string(replied("must be an ISO 8601 date-time or null")));
const bound = z.custom<Amount>(
  (value) => isJsonNumber(value) || (typeof value === "string" && isDecimal(value)),
  replied("must be a decimal"),
);

/** Payment link (response): only the four event dates may be null, only multi-use links have `linkOptions`. */
export const paymentLink = z.looseObject({
  id: text,
  amount: z.custom<JsonNumber>(isJsonNumber, replied("must be a number")),
  currency: z
    .string(replied("must be a three-letter currency code"))
    .check(z.regex(CURRENCY_CODE, "must be a three-letter currency code")),
  invoiceId: z.optional(text),
  terminalId: text,
  customerName: text,
  description: z.optional(text),
  createdDate: text,
  expirationDate: text,
  viewedDate: dateOrNull,
  attemptedDate: dateOrNull,
  paidDate: dateOrNull,
  cancelledDate: dateOrNull,
  status: text,
  url: text,
  linkOptions: z.optional(
    onlyObject(
      z.looseObject({
        mode: z.optional(text),
        minAmount: z.optional(bound),
        maxAmount: z.optional(bound),
        paymentReferenceMode: z.optional(text),
      }),
    ),
  ),
});

const anyAmount = z.optional(bound);
const anyDate = z.optional(z.nullable(z.union([z.string(), z.custom<JsonNumber>(isJsonNumber)])));

/** What can be shown of a link as it came: amounts as text too, dates as any text or number. */
const shownLink = z.partial(
  z.extend(paymentLink, {
    amount: anyAmount,
    createdDate: anyDate,
    expirationDate: anyDate,
    viewedDate: anyDate,
    attemptedDate: anyDate,
    paidDate: anyDate,
    cancelledDate: anyDate,
  }),
);

/** A link with every required field, as a service builds it. */
export type WellFormedLink = z.infer<typeof paymentLink>;
/** A link as received: without fields of a wrong type, with unknown members. */
export type PaymentLink = z.infer<typeof shownLink>;

/** The status on creation (States rule 1). */
export const ACTIVE = "active";
export const LINK_STATUSES = [ACTIVE, "viewed", "attempted", "paid", "expired", "cancelled"] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/**
 * Reads the body of a link and never refuses it, so that the URL is shown whatever else is wrong. With `requested`, it
 * also checks the fields that the service must echo.
 */
export function readPaymentLink(
  reply: Json,
  requested?: PaymentLinkRequest,
): { readonly link: PaymentLink; readonly violations: readonly Problem[] } {
  if (!isJsonObject(reply)) return { link: {}, violations: [{ at: "", message: "must be a JSON object" }] };
  const strict = paymentLink.safeParse(reply);
  const violations = problemsOf(strict.error?.issues ?? []);
  const link = strict.data ?? shownPart(reply);
  const echo = requested === undefined ? [] : brokenEcho(link, requested);
  for (const violation of [...brokenDates(link), ...brokenUrl(link), ...echo]) {
    // A field that is missing is not echoed either; an amount as text may also be another amount.
    if (link[violation.at] !== undefined || !violations.some(({ at }) => at === violation.at))
      violations.push(violation);
  }
  return { link, violations };
}

function shownPart(reply: JsonObject): PaymentLink {
  const shown = shownLink.safeParse(reply);
  return shown.data ?? shownLink.safeParse(validPart(reply, shown.error.issues)).data ?? {};
}

function* brokenDates(link: PaymentLink): Iterable<Problem> {
  for (const at of LINK_DATES) {
    const date = link[at];
    if (typeof date === "string" && !isUtcDateTime(date))
      yield { at, message: "must be an ISO 8601 date-time in UTC" };
  }
}

function* brokenUrl({ url, id }: PaymentLink): Iterable<Problem> {
  if (url === undefined) return;
  const address = parseWebAddress(url);
  if (address === undefined) yield { at: "url", message: "must be an absolute http or https URL" };
  else if (id !== undefined && address.searchParams.get("r") !== id) {
    yield { at: "url", message: "must have the link's id as query parameter r" };
  }
}

const ECHOED = ["currency", "invoiceId", "terminalId", "customerName", "description"] as const;

/** The fields that must equal the request's (Endpoints rules 2 and 3), and the first status (States rule 1). */
function* brokenEcho(link: PaymentLink, requested: PaymentLinkRequest): Iterable<Problem> {
  const { amount } = requested;
  if (link.amount && compareAmounts(link.amount, amount) !== 0) yield notAsSent("amount", amount);
  for (const at of ECHOED) {
    const sent = requested[at];
    if (sent !== undefined && link[at] !== sent) yield notAsSent(at, sent);
  }
  if (link.status !== ACTIVE) yield { at: "status", message: `must be ${ACTIVE} on creation` };
  yield* brokenOptions(link.linkOptions, requested.linkOptions);
}

type LinkOptions = PaymentLinkRequest["linkOptions"];

/** Present only for multi-use links. Bounds are compared by value: each side may spell a number differently. */
function* brokenOptions(options: LinkOptions, requested: LinkOptions): Iterable<Problem> {
  if (options === undefined && requested === undefined) return;
  if (requested === undefined || options === undefined) {
    const message = requested === undefined ? "must be absent from a one-time link" : "is missing";
    yield { at: "linkOptions", message };
    return;
  }
  const { mode } = requested;
  if (mode !== undefined && options.mode !== mode) yield notAsSent("linkOptions.mode", mode);
  for (const name of ["minAmount", "maxAmount"] as const) {
    const sent = requested[name];
    const echoed = options[name];
    if (sent === undefined || (echoed !== undefined && compareAmounts(echoed, sent) === 0)) continue;
    yield notAsSent(`linkOptions.${name}`, sent);
  }
}

function notAsSent(at: string, sent: Amount): Problem {
  return problemWith(sent.toString(), at, "must be as sent");
}

export type Checked<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly Problem[] };

/** Older links are not listed. */
export const LISTED_AGE = duration(365, "d");
export const LARGEST_PAGE = 5000;

const instant = z.pipe(
  z.string(must("must be text")),
  z.transform((text, { issues }): Date => {
    const parsed = parseInstant(text);
    if (parsed !== undefined) return parsed;
    const message = "must be an ISO 8601 date-time with a zone, such as 2030-01-31T12:00:00Z";
    issues.push({ code: "custom", message, input: text });
    return z.NEVER;
  }),
);

const count = (rule: string) =>
  z.pipe(z.string().check(z.regex(/^[1-9]\d{0,8}$/, rule)), z.transform(Number));
const sizeRule = `must be a whole number from 1 to ${LARGEST_PAGE}`;

export const linksQuery = z
  .object({
    terminalId: z.string(must("must be text")),
    from: instant,
    to: instant,
    page: z._default(count("must be a whole number from 1"), 1),
    size: z._default(count(sizeRule).check(z.maximum(LARGEST_PAGE, sizeRule)), 20),
    status: z.optional(z.enum(LINK_STATUSES, must(`must be one of ${LINK_STATUSES.join(", ")}`))),
  })
  .check(z.refine(({ from, to }) => from <= to, { path: ["from"], message: "must not be later than to" }));
export type LinksQuery = z.infer<typeof linksQuery>;

export function checkLinksQuery(query: Readonly<Record<string, string>>): Checked<LinksQuery> {
  const parsed = linksQuery.safeParse(query);
  return parsed.success
    ? { ok: true, value: parsed.data }
    : { ok: false, problems: problemsOf(parsed.error.issues) };
}

export type PaymentLinkUpdate = z.infer<typeof paymentLinkUpdate>;

export function checkUpdate(changes: Json, now: Date): Checked<PaymentLinkUpdate> {
  if (!isJsonObject(changes)) return { ok: false, problems: [{ at: "", message: "must be a JSON object" }] };
  const parsed = paymentLinkUpdate.safeParse(changes);
  const problems = parsed.success
    ? pastExpiry(parsed.data, now)
    : parsed.error.issues.flatMap((issue) =>
        issue.code === "unrecognized_keys"
          ? issue.keys.map((at) => ({ at, message: "cannot be changed" }))
          : problemsOf([issue]),
      );
  return parsed.success && problems.length === 0 ? { ok: true, value: parsed.data } : { ok: false, problems };
}
