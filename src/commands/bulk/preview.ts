/** The preview of a list before it is sent: what it asks for, from which account, and whether that is what the user wants. */
import { plural, someOf, wordFor } from "../../values/plural.ts";
import { setImmediate } from "node:timers/promises";
import { TURN } from "../../bulk/read.ts";
import { linkWords } from "../../bulk/outcome.ts";
import type { PlannedRow } from "../../bulk/plan.ts";
import { requestOf } from "../../bulk/row.ts";
import type { Context } from "../../context.ts";
import { parseWebAddress } from "../../values/addresses.ts";
import { isForTests } from "../../domain/known-services.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint } from "../../domain/hint.ts";
import { Sums } from "../../domain/money.ts";
import { mappingText } from "../../lists/columns.ts";
import type { PaymentLinkRequest } from "../../domain/payment-link-shapes.ts";
import { renderList, sentBeforeOf, sentBeforeStates } from "../../render/bulk.ts";
import { formatLocal } from "../../render/layout.ts";
import type { Paint } from "../../render/paint.ts";
import { safeText } from "../../render/safe-text.ts";
import { warnOfCallbacks } from "../link-output.ts";
import type { BulkOptions } from "./command.ts";
import { isBefore, type PreparedList } from "./list.ts";
import { MOST_NAMED_ROWS, rowsOfKind, type RowSentBefore } from "./named-rows.ts";
import { rerun } from "./rerun.ts";

/** What this run asks for. */
export interface AskedRows {
  readonly links: number;
  readonly sums: Sums;
  readonly first: readonly PaymentLinkRequest[];
}

/** Links that are shown before they are sent. */
const SHOWN = 3;

export async function askedNow(context: Context, list: PreparedList): Promise<AskedRows> {
  const sums = new Sums();
  const first: PaymentLinkRequest[] = [];
  let links = 0;
  for (const request of requestsNow(context, list)) {
    if (links++ % TURN === 0) await setImmediate();
    context.signal.throwIfAborted();
    sums.add(request.amount, request.currency);
    if (first.length < SHOWN) first.push(request);
  }
  return { links: list.counts.due, sums, first };
}

/** The requests of the rows that are due, as they would be sent now. */
function* requestsNow(
  { now }: Context,
  { list, planned, rowContext }: PreparedList,
): Generator<PaymentLinkRequest> {
  const time = now();
  for (const [at, row] of list.rows.entries()) {
    if (planned[at]?.isDue !== true) continue;
    const { request } = requestOf(row, rowContext, time);
    if (request !== null) yield request;
  }
}

/** The list as a person sees it before it is sent. */
export async function renderPreview(
  { settings, out }: Context,
  { links, sums, first }: AskedRows,
  { service }: BulkOptions,
  paint: Paint,
): Promise<string> {
  const account = service === undefined ? undefined : await settings();
  return renderList({ links, sums: sums.list(), first, service: account }, paint, out.lineWidth);
}

/** What the user should know of a list, whether anybody is asked or not. */
export function introduce(
  { out, env }: Context,
  list: PreparedList,
  { dryRun, lookBack }: BulkOptions,
): void {
  const { reporter, checked, counts, planned, known, memory } = list;
  const before = planned.filter(isBefore);
  if (counts.sentBefore > 0) out.note(sentBeforeOf(counts.sentBefore, counts.rows, sentBeforeStates(before)));
  for (const line of readingLines(list)) out.note(line);
  if (known.failure !== undefined)
    out.warn(
      `The links of the service could not be read: ${safeText(known.failure.message)}${dryRun && lookBack > 0 ? " A run would send no row with an order number." : ""}`,
    );
  if (counts.differing > 0)
    out.note(
      `${plural(counts.differing, "row")} ${wordFor(counts.differing, "differs", "differ")} from what was sent, but not in amount, currency, kind or transaction type.`,
    );
  if (counts.uncompared > 0)
    out.warn(
      `${plural(counts.uncompared, "row")} cannot be compared with what was sent: only a results file has ${wordFor(counts.uncompared, "its link", "their links")}, and the service does not say what ${wordFor(counts.uncompared, "it was", "they were")} created for. Check whether their amounts have changed since.`,
    );
  const near = checked.rows.flatMap(({ identity }, at) => {
    const other = planned[at]?.isDue === true ? known.near.get(identity?.key ?? "") : undefined;
    return other === undefined ? [] : [`${identity?.orderNumber ?? ""} (${other})`];
  });
  if (near.length > 0)
    out.warn(
      `${plural(near.length, "order number is", "order numbers are")} nearly that of another row or link: ${safeText(someOf(near.slice(0, MOST_NAMED_ROWS), near.length))}. Each is an order of its own, and gets a link of its own.`,
    );
  const expired = before.filter(({ link }) => link?.status === "expired").length;
  if (counts.due === 0 && expired > 0) out.note(sendExpired(expired));
  if (list.standing.length > 0)
    out.note(`From the setting columns: ${safeText(list.standing.map(mappingText).join(", "))}`);
  // One of them may be misspelled.
  const unsent = checked.unsent.map(safeText).join(", ");
  if (unsent !== "") out.note(`Copied to the results, and not sent: ${unsent}`);
  reporter.warnings(checked.warnings);
  for (const remark of memory.remarks) out.warn(remark);
  if (!dryRun && memory.isLocal && (env["CI"] ?? "") !== "")
    out.note(
      `paylink remembers what it sent in ${memory.place}, a file of this machine. For jobs that start with an empty disk, set PAYLINK_DB to a PostgreSQL database.`,
    );
}

