/** Turns the flags of `events` and its subcommands into what each needs. */
import type { Context } from "../../context.ts";
import type { Route } from "../../receiver/forward.ts";
import type { EventFilter } from "../../receiver/event-store.ts";
import { createFlagReader, type FlagReader, type ReadValue } from "../flag-reader.ts";
import { readRoutes } from "../forward-flags.ts";
import { parseEventStore, parseLimit, parseOutcome, parseSince } from "../flag-values.ts";
import type { FilterFlags, ListFlags, PruneFlags, ReplayFlags } from "./flags.ts";

interface Database {
  /** Where events are kept: a file or a URL; undefined is the default location. */
  readonly database: string | undefined;
}

export interface ExportOptions extends Database {
  readonly filter: EventFilter;
}

export interface ListOptions extends ExportOptions {
  readonly rejected: boolean;
  readonly quiet: boolean;
}

export interface ShowOptions extends Database {
  /** The uti or the id, or the start of one. */
  readonly name: string;
}

export interface ReplayOptions extends ExportOptions {
  /** The events to send; if there are none, all that pass the filter. */
  readonly names: readonly string[];
  readonly routes: readonly Route[];
  readonly insecure: boolean;
}

export interface PruneOptions extends Database {
  readonly before: Date;
}

/** One screen; `--limit` changes it. */
const DEFAULT_LIMIT = 20;

/** Throws one `usage` error with every problem, as each of these does. */
export function listOptions(flags: ListFlags, { now, out }: Pick<Context, "now" | "out">): ListOptions {
  const reader = createFlagReader();
  const filter = readFilter(reader, flags, now());
  const database = reader.read("--db", flags.db, parseEventStore);
  if (flags.quiet === true && out.json) reader.problem("--quiet", "cannot be used with --json");
  const { rejected = false, failed = false } = flags;
  reader.exclude("--failed", failed, { "--rejected": rejected });
  if (rejected)
    refuse(reader, "--rejected", "lists webhooks without a record", flags, ["outcome", "reference"]);
  reader.finish("Nothing was listed.");
  return {
    filter: { ...filter.value, failed, limit: filter.value.limit ?? DEFAULT_LIMIT },
    rejected,
    quiet: flags.quiet ?? false,
    database: database.value,
  };
}

export function showOptions(name: string, flags: { readonly db?: string }): ShowOptions {
  const reader = createFlagReader();
  const database = reader.read("--db", flags.db, parseEventStore);
  reader.finish("Nothing was shown.");
  return { name, database: database.value };
}

export function exportOptions(flags: FilterFlags, now: Date): ExportOptions {
  const reader = createFlagReader();
  const filter = readFilter(reader, flags, now);
  const database = reader.read("--db", flags.db, parseEventStore);
  reader.finish("Nothing was exported.");
  return { filter: filter.value, database: database.value };
}

export function replayOptions(names: readonly string[], flags: ReplayFlags, now: Date): ReplayOptions {
  const reader = createFlagReader();
  const filter = readFilter(reader, flags, now);
  const routes = readRoutes(reader, "--to", flags.to);
  if (flags.to === undefined) reader.problem("--to", "is required");
  const database = reader.read("--db", flags.db, parseEventStore);
  const all = flags.all ?? false;
  if (names.length === 0 && !all) reader.problem("<uti...>", "is required, or --all");
  if (names.length > 0 && all) reader.problem("--all", "cannot be used with single events");
  const { failed = false } = flags;
  if (names.length > 0) {
    refuse(reader, "<uti...>", "names single events", flags, FILTERS);
    reader.exclude("--failed", failed, { "<uti...>": names });
  }
  reader.finish("Nothing was replayed.");
  return {
    names,
    filter: { ...filter.value, failed },
    routes: routes.value,
    insecure: flags.insecure ?? false,
    database: database.value,
  };
}

export function pruneOptions(flags: PruneFlags, now: Date): PruneOptions {
  const reader = createFlagReader();
  const before = reader.read("--before", flags.before, parseSince(now));
  const database = reader.read("--db", flags.db, parseEventStore);
  reader.finish("Nothing was deleted.");
  return { before: before.value, database: database.value };
}

const FILTERS = ["outcome", "reference", "since", "until", "limit"] as const;

/** Reports each given flag that has no effect. */
function refuse(
  reader: FlagReader,
  at: string,
  reason: string,
  flags: FilterFlags,
  names: readonly (typeof FILTERS)[number][],
): void {
  for (const name of names)
    if (flags[name] !== undefined) reader.problem(`--${name}`, `cannot be used with ${at}, which ${reason}`);
}

/** No event is received both since a time and before an earlier one. */
function refuseEmptyPeriod(reader: FlagReader, { since, until }: FilterFlags, now: Date): void {
  if (since === undefined || until === undefined) return;
  const [from, to] = [since, until].map(parseSince(now));
  if (from?.ok && to?.ok && from.value >= to.value)
    reader.problem("--until", `must be later than --since ${since} (got "${until}")`);
}

function readFilter(reader: FlagReader, flags: FilterFlags, now: Date): ReadValue<EventFilter> {
  const outcome = reader.read("--outcome", flags.outcome, parseOutcome);
  const since = reader.read("--since", flags.since, parseSince(now));
  const until = reader.read("--until", flags.until, parseSince(now));
  const limit = reader.read("--limit", flags.limit, parseLimit);
  refuseEmptyPeriod(reader, flags, now);
  return {
    get value() {
      return {
        outcome: outcome.value,
        reference: flags.reference,
        since: since.value,
        until: until.value,
        limit: limit.value,
      };
    },
  };
}
