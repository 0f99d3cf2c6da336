/** `paylink events`: its subcommands with their flags, their help, and what runs them. */
import { OUTCOME_NAMES } from "../../domain/outcome.ts";
import { nearest } from "../../domain/parse-result.ts";
import { parseUntil, parseWhen } from "../../domain/time.ts";
import {
  argument,
  command,
  excludes,
  flag,
  text,
  toggle,
  type Parser,
  type Usage,
  type ValuesOf,
} from "../command.ts";
import { parseLimit, parseOutcome } from "../flag-values.ts";
import {
  checkConfirmable,
  checkTargets,
  eventStoreFlag,
  forwardingKeyFlag,
  forwardTimeoutFlag,
  policyFlags,
  quietFlag,
  serviceKeyFlag,
  targetsFlag,
  timeoutFlag,
} from "../shared-flags.ts";

const parsePast: Parser<Date> = (typed, { now }) => parseWhen(typed, now(), -1);

const storeFlags = { db: eventStoreFlag };

/** What names an event. */
const EVENT = { example: "$(paylink events list --limit 1 --quiet)" };

/** Which events. */
const selectionFlags = {
  ...storeFlags,
  outcome: flag("--outcome <outcome>", "only payments with this outcome", parseOutcome, {
    choices: OUTCOME_NAMES,
    example: "declined",
  }),
  reference: flag("--reference <text>", "only records whose reference contains this text", text, {
    example: "INV-1",
  }),
  since: flag(
    "--since <when>",
    "received at or after this time: ISO 8601, or a time ago (2h, 7d)",
    parsePast,
    { example: "7d" },
  ),
  until: flag(
    "--until <when>",
    "received before this time, or by the end of this day",
    (typed, { now }) => parseUntil(typed, now()),
    { example: "1h" },
  ),
};

const limitFlag = flag("--limit <count>", "at most this many, the newest ones", parseLimit, { example: "5" });

const selectionOf = ({ outcome, reference, since, until }: Selection) => ({
  outcome,
  reference,
  since,
  until,
});

type Selection = ValuesOf<typeof selectionFlags>;
/** No event is received both since a time and before an earlier one. */
function checkPeriod({ since, until }: Selection, { problems }: Usage): void {
  if (since !== undefined && until !== undefined && since >= until)
    problems.push({
      at: "--until",
      message: `must be later than --since ${since.toISOString()} (got "${until.toISOString()}")`,
    });
}

/** One screen; `--limit` changes it. */
const DEFAULT_LIMIT = 20;

const list = command({
  summary: "list the newest events",
  examples: [
    "paylink events list --outcome declined --since 7d",
    "paylink events list --failed --all",
    "paylink events list --pending",
    "paylink events list --rejected",
    "paylink events list --all --json > events.jsonl",
  ],
  isDefault: true,
  arguments: {
    order: argument("[order]", "only the payments of this order number", text, { example: "INV-1" }),
  },
  flags: {
    ...selectionFlags,
    limit: limitFlag,
    all: toggle("--all", `every event, in place of the newest ${DEFAULT_LIMIT}`),
    failed: toggle(
      "--failed",
      "only those that your application has not accepted and that are not sent again by themselves",
    ),
    pending: toggle("--pending", "only those that wait to be forwarded, with their attempts so far"),
    rejected: toggle("--rejected", "list rejected webhooks instead"),
    quiet: quietFlag("the utis (for rejected webhooks, the ids)"),
  },
  rules: [
    excludes(["failed", "pending"], ["rejected"]),
    excludes(["failed"], ["pending"]),
    excludes(["all"], ["limit"]),
    excludes(["order", "outcome", "reference"], ["rejected"], "lists webhooks without a record"),
  ],
  consequence: "Nothing was listed.",
  check: (values, usage) => {
    checkPeriod(values, usage);
    const { order = "" } = values;
    // `paylink events lst` names an order for commander, because this command is the default.
    const near = nearest(order, [
      "list",
      "show",
      "stats",
      "replay",
      "tail",
      "retry",
      "skip",
      "accept",
      "prune",
    ]);
    if (near !== undefined)
      usage.problems.push({
        at: "<order>",
        message: `looks like a command: did you mean ${near}? (got "${order}")`,
      });
  },
  run: async (context, { order, rejected, failed, pending, quiet, all, limit, db, ...values }) => {
    const { listEvents } = await import("./stored-events.ts");
    const state = failed ? ("failed" as const) : pending ? ("pending" as const) : undefined;
    const isCut = !all && limit === undefined;
    const filter = {
      ...selectionOf({ db, ...values }),
      order,
      state,
      limit: isCut ? DEFAULT_LIMIT : limit,
    };
    return listEvents(context, { filter, isCut, rejected, quiet, database: db });
  },
});