const sendExpired = (rows: number): string =>
  `To send the ${plural(rows, "row")} whose ${wordFor(rows, "link has", "links have")} expired: --again expired`;

/** What was read at the service, what only the service knows, and which links can be paid besides. */
function readingLines(list: PreparedList): string[] {
  const { reading } = list.known;
  const named = (
    is: (row: PlannedRow) => boolean,
    what: (rows: string) => string,
    said: (row: RowSentBefore) => string,
  ): string[] => {
    const { count, named: rows, limit } = rowsOfKind(list, is);
    if (count === 0) return [];
    const lines = rows.map((row) => {
      const { orderNumber, payment } = row.identity;
      return `  ${row.line}  ${safeText(`${orderNumber || payment}: ${said(row)}`)}`;
    });
    return [`${what(plural(count, "row"))}${limit}`, ...lines];
  };
  const { links, since } = reading;
  return [
    ...(since === undefined || links === 0
      ? []
      : [`${plural(links, "link")} of the service read, created since ${formatLocal(since)}.`]),
    ...named(
      ({ isElsewhere, link }) => isElsewhere && link !== undefined,
      (rows) =>
        `${rows} ${wordFor(list.counts.elsewhere, "has", "have")} a link that a colleague or another program made.`,
      (row) => `${linkWords(row.link)}, ${row.link.status ?? "state not known"}`,
    ),
    ...named(
      ({ others }) => others.length > 0,
      (rows) => `${rows}: another link of the order can be paid. To cancel it: links cancel <id>.`,
      ({ others }) => others.map(linkWords).join(", "),
    ),
    ...named(
      ({ state, isForOther, isDue, isLeft }) => state === "paid" && isForOther && !isDue && !isLeft,
      (rows) => `${rows} paid, and the list asks for another payment now: nothing is sent for them.`,
      (row) => `${row.identity.payment}, was paid with ${linkWords(row.link)}`,
    ),
  ];
}

/** Payments are reported to these addresses: those of the first link stand for all. */
async function warnOfListCallbacks(context: Context, list: PreparedList): Promise<void> {
  const [first] = requestsNow(context, list);
  if (first !== undefined) await warnOfCallbacks(first, await context.settings(), context.out);
}

/** What `--again` does besides. */
const EFFECTS = {
  unknown: "for which the service has no link",
  ended: "whose links were cancelled or have expired",
  expired: "whose links have expired",
  changed: "and cancels their earlier links first",
  all: "and their earlier links stay as they are",
} as const;

/** Shows the list and asks, if somebody is there to answer. False if the answer is no. */
export async function confirmSending(
  context: Context,
  list: PreparedList,
  options: BulkOptions,
): Promise<boolean> {
  const { out, yes } = context;
  const ask = context.ask();
  const { counts } = list;
  const { again } = options;
  const second =
    again === undefined || counts.second === 0
      ? ""
      : `--again ${again} sends ${plural(counts.second, "row")} once more, ${EFFECTS[again]}.`;
  if (yes || counts.due === 0 || ask === undefined) {
    introduce(context, list, options);
    await warnOfListCallbacks(context, list);
    if (second !== "" && !yes)
      throw new PaylinkError("usage", `${second} Nothing was sent.`, {
        hints: [hint`To confirm it: ${rerun(context, "--yes")}`],
      });
    return true;
  }
  list.reporter.hide();
  out.note(await renderPreview(context, await askedNow(context, list), options, out.notePaint));
  introduce(context, list, options);
  await warnOfListCallbacks(context, list);
  const settings = await context.settings();
  const { label } = settings;
  const address = settings.get("baseUrl") ?? "";
  const to = `${parseWebAddress(address)?.host ?? address} (${label})`;
  const question = `Send ${plural(counts.due, "link")} to ${to}?${second === "" ? "" : ` ${second}`}`;
  // Where links may be live, or second ones, only a typed yes sends them.
  if (await ask.confirm(question, { initial: isForTests(label) && second === "" })) return true;
  out.note("Nothing was done.");
  return false;
}

/** For scripts: how many rows were sent before, by the state of their links. */
export const beforeJson = ({ planned }: PreparedList): Record<string, number> =>
  Object.fromEntries(
    sentBeforeStates(planned.filter(isBefore)).map(([state, rows]) => [state.replace(" ", "_"), rows]),
  );
