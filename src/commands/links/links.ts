/** What `paylink links` does with links at the service: lists, shows, updates and cancels them. */
import { plural, wordFor } from "../../values/plural.ts";
import type { Context } from "../../context.ts";
import { comparableText } from "../../values/comparable-text.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { hint, paylink } from "../../domain/hint.ts";
import { type Json, stringifyJson } from "../../values/json.ts";
import { Sums } from "../../domain/money.ts";
import { fieldLabel } from "../../domain/payment-link-field-lookup.ts";
import type { PaymentLink } from "../../domain/payment-link-shapes.ts";
import { linkKind } from "../../domain/payment-link-values.ts";
import { readPaymentLink } from "../../domain/payment-link-reply.ts";
import { formatInstant, parseInstant } from "../../values/time.ts";
import { renderServiceName } from "../../render/account.ts";
import { renderHint } from "../../render/hint.ts";
import {
  type Cell,
  formatLocal,
  formatPeriod,
  localTime,
  renderListing,
  NO_VALUE,
} from "../../render/layout.ts";
import { linkAmount, paintStatus } from "../../render/link.ts";
import { csvRecord, csvTime } from "../../render/csv-listing.ts";
import { safeText } from "../../render/safe-text.ts";
import { renderSums } from "../../render/bulk.ts";
import { allLinks, CLOCK_DIFFERENCE, ownText } from "../../service/all-links.ts";
import type { Api } from "../../service/client.ts";
import type { ReadValues, Usage, ValuesOf } from "../command.ts";
import { printLink, showServiceLink } from "../link-output.ts";
import type { linkListFlags, showFlags, updateFlags } from "./command.ts";
import { checkPeriod, DEFAULT_PERIOD, isConfirmed, saidNo } from "../shared-flags.ts";

type ListFlags = ValuesOf<typeof linkListFlags>;

const listedSince = ({ since }: Pick<ListFlags, "since">, now: Date): Date =>
  since ?? new Date(now.getTime() - DEFAULT_PERIOD);

/** A period that can be listed, of a terminal. */
export async function checkListed(
  { ifRead }: ReadValues<ListFlags>,
  usage: Usage,
  context: Pick<Context, "settings" | "now">,
): Promise<void> {
  const settings = await context.settings();
  const now = context.now();
  ifRead(["since", "until"], (period) => {
    const since = listedSince(period, now);
    checkPeriod({ ...period, since }, usage);
    if (period.until === undefined && since >= now)
      usage.problems.push({ at: "--since", message: `must be in the past (got "${formatLocal(since)}")` });
  });
  ifRead(["terminalId"], ({ terminalId = settings.get("terminalId") }) => {
    if (terminalId === undefined && settings.get("baseUrl") !== undefined)
      usage.problems.push({
        at: "--terminal-id",
        message: "is required, because a service lists the links of one terminal",
      });
  });
}

interface ListOptions extends Omit<ListFlags, "since" | "until"> {
  readonly from: Date;
  readonly to: Date;
}

export async function listLinks(context: Context, { since, until, ...flags }: ListFlags): Promise<number> {
  const { out } = context;
  const { quiet, csv } = flags;
  const api = await context.api();
  const now = context.now();
  const options: ListOptions = {
    ...flags,
    terminalId: flags.terminalId ?? (await context.settings()).get("terminalId"),
    from: listedSince({ since }, now),
    to: until ?? new Date(now.getTime() + CLOCK_DIFFERENCE),
  };
  if (out.json)
    await printLines(await newestLinks(api, options, (_, json) => ownText(stringifyJson(json))), context);
  else if (csv)
    await printLines(
      [LINKS_CSV_HEADER, ...(await newestLinks(api, options, (link) => ownText(csvOf(link))))],
      context,
    );
  else if (quiet)
    await printLines(
      await newestLinks(api, options, ({ url, id }) => ownText(safeText(url ?? id ?? ""))),
      context,
    );
  else {
    const newest = await newestLinks(api, options, (link) => link);
    if (newest.length > 0) out.lines([tableOf(newest, context), ...sumsByStatus(newest)]);
    else
      out.note(
        `No links of terminal ${safeText(options.terminalId ?? "")} found, created ${formatPeriod({ since: options.from, until })}.`,
      );
    if (since === undefined) out.note("Only the last 7 days are listed. Use --since for older links.");
    out.note(renderServiceName(await context.settings(), out.notePaint));
  }
  return 0;
}

/** Lines that are written together: a text cannot be as long as 500,000 links. */
const LINES = 1000;

/** Prints lines as fast as they are read. */
async function printLines(lines: readonly string[], { out }: Pick<Context, "out">): Promise<void> {
  for (let at = 0; at < lines.length; at += LINES) {
    out.lines(lines.slice(at, at + LINES));
    await out.drained();
  }
}

/** Links that are kept besides the newest ones, so that the newest are not selected after each link. */
const SPARE_LINKS = 5000;