const stats = command({
  summary: "say whether money is being lost now: what is not delivered, with its sums, and what was refused",
  examples: ["paylink events stats", "paylink events stats --json"],
  flags: storeFlags,
  consequence: "Nothing was counted.",
  run: async (context, { db }) => (await import("./stored-events.ts")).showStats(context, db),
});

const show = command({
  summary: "show one event, with each delivery and attempt, and who retried or skipped it",
  examples: [
    "paylink events show $(paylink events list --limit 1 --quiet)",
    "paylink events show $(paylink events list --limit 1 --quiet) --json",
  ],
  arguments: {
    uti: argument("<uti>", "the uti, the id or the order number, or the start of the uti or id", text, EVENT),
  },
  flags: { ...storeFlags, full: toggle("--full", "every field of the record, and the request") },
  consequence: "Nothing was shown.",
  run: async (context, { uti, db, full }) =>
    (await import("./show-event.ts")).showEvent(context, { name: uti, database: db, full }),
});

/** Nobody waits for the answer of the application. */
const REPLAY_SECONDS = 30;

const replay = command({
  summary: "send events to your application again, with their original bytes and headers",
  examples: [
    "paylink events replay --all --since 1h --to localhost:3000/webhooks",
    "paylink events replay --all --failed --to 3000 --sign-with forward.pem",
    "paylink events replay $(paylink events list --limit 1 --quiet) --to 3000",
  ],
  arguments: {
    uti: argument("[uti...]", "utis or ids, or the start of each", text, EVENT),
  },
  flags: {
    ...selectionFlags,
    limit: limitFlag,
    all: toggle("--all", "every event that passes the filter, in order of arrival"),
    failed: toggle(
      "--failed",
      "with --all: only those that your application has not accepted and that are not sent again by themselves",
    ),
    settle: toggle(
      "--settle",
      "an answer of success delivers the event: a running listen does not send it again",
    ),
    to: targetsFlag("--to <target>"),
    insecure: toggle("--insecure", "accept a self-signed certificate from the target"),
    signWith: forwardingKeyFlag,
    forwardTimeout: forwardTimeoutFlag(" for each event", REPLAY_SECONDS),
    timeout: timeoutFlag("none", "Not every event was sent and answered; the last one may have arrived."),
    quiet: quietFlag("the utis of what was sent"),
  },
  rules: [
    excludes(["all", "failed"], ["uti"]),
    excludes(["outcome", "reference", "since", "until", "limit"], ["uti"], "names single events"),
  ],
  consequence: "Nothing was replayed.",
  check: (values, usage, context) => {
    const { uti, all } = values;
    if (uti.length === 0 && !all) usage.problems.push({ at: "<uti...>", message: "is required, or --all" });
    const { to } = values;
    if (to.length === 0 && context.ask === undefined)
      usage.problems.push({ at: "--to", message: "is required" });
    checkTargets("--to", to, usage);
    checkPeriod(values, usage);
  },
  run: async (context, { uti, failed, to, ...values }) => {
    const { replayEvents } = await import("./replay-events.ts");
    const filter = {
      ...selectionOf(values),
      limit: values.limit,
      state: failed ? ("failed" as const) : undefined,
    };
    const { db: database, insecure, signWith, forwardTimeout, quiet, settle } = values;
    const how = { routes: to, insecure, signWith, forwardTimeout, quiet, settle };
    return replayEvents(context, { ...how, names: uti, filter, database });
  },
});

const { outcome, reference, since } = selectionFlags;

