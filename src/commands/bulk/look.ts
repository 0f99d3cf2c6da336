/** The look at a list before it is sent: what it asks for, from which account, and whether that is what the user wants. */
import { Asked, type Checked } from "../../bulk/check-rows.ts";
import { requestOf } from "../../bulk/row.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { serviceLabel } from "../../domain/known-services.ts";
import { parseWebAddress } from "../../domain/addresses.ts";
import { linksOf, renderList } from "../../render/bulk.ts";
import type { Paint } from "../../render/paint.ts";
import type { Claim } from "./claim.ts";
import type { BulkOptions } from "./flags.ts";
import type { List } from "./list.ts";

/** What this run sends; without an account, all valid rows. */
export async function askedNow(
  { rows, build, now }: List,
  { asked, invalid }: Checked,
  claimed: Claim | undefined,
): Promise<Asked> {
  const isWhole = claimed?.doneBefore === 0 && claimed.invalid.size === invalid.size;
  if (claimed === undefined || isWhole) return asked;
  const due = new Asked();
  for await (const row of rows.read()) {
    const { request } = claimed.isDue(row.index) ? requestOf(row, build, now()) : { request: null };
    if (request !== null) due.add(request);
  }
  return due;
}

/** The list as a person sees it before it is sent. */
export async function renderLook(
  { settings, out: { lineWidth } }: Context,
  { rows, sums, first }: Asked,
  claimed: Claim | undefined,
  { service }: BulkOptions,
  paint: Paint,
): Promise<string> {
  return renderList(
    {
      links: rows,
      sums: sums.list(),
      first,
      sentBefore: claimed?.doneBefore ?? 0,
      service: service === undefined ? undefined : await settings(),
    },
    paint,
    lineWidth,
  );
}

/** Throws `interrupted` if the user says no. Where links are live, only a typed yes sends them. */
export async function confirmSending({ ask, out, settings }: Context, links: number): Promise<void> {
  const service = (await settings()).get("baseUrl") ?? "";
  const label = serviceLabel(service);
  const host = parseWebAddress(service)?.host ?? service;
  const question = `Send ${linksOf(links)} to ${host} (${label})?`;
  if (ask === undefined || (await ask.confirm(question, { initial: label !== "LIVE" }))) return;
  out.note("Nothing was sent.");
  throw new PaylinkError("interrupted", "Nothing was sent.");
}
