/** `paylink events`: its subcommands and their help. */
import { examples, type Declare } from "../declare.ts";
import { databaseFlag, filterFlags, listFlags, pruneFlags, replayFlags } from "./flags.ts";

export const declareEvents: Declare = (events, execute) => {
  examples(events, ["paylink events", "paylink events list --outcome declined --since 7d"]);

  const list = listFlags(
    events.command("list", { isDefault: true }).description("list the newest events"),
  ).action((flags) =>
    execute(list, async (context) => {
      const { listOptions } = await import("./options.ts");
      const { listEvents } = await import("./list-events.ts");
      return listEvents(context, listOptions(flags, context));
    }),
  );
  examples(list, [
    "paylink events list --outcome declined --since 7d",
    "paylink events list --failed",
    "paylink events list --rejected",
  ]);

  const show = databaseFlag(
    events
      .command("show")
      .description("show one event in full: record, headers, checks, deliveries and forwards"),
  )
    .argument("<uti>", "the uti or the id, or the start of one")
    .action((uti, flags) =>
      execute(show, async (context) => {
        const { showOptions } = await import("./options.ts");
        const { showEvent } = await import("./show-event.ts");
        return showEvent(context, showOptions(uti, flags));
      }),
    );
  examples(show, [
    "paylink events show $(paylink events list --limit 1 --quiet)",
    "paylink events show $(paylink events list --limit 1 --quiet) --json",
  ]);

  const replay = replayFlags(
    events
      .command("replay")
      .description("send events to your application again, with their original bytes and headers"),
  )
    .argument("[uti...]", "utis or ids, or the start of each")
    .action((utis, flags) =>
      execute(replay, async (context) => {
        const { replayOptions } = await import("./options.ts");
        const { replayEvents } = await import("./replay-events.ts");
        return replayEvents(context, replayOptions(utis, flags, context.now()));
      }),
    );
  examples(replay, [
    "paylink events replay --all --since 1h --to localhost:3000/webhooks",
    "paylink events replay --all --failed --to 3000",
    "paylink events replay $(paylink events list --limit 1 --quiet) --to 3000",
  ]);

  const exporting = filterFlags(
    events.command("export").description("print events as the lines of listen --json"),
  ).action((flags) =>
    execute(exporting, async (context) => {
      const { exportOptions } = await import("./options.ts");
      const { exportEvents } = await import("./export-events.ts");
      return exportEvents(context, exportOptions(flags, context.now()));
    }),
  );
  examples(exporting, ["paylink events export > events.jsonl", "paylink events export --outcome approved"]);

  const prune = pruneFlags(events.command("prune").description("delete old events")).action((flags) =>
    execute(prune, async (context) => {
      const { pruneOptions } = await import("./options.ts");
      const { pruneEvents } = await import("./prune-events.ts");
      return pruneEvents(context, pruneOptions(flags, context.now()));
    }),
  );
  examples(prune, ["paylink events prune --before 90d", "paylink events prune --before 2026-01-01 --yes"]);
};
