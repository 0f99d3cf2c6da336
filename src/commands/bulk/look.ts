/** The look at a list before it is sent: what it asks for, from which account, and whether that is what the user wants. */
import { Asked, type Checked } from "../../bulk/check-rows.ts";
import { requestOf } from "../../bulk/row.ts";
import type { Ask, Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { serviceLabel } from "../../domain/known-services.ts";
import { parseWebAddress } from "../../domain/addresses.ts";
import { linksOf, renderList } from "../../render/bulk.ts";
import type { Paint } from "../../render/paint.ts";
import { safeText } from "../../render/safe-text.ts";
import { plan, type Plan } from "./claim.ts";
import type { BulkOptions } from "./flags.ts";
import { refuseRows, type List } from "./list.ts";

/** What this run sends; without an account, all valid rows. */
export async function askedNow(
  { rows, build, now }: List,
  { asked, invalid }: Checked,
  planned: Plan | undefined,
): Promise<Asked> {
  const isWhole = planned?.doneBefore === 0 && planned.invalid.size === invalid.size;
  if (planned === undefined || isWhole) return asked;
  const due = new Asked();
  for await (const row of rows.read()) {
    const { request } = planned.due.has(row.index) ? requestOf(row, build, now()) : { request: null };
    if (request !== null) due.add(request);
  }
  return due;
}

/** The list as a person sees it before it is sent. */
export async function renderLook(
  { settings, out: { lineWidth } }: Context,
  { rows, sums, first }: Asked,
  planned: Plan | undefined,
  { service }: BulkOptions,
  paint: Paint,
): Promise<string> {
  return renderList(
    {
      links: rows,
      sums: sums.list(),
      first,
      sentBefore: planned?.doneBefore ?? 0,
      service: service === undefined ? undefined : await settings(),
    },
    paint,
    lineWidth,
  );
}

/** What the user should know of a list, whether anybody is asked or not. */
export function introduce(
  { out }: Context,
  { input, reporter }: List,
  checked: Checked,
  planned: Plan | undefined,
): void {
  if (planned !== undefined && planned.input !== input.path) {
    const name = planned.input === "-" ? "standard input" : safeText(planned.input);
    out.note(`This list was sent before, from ${name}. The run continues where that one ended.`);
  }
  reporter.columns(checked);
  reporter.warnings(checked.warnings);
}

/**
 * Shows the list and asks; returns what was confirmed. Throws `interrupted` if the user says no. The list is not held
 * meanwhile: nobody may be there to answer.
 */
export async function confirmSending(
  context: Context,
  ask: Ask,
  list: List,
  checked: Checked,
  options: BulkOptions,
  service: string,
): Promise<Plan> {
  const { out } = context;
  const planned = await plan(context, list, checked, options, service);
  await refuseRows(context, list, checked, { ...options, invalid: planned.invalid });
  const links = planned.due.size;
  if (links > 0) {
    const asked = await askedNow(list, checked, planned);
    list.reporter.end();
    out.note(await renderLook(context, asked, planned, options, out.notePaint));
  }
  introduce(context, list, checked, planned);
  if (links === 0) return planned;
  const address = (await context.settings()).get("baseUrl") ?? service;
  const label = serviceLabel(address);
  const host = parseWebAddress(address)?.host ?? address;
  const question = `Send ${linksOf(links)} to ${host} (${label})?`;
  // Where links are live, only a typed yes sends them.
  if (await ask.confirm(question, { initial: label !== "LIVE" })) return planned;
  out.note("Nothing was sent.");
  throw new PaylinkError("interrupted", "Nothing was sent.");
}
