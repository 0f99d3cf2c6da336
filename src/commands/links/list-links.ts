/** `paylink links list`: the newest links as a table, as JSON lines or as URLs. */
import type { Api } from "../../service/client.ts";
import type { Context } from "../../context.ts";
import { isJsonObject, type Json, memberOf, stringifyJson } from "../../domain/json.ts";
import { type PaymentLink, readPaymentLink } from "../../domain/payment-link-reply.ts";
import { formatInstant, parseInstant } from "../../domain/time.ts";
import { linkAmount, paintStatus } from "../../render/link.ts";
import { safeText } from "../../render/safe-text.ts";
import { renderServiceName } from "../../render/account.ts";
import { type Cell, renderTable, localTime } from "../../render/layout.ts";
import type { Usage } from "../command.ts";

interface ListFlags {
  /** Undefined only without an account, which the command then reports. */
  readonly terminalId: string | undefined;
  readonly since: Date | undefined;
  readonly until: Date | undefined;
  readonly status: string | undefined;
  readonly limit: number | undefined;
  readonly quiet: boolean;
  /** Milliseconds for the whole command. */
  readonly timeout: number | undefined;
}

type ListOptions = Awaited<ReturnType<typeof listOptions>>;

/** The period that is listed if nobody names another. */
const PERIOD = 7 * 86_400_000;

/** Milliseconds: a link may have been created by a clock that is ahead of this one. */
const CLOCK_DIFFERENCE = 60_000;

export async function listOptions(
  { terminalId: typed, since, until, ...flags }: ListFlags,
  { problems }: Usage,
  context: Context,
) {
  const settings = await context.settings();
  const { now } = await context.serviceTime();
  const terminalId = settings.get("terminalId", typed);
  const from = since ?? new Date(now.getTime() - PERIOD);
  if (from >= (until ?? now))
    problems.push(
      until === undefined
        ? { at: "--since", message: `must be in the past (got "${formatInstant(from)}")` }
        : {
            at: "--until",
            message: `must be later than --since ${formatInstant(from)} (got "${formatInstant(until)}")`,
          },
    );
  if (terminalId === undefined && settings.get("baseUrl") !== undefined)
    problems.push({
      at: "--terminal-id",
      message: "is required, because a service lists the links of one terminal",
    });
  return {
    ...flags,
    terminalId,
    from,
    /** Nobody asked for the period: the usual one. */
    isUsualPeriod: since === undefined,
    to: until ?? new Date(now.getTime() + CLOCK_DIFFERENCE),
  };
}

interface Listed {
  readonly json: Json;
  readonly link: PaymentLink;
}

export async function listLinks(context: Context, options: ListOptions): Promise<number> {
  const { out } = context;
  const { limit = Number.POSITIVE_INFINITY, quiet, timeout, isUsualPeriod } = options;
  const api = await context.api({ timeout });
  const listed = (await readPages(api, options)).map((json) => ({ json, link: readPaymentLink(json).link }));
  const newest = listed.toSorted((one, other) => createdAt(other) - createdAt(one)).slice(0, limit);
  if (out.json) out.lines(newest.map(({ json }) => stringifyJson(json)));
  else if (quiet) out.lines(newest.map(({ link }) => safeText(link.url ?? link.id ?? "")));
  else {
    if (newest.length > 0) out.lines([tableOf(newest, context)]);
    else out.note("No links found.");
    if (isUsualPeriod) out.note("Only the last 7 days are listed. Use --since for older links.");
    out.note(renderServiceName(await context.settings(), out.notePaint));
  }
  return 0;
}

/** The documented maximum is 5000; smaller pages need less memory. */
const PAGE_SIZE = 500;

/**
 * Every link of the period: no order of the pages is documented, so the newest can be on any of them. A page without new
 * links ends the list too, since a service may not say how many there are, or ignore the number of the page.
 */
async function readPages(
  api: Api,
  { terminalId = "", from, to, status }: ListOptions,
): Promise<readonly Json[]> {
  const found = new Map<string, Json>();
  for (let page = 1; ; page++) {
    const { totalCount, records } = await api.listLinks({
      terminalId,
      from,
      to,
      status,
      page,
      size: PAGE_SIZE,
    });
    const before = found.size;
    for (const record of records) found.set(keyOf(record), record);
    if (found.size === before || (totalCount !== undefined && found.size >= totalCount))
      return [...found.values()];
  }
}

function keyOf(record: Json): string {
  const id = isJsonObject(record) ? memberOf(record, "id") : undefined;
  return typeof id === "string" ? id : stringifyJson(record);
}

const createdAt = ({ link }: Listed): number => parseInstant(String(link.createdDate))?.getTime() ?? 0;

const HEADERS = ["CREATED", "STATUS", "AMOUNT", "CUSTOMER", "INVOICE", "ID"] as const;

function tableOf(listed: readonly Listed[], { out: { paint, lineWidth } }: Context): string {
  const header = HEADERS.map((text): Cell => ({ text, paint: paint.dim, right: text === "AMOUNT" }));
  const rows = listed.map(({ link }): Cell[] => [
    { text: link.createdDate ? localTime(link.createdDate.toString()).slice(0, MINUTES) : "–" },
    { text: link.status ?? "–", paint: (text) => paintStatus(text, paint) },
    { text: linkAmount(link) ?? "–", right: true },
    { text: link.customerName ?? "–" },
    { text: link.invoiceId ?? "–" },
    { text: link.id ?? "–" },
  ]);
  return renderTable([header, ...rows], lineWidth);
}

const MINUTES = "2026-11-21 10:15".length;