const tail = command({
  summary: "print events as they arrive, as listen does, until Ctrl-C",
  examples: [
    "paylink events tail --outcome declined",
    "paylink events tail --since 1h --compact",
    "paylink events tail --rejected --json",
  ],
  flags: {
    ...storeFlags,
    outcome,
    reference,
    since,
    rejected: toggle("--rejected", "print rejected webhooks instead"),
    full: toggle("--full", "every field of the record, in place of a card"),
    compact: toggle("--compact", "one line for each; with --json, without record and body"),
  },
  rules: [
    excludes(["outcome", "reference", "full", "compact"], ["rejected"], "prints webhooks without a record"),
    excludes(["full"], ["compact"]),
  ],
  consequence: "Nothing was shown.",
  run: async (context, { db, rejected, full, compact, ...filter }) =>
    (await import("./tail-events.ts")).tailEvents(context, { filter, rejected, full, compact, database: db }),
});

const retry = command({
  summary: "make events that failed or wait due now, for a running listen --ack stored",
  examples: [
    "paylink events retry --all",
    "paylink events retry --all --since 1h --json",
    "paylink events list --failed --limit 1 --quiet | xargs -r paylink events retry",
  ],
  arguments: { uti: argument("[uti...]", "utis or ids, or the start of each", text, EVENT) },
  flags: {
    ...selectionFlags,
    all: toggle("--all", "every event that failed or waits, and passes the filter"),
  },
  rules: [
    excludes(["all"], ["uti"]),
    excludes(["outcome", "reference", "since", "until"], ["uti"], "names single events"),
  ],
  consequence: "Nothing was changed.",
  check: (values, usage) => {
    const { uti, all } = values;
    if (uti.length === 0 && !all) usage.problems.push({ at: "<uti...>", message: "is required, or --all" });
    checkPeriod(values, usage);
  },
  run: async (context, { uti, db, ...values }) => {
    const { retryEvents } = await import("./order-events.ts");
    return retryEvents(context, { names: uti, selection: selectionOf({ db, ...values }), database: db });
  },
});

const skip = command({
  summary: "never forward these events, because your application will not accept them",
  examples: [
    "paylink events list --failed --limit 1 --quiet | xargs -r paylink events skip --yes",
    "paylink events list --pending --limit 1 --quiet | xargs -r paylink events skip --yes --json",
  ],
  arguments: { uti: argument("<uti...>", "utis or ids, or the start of each", text, EVENT) },
  flags: storeFlags,
  consequence: "Nothing was skipped.",
  check: checkConfirmable,
  run: async (context, { uti, db }) =>
    (await import("./order-events.ts")).skipEvents(context, { names: uti, database: db }),
});

const accept = command({
  summary: "judge rejected webhooks again with the keys of today, and store and forward those that verify",
  examples: [
    "paylink events accept --all",
    "paylink events list --rejected --limit 1 --quiet | xargs -r paylink events accept",
  ],
  arguments: {
    id: argument("[id...]", "the ids, or the start of each", text, { example: "mf0q8s2b00c1vt" }),
  },
  flags: {
    ...storeFlags,
    all: toggle("--all", "every rejected webhook"),
    key: serviceKeyFlag,
    ...policyFlags,
  },
  rules: [excludes(["all"], ["id"])],
  consequence: "Nothing was accepted.",
  check: ({ id, all }, usage) => {
    if (id.length === 0 && !all) usage.problems.push({ at: "<id...>", message: "is required, or --all" });
  },
  run: async (context, { id, db, ...values }) =>
    (await import("./order-events.ts")).acceptEvents(context, { ...values, names: id, database: db }),
});

const prune = command({
  summary: "delete old events",
  examples: [
    "paylink events prune --before 90d --yes",
    "paylink events prune --before 2026-01-01 --yes --json",
  ],
  flags: {
    ...storeFlags,
    before: flag(
      "--before <when>",
      "delete what was received before this time: ISO 8601, or a time ago (30d)",
      parsePast,
      { isRequired: true, example: "90d" },
    ),
  },
  consequence: "Nothing was deleted.",
  check: checkConfirmable,
  run: async (context, { before, db }) =>
    (await import("./stored-events.ts")).pruneEvents(context, before, db),
});

export const events = command({
  examples: ["paylink events", "paylink events list --outcome declined --since 7d"],
  commands: { list, show, stats, replay, tail, retry, skip, accept, prune },
});
