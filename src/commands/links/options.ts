/** Turns the flags of `links` and its subcommands into what each needs. */
import type { Context } from "../../context.ts";
import { accepted, type Parsed, refused } from "../../domain/parse-result.ts";
import { LINK_STATUSES, type PaymentLinkUpdate } from "../../domain/payment-link-reply.ts";
import { parseWebAddress } from "../../domain/addresses.ts";
import { formatInstant, parseWhen } from "../../domain/time.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseChoice, parseLimit, parseSince, parseTimeout } from "../flag-values.ts";
import { type LinkFlags, type ListFlags, SINCE, type TimeoutFlags, type UpdateFlags } from "./flags.ts";

interface CommonOptions {
  /** Print URLs alone. */
  readonly quiet: boolean;
  /** Milliseconds for the whole command. */
  readonly timeout: number | undefined;
}

export interface ListOptions extends CommonOptions {
  /** Undefined only without an account, which the command then reports. */
  readonly terminalId: string | undefined;
  readonly from: Date;
  /** Nobody asked for the period: the usual one. */
  readonly isUsualPeriod: boolean;
  readonly to: Date;
  readonly status: string | undefined;
  readonly limit: number;
}

export interface LinkOptions extends CommonOptions {
  readonly id: string;
}

export interface UpdateOptions extends LinkOptions {
  readonly changes: PaymentLinkUpdate;
}

export interface CancelOptions extends CommonOptions {
  /** Each once. */
  readonly ids: readonly string[];
}

/** Milliseconds: a link may have been created by a clock that is ahead of this one. */
const CLOCK_DIFFERENCE = 60_000;

/** Throws one `usage` error with every problem, as each of these does. */
export async function listOptions(
  flags: ListFlags,
  context: Pick<Context, "settings" | "serviceTime">,
): Promise<ListOptions> {
  const settings = await context.settings();
  const { now } = await context.serviceTime();
  const terminalId = settings.get("terminalId", flags.terminalId);
  const reader = createFlagReader();
  const status = reader.read("--status", flags.status, parseChoice(LINK_STATUSES));
  const typedSince = flags.since ?? SINCE;
  const since = reader.read("--since", typedSince, parseSince(now));
  const until = reader.read("--until", flags.until, parseSince(now));
  const limit = reader.read("--limit", flags.limit, parseLimit);
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  const [from, to] = [parseWhen(typedSince, now, -1), parseWhen(flags.until ?? "0s", now, -1)];
  if (from.ok && to.ok && from.value >= to.value)
    reader.problem(
      flags.until === undefined ? "--since" : "--until",
      flags.until === undefined
        ? `must be in the past (got "${typedSince}")`
        : `must be later than --since ${typedSince} (got "${flags.until}")`,
    );
  if (terminalId === undefined && settings.get("baseUrl") !== undefined)
    reader.problem("--terminal-id", "is required, because a service lists the links of one terminal");
  reader.finish("Nothing was listed.");
  return {
    terminalId,
    from: since.value,
    isUsualPeriod: flags.since === undefined,
    to: until.value ?? new Date(now.getTime() + CLOCK_DIFFERENCE),
    status: status.value,
    limit: limit.value ?? Number.POSITIVE_INFINITY,
    quiet: flags.quiet ?? false,
    timeout: timeout.value,
  };
}

/** `consequence` says what did not happen. */
export function linkOptions(text: string, flags: TimeoutFlags & LinkFlags, consequence: string): LinkOptions {
  const reader = createFlagReader();
  const id = reader.read("<link>", text, parseLinkId);
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  reader.finish(consequence);
  return { id: id.value, quiet: flags.quiet ?? false, timeout: timeout.value };
}

export async function updateOptions(
  text: string,
  flags: UpdateFlags,
  { serviceTime }: Pick<Context, "serviceTime">,
): Promise<UpdateOptions> {
  const { now } = await serviceTime();
  const { description } = flags;
  const reader = createFlagReader();
  const id = reader.read("<link>", text, parseLinkId);
  const expires = reader.read("--expires", flags.expires, (when) => parseWhen(when, now));
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  if (description === undefined && flags.expires === undefined)
    reader.problem("--description", "or --expires is required: nothing else of a link can be changed");
  reader.finish("Nothing was changed.");
  return {
    id: id.value,
    changes: {
      ...(description === undefined ? {} : { description }),
      ...(expires.value === undefined ? {} : { expirationDate: formatInstant(expires.value) }),
    },
    quiet: flags.quiet ?? false,
    timeout: timeout.value,
  };
}

export function cancelOptions(texts: readonly string[], flags: LinkFlags): CancelOptions {
  const reader = createFlagReader();
  const ids = reader.readAll("<link...>", texts, parseLinkId);
  const timeout = reader.read("--timeout", flags.timeout, parseTimeout);
  reader.finish("Nothing was cancelled.");
  return { ids: [...new Set(ids.value)], quiet: flags.quiet ?? false, timeout: timeout.value };
}

/** The id itself, or the parameter `r` of the link's URL. An id of dots would be another path at the service. */
function parseLinkId(text: string): Parsed<string> {
  const url = parseWebAddress(text.trim());
  const id = url === undefined ? text.trim() : (url.searchParams.get("r") ?? "");
  if (/^[^\s/?#]+$/u.test(id) && !/^\.+$/.test(id)) return accepted(id);
  return refused(
    url === undefined
      ? "must be the id or the URL of a link"
      : "must be the URL of a link, which has the link's id as parameter r",
  );
}
