/** The preview of a list before it is sent: what it asks for, from which account, and whether that is what the user wants. */
import { Asked } from "../../bulk/check-rows.ts";
import { requestOf } from "../../bulk/row.ts";
import { dueRows } from "../../bulk/send-rows.ts";
import type { Context } from "../../context.ts";
import { parseWebAddress } from "../../domain/addresses.ts";
import { isForTests } from "../../domain/known-services.ts";
import { hint, PaylinkError } from "../../domain/errors.ts";
import { count, linksOf, renderList, rowsOf, sentBeforeOf } from "../../render/bulk.ts";
import type { Paint } from "../../render/paint.ts";
import { safeText } from "../../render/safe-text.ts";
import type { BulkOptions } from "./flags.ts";
import type { PlannedList } from "./list.ts";

/** What this run sends. */
export async function askedNow({ now }: Context, list: PlannedList): Promise<Asked> {
  if (list.plan.sentBefore === 0) return list.checked.asked;
  const due = new Asked();
  for await (const { row } of dueRows(list.rows.read(), list.sent.planned())) {
    const { request } = requestOf(row, list.build, now());
    if (request !== null) due.add(request);
  }
  return due;
}

/** The list as a person sees it before it is sent. */
export async function renderPreview(
  { settings, out }: Context,
  { rows, sums, first }: Asked,
  { service }: BulkOptions,
  paint: Paint,
): Promise<string> {
  const account = service === undefined ? undefined : await settings();
  return renderList({ links: rows, sums: sums.list(), first, service: account }, paint, out.lineWidth);
}

/** What the user should know of a list, whether anybody is asked or not. */
export function introduce({ out }: Context, { reporter, checked, plan }: PlannedList): void {
  if (plan.continues) out.note("An earlier run with --again was stopped. This one sends the rest of it.");
  else if (plan.sentBefore > 0) out.note(sentBeforeOf(plan.sentBefore, plan.rows));
  if (plan.rows > 0 && plan.due + plan.invalid === 0) out.note(SEND_AGAIN);
  // One of them may be misspelled.
  const unsent = checked.unsent.map(safeText).join(", ");
  if (unsent !== "") out.note(`Copied to the results, and not sent: ${unsent}`);
  reporter.warnings(checked.warnings);
}

const SEND_AGAIN = "To send every row once more, which creates a second link for each: --again";

/** Shows the list and asks, if somebody is there to answer. Throws `interrupted` if the user says no. */
export async function confirmSending(
  context: Context,
  list: PlannedList,
  options: BulkOptions,
): Promise<void> {
  const { out, yes, ask } = context;
  const { plan } = list;
  if (yes || plan.due === 0 || ask === undefined) {
    introduce(context, list);
    const links = `${count(plan.second)} second ${plan.second === 1 ? "link" : "links"}`;
    if (options.again && plan.second > 0 && !yes)
      throw new PaylinkError("usage", `--again would create ${links}. Nothing was sent.`, {
        hints: [hint`To confirm it: --yes`],
      });
    return;
  }
  list.reporter.end();
  const asked = await askedNow(context, list);
  out.note(await renderPreview(context, asked, options, out.notePaint));
  introduce(context, list);
  const settings = await context.settings();
  const { label } = settings;
  const address = settings.get("baseUrl") ?? "";
  const to = `${parseWebAddress(address)?.host ?? address} (${label})`;
  const second = ` ${rowsOf(plan.second)} may have a link already, and would get a second one.`;
  const question = `Send ${linksOf(plan.due)} to ${to}?${plan.second > 0 ? second : ""}`;
  // Where links may be live, or second ones, only a typed yes sends them.
  if (await ask.confirm(question, { initial: isForTests(label) && plan.second === 0 })) return;
  out.note("Nothing was sent.");
  throw new PaylinkError("interrupted", "Nothing was sent.");
}