/**
 * What `shown` makes of each link of the period, newest first: nothing else of them is kept. With several statuses, one
 * question for each.
 */
async function newestLinks<T>(
  api: Api,
  { terminalId = "", from, to, status: statuses, invoiceId, limit = Number.POSITIVE_INFINITY }: ListOptions,
  shown: (link: PaymentLink, json: Json) => T,
): Promise<T[]> {
  let found = new Map<string, { readonly createdAt: number; readonly shown: T }>();
  const newest = () =>
    [...found].toSorted(([, one], [, other]) => other.createdAt - one.createdAt).slice(0, limit);
  for (const status of statuses ?? [undefined])
    for await (const json of allLinks(api.listLinks, { terminalId, from, to, status })) {
      const { link } = readPaymentLink(json);
      if (invoiceId !== undefined && comparableText(link.invoiceId ?? "") !== comparableText(invoiceId))
        continue;
      // A link may change its status between two questions.
      found.set(ownText(link.id ?? stringifyJson(json)), {
        createdAt: createdAt(link),
        shown: shown(link, json),
      });
      if (found.size > limit + SPARE_LINKS) found = new Map(newest());
    }
  return newest().map(([, one]) => one.shown);
}

/** How many links there are, and their sum, by status and currency. A reusable link is asked for any number of times. */
function sumsByStatus(listed: readonly PaymentLink[]): string[] {
  const groups = new Map<string, { links: number; sums: Sums }>();
  for (const link of listed) {
    const status = link.status ?? NO_VALUE;
    const group = groups.get(status) ?? { links: 0, sums: new Sums() };
    groups.set(status, group);
    group.links++;
    if (link.amount !== undefined && link.currency !== undefined && linkKind(link) !== "reusable")
      group.sums.add(link.amount, link.currency);
  }
  return [...groups].map(([status, { links, sums }]) => {
    const list = sums.list();
    return `${plural(links, "link")} ${safeText(status)}${list.length === 0 ? "" : `: ${renderSums(list)}`}`;
  });
}

const createdAt = ({ createdDate }: PaymentLink): number => parseInstant(String(createdDate))?.getTime() ?? 0;

/** By the names of the fields, so that `bulk` knows what they are. */
const CSV_COLUMNS = {
  createdDate: ({ createdDate }) => csvTime(parseInstant(String(createdDate))),
  amount: ({ amount }) => amount?.toString() ?? "",
  currency: ({ currency }) => currency ?? "",
  status: ({ status }) => status ?? "",
  paidDate: ({ paidDate }) => csvTime(parseInstant(String(paidDate))),
  expirationDate: ({ expirationDate }) => csvTime(parseInstant(String(expirationDate))),
  customerName: ({ customerName }) => customerName ?? "",
  invoiceId: ({ invoiceId }) => invoiceId ?? "",
  id: ({ id }) => id ?? "",
  url: ({ url }) => url ?? "",
} satisfies Readonly<Record<string, (link: PaymentLink) => string>>;

const LINKS_CSV_HEADER = Object.keys(CSV_COLUMNS).join(",");
const csvOf = (link: PaymentLink): string => csvRecord(Object.values(CSV_COLUMNS).map((cell) => cell(link)));

/** Columns of a terminal in which a row has room for what 80 columns have not. */
const WIDE = 120;

function tableOf(listed: readonly PaymentLink[], { out: { paint, lineWidth } }: Context): string {
  const offsets = new Set(listed.flatMap(({ createdDate }) => offsetOf(createdDate) ?? []));
  const [offset] = offsets.size === 1 ? offsets : [];
  const dateCell = (date: LinkDate): Cell => ({ text: minuteOf(date, offset), isWhole: true });
  const titleOfDate = (path: string): string =>
    `${fieldLabel(path)}${offset === undefined ? "" : ` (${offset})`}`;
  const moreCellsOf = (link: PaymentLink): [title: string, Cell][] => [
    ["kind", { text: linkKind(link), isWhole: true }],
    [titleOfDate("paidDate"), dateCell(link.paidDate)],
  ];
  const cellsOf = (link: PaymentLink): [title: string, Cell][] => [
    [fieldLabel("id"), { text: link.id ?? NO_VALUE, isWhole: true }],
    [titleOfDate("createdDate"), dateCell(link.createdDate)],
    [
      fieldLabel("status"),
      { text: link.status ?? NO_VALUE, isWhole: true, paint: (text) => paintStatus(text, paint) },
    ],
    [fieldLabel("amount"), { text: linkAmount(link) ?? NO_VALUE, right: true }],
    [fieldLabel("customerName"), { text: link.customerName ?? NO_VALUE }],
    [fieldLabel("invoiceId"), { text: link.invoiceId ?? NO_VALUE }],
    ...(lineWidth < WIDE ? [] : moreCellsOf(link)),
  ];
  const titles = cellsOf({}).map(([title]) => title.toUpperCase());
  const rows = listed.map((link) => cellsOf(link).map(([, cell]) => cell));
  return renderListing(titles, rows, { paint, lineWidth });
}

