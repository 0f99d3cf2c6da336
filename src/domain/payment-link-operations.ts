/** What the other operations on payment links accept: the query of a list, and the changes of an update. */

import * as z from "zod/mini";
import { duration } from "./duration.ts";
import type { Problem } from "./errors.ts";
import { isJsonObject, type Json } from "./json.ts";
import { LINK_STATUSES } from "./payment-link-reply.ts";
import { pastExpiry } from "./payment-link-rules.ts";
import { paymentLinkUpdate } from "./payment-link.ts";
import { must, problemsOf } from "./schema.ts";
import { parseInstant } from "./when.ts";

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
