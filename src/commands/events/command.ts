/** `paylink events`: what `listen` stored, to be listed, shown, replayed, exported and pruned. */
import type { Command } from "@commander-js/extra-typings";
import { examples, oneOf, type Register } from "../declare.ts";

export interface FilterFlags {
  readonly outcome?: string;
  readonly reference?: string;
  readonly since?: string;
  readonly until?: string;
  readonly limit?: string;
  readonly db?: string;
}

export interface ListFlags extends FilterFlags {
  readonly rejected?: boolean;
  readonly quiet?: boolean;
}

export interface ReplayFlags extends FilterFlags {
  readonly all?: boolean;
  readonly to?: string;
  readonly insecure?: boolean;
}

export interface PruneFlags {
  readonly before: string;
  readonly db?: string;
}

const withDatabase = (command: Command): Command =>
  command.option("--db <path>", "where events are kept (default: in paylink's data folder)");

const withFilter = (command: Command): Command =>
  withDatabase(command)
    .addOption(oneOf("--outcome <outcome>", "only these", ["approved", "declined", "cancelled", "unclear"]))
    .option("--reference <text>", "those whose reference contains this")
    .option("--since <when>", "received from then on: ISO 8601, or so long ago (2h, 7d)")
    .option("--until <when>", "received before then")
    .option("--limit <count>", "the newest so many");

export const registerEvents: Register = (program, start) => {
  const events = program.command("events").description("list, show, replay and export what listen received");
  examples(events, ["paylink events", "paylink events list --outcome declined --since 7d"]);
  const list = withFilter(events.command("list", { isDefault: true }).description("list the newest events"))
    .option("--rejected", "what was turned away instead")
    .option("-q, --quiet", "print the utis alone (of what was turned away, the ids)")
    .action(async (flags: ListFlags) => (await import("./list.ts")).list(await start(list), flags));
  examples(list, ["paylink events list --outcome declined --since 7d", "paylink events list --rejected"]);
  const show = withDatabase(
    events
      .command("show")
      .description("show an event whole: record, headers, checks, deliveries and forwards")
      .argument("<uti>", "the uti or the id, or the beginning of one"),
  ).action(async (uti: string, flags: { db?: string }) =>
    (await import("./show.ts")).show(await start(show), uti, flags),
  );
  examples(show, [
    "paylink events show $(paylink events list --limit 1 --quiet)",
    "paylink events show $(paylink events list --limit 1 --quiet) --json",
  ]);
  const replay = withFilter(
    events
      .command("replay")
      .description("send events to your application again, with the bytes and headers they came with")
      .argument("[uti...]", "utis or ids, or the beginnings of some"),
  )
    .option("--all", "every event that passes the filter, in order of arrival")
    .option("--to <target>", "where to: 3000, localhost:3000/hook, /hook or a URL")
    .option("--insecure", "take a self-signed certificate from the target")
    .action(async (utis: string[], flags: ReplayFlags) =>
      (await import("./replay.ts")).replay(await start(replay), utis, flags),
    );
  examples(replay, [
    "paylink events replay --all --since 1h --to localhost:3000/webhooks",
    "paylink events replay $(paylink events list --limit 1 --quiet) --to 3000",
  ]);
  const exporting = withFilter(
    events.command("export").description("print events as the lines of listen --json"),
  ).action(async (flags: FilterFlags) =>
    (await import("./export.ts")).exportEvents(await start(exporting), flags),
  );
  examples(exporting, ["paylink events export > events.jsonl", "paylink events export --outcome approved"]);
  const prune = withDatabase(events.command("prune").description("forget old events"))
    .requiredOption("--before <when>", "what was received before then: ISO 8601, or so long ago (30d)")
    .action(async (flags: PruneFlags) => (await import("./prune.ts")).prune(await start(prune), flags));
  examples(prune, ["paylink events prune --before 90d", "paylink events prune --before 2026-01-01"]);
};