type LinkDate = PaymentLink["createdDate"];

/** `+01:00`, where it is the same for all links: then the header says it. */
const offsetOf = (date: LinkDate): string | undefined =>
  date ? /[+-]\d\d:\d\d$/.exec(localTime(date.toString()))?.[0] : undefined;

/** Without the seconds, and without the offset that the header has. */
function minuteOf(date: LinkDate, offset: string | undefined): string {
  if (!date) return NO_VALUE;
  const text = localTime(date.toString()).replace(/:\d\d (?=[+-]\d\d:\d\d$)/, " ");
  return offset === undefined ? text : text.replace(` ${offset}`, "");
}

/** Of one link, named by its id. */
type OneLink<Flags> = ValuesOf<Flags> & { readonly link: string };

export async function showLink(
  context: Context,
  { link: id, quiet, db }: OneLink<typeof showFlags>,
): Promise<number> {
  const { out, send, signal } = context;
  const shown = await (await context.api()).showLink(id);
  await showServiceLink(context, shown, quiet);
  const settings = await context.settings();
  const { terminalId, invoiceId } = shown.link;
  if (!out.json && !quiet) {
    const { orderLine } = await import("./order-line.ts");
    const line = await orderLine(context, { link: shown.link, id }, db);
    if (line !== undefined) out.data(line);
  }
  const elsewhere = terminalId === settings.get("terminalId") ? undefined : terminalId;
  const timeline = paylink`reconcile ${invoiceId || id} ${{ "--terminal-id": elsewhere }}`;
  if (!quiet) out.note(renderHint(hint`All that happened to it: ${timeline}`, context.named));
  if (out.json || quiet || settings.label !== "sandbox" || shown.link.linkOptions === undefined) return 0;
  const [{ findSandbox, linkPayments: paymentsOf }, { renderPayments }] = await Promise.all([
    import("../../service/sandbox.ts"),
    import("../../render/payments.ts"),
  ]);
  out.data(renderPayments(await paymentsOf(send, await findSandbox(context), id, signal), out));
  return 0;
}

export async function updateLink(
  context: Context,
  { link, description, expires, quiet }: OneLink<typeof updateFlags>,
): Promise<number> {
  const api = await context.api();
  const updated = await api.updateLink(link, {
    ...(description === undefined ? {} : { description }),
    ...(expires === undefined ? {} : { expirationDate: formatInstant(expires) }),
  });
  await showServiceLink(context, updated, quiet);
  return 0;
}

/** Continues after a refusal, which concerns one link; any other failure would repeat with the next link. */
export async function cancelLinks(
  context: Context,
  { links, quiet }: { readonly links: readonly string[]; readonly quiet: boolean },
): Promise<number> {
  const { out, signal } = context;
  const ids = [...new Set(links)];
  const api = await context.api();
  const service = await context.settings();
  const what = wordFor(ids.length, `link ${safeText(ids.join())}`, `${ids.length} links`);
  if (!(await isConfirmed(context, `Cancel ${what}? (${renderServiceName(service, out.notePaint)})`)))
    return saidNo(context);
  const failures = new Map<string, PaylinkError>();
  for (const id of ids) {
    signal.throwIfAborted();
    try {
      const cancelled = await api.cancelLink(id);
      const { status = NO_VALUE, url = id } = cancelled.link;
      const words = `${safeText(id)}  ${paintStatus(safeText(status), out.paint)}`;
      printLink({ ...cancelled, link: { url } }, quiet, context, () => words);
    } catch (error) {
      if (!(error instanceof PaylinkError)) throw error;
      failures.set(id, error);
      if (error.code !== "refused") break;
    }
  }
  if (!quiet) out.note(renderServiceName(service, out.notePaint));
  const [first] = failures.values();
  if (first !== undefined) throw ids.length === 1 ? first : cancelFailure(failures, first, ids);
  return 0;
}

/** The last failure decides the code: after one that is not a refusal nothing more was sent. */
function cancelFailure(
  failures: ReadonlyMap<string, PaylinkError>,
  first: PaylinkError,
  ids: readonly string[],
): PaylinkError {
  const [failed, last] = [...failures].at(-1) ?? ["", first];
  const untried = last.code === "refused" ? [] : ids.slice(ids.indexOf(failed) + 1);
  const problems: Problem[] = [
    ...[...failures].map(([at, { message }]) => ({ at, message })),
    ...untried.map((at) => ({ at, message: "was not tried" })),
  ];
  const count = `${problems.length} of ${ids.length} links`;
  const message =
    last.code === "outcome_unknown"
      ? `${count} may not have been cancelled.`
      : `${count} ${wordFor(problems.length, "was", "were")} not cancelled.`;
  return new PaylinkError(last.code, message, {
    problems,
    hints: last.code === "refused" ? [hint`To see a link: ${paylink`links show <id>`}`] : last.hints,
    details: last.details,
  });
}
