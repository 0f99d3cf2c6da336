/** `paylink events`: its subcommands with their help, the rules between their flags, and what runs them. */
import { OUTCOME_NAMES } from "../../domain/outcome.ts";
import type { EventQuery } from "../../store/event-query.ts";
import { flag, text, toggle, argument, command, excludes, needs, type Usage } from "../command.ts";
import { parseEnd, parseLimit, parseOutcome, parsePast } from "../flag-values.ts";
import {
  csvFlag,
  eventStoreFlag as db,
  forwardingKeyFlag,
  forwardTimeoutFlag,
  ownKeyFlag,
  policyFlags,
  quietFlag,
  serviceKeyFlag,
  targetsFlag,
  timeoutFlag,
  checkConfirmable,
  checkPeriod,
  checkTargets,
} from "../shared-flags.ts";
import { withoutPassword } from "../../values/url-passwords.ts";
import { isBroker } from "../../receiver/brokers/addresses.ts";
import { nearest } from "../../values/parse-result.ts";

/** Members of a query that are arguments, flags of their own, or follow from the keys; pages alone select by path. */
type WithoutFlag = "order" | "sought" | "state" | "keys" | "otherThan" | "path";

/**
 * Which events. Every command that takes a filter takes all of them, as they are: one that an order would not know selects
 * everything. A member of a query without its flag does not compile.
 */
const selectionFlags = {
  outcome: flag("--outcome <outcome>", "only payments with this outcome", parseOutcome, {
    choices: OUTCOME_NAMES,
    example: "declined",
  }),
  reference: flag("--reference <text>", "only records whose reference contains this text", text, {
    example: "INV-1",
  }),
  since: flag(
    "--since <when>",
    "received at or after this time: a date, ISO 8601, or a time ago (2h, 7d)",
    parsePast,
    { example: "7d" },
  ),
  until: flag("--until <when>", "received before this time, or by the end of this day", parseEnd, {
    example: "1h",
  }),
} satisfies Readonly<Record<Exclude<keyof EventQuery, WithoutFlag>, unknown>>;

type SelectionFlag = keyof typeof selectionFlags;

/** Their names, for the rules between flags. */
export const SELECTION_FLAGS = Object.keys(selectionFlags) as readonly SelectionFlag[];

type TimeFlag = Extract<SelectionFlag, "since" | "until">;

const isTimeFlag = (name: SelectionFlag): name is TimeFlag => name === "since" || name === "until";

/** Those that select by the record, which a rejected webhook does not have. */
export const RECORD_FLAGS = SELECTION_FLAGS.filter(
  (name): name is Exclude<SelectionFlag, TimeFlag> => !isTimeFlag(name),
);

const limit = flag("--limit <count>", "at most this many, the newest ones", parseLimit, { example: "5" });

const NOT_ACCEPTED =
  "only those that your application has not accepted and that are not retried automatically";

/** One screen; `--limit` changes it. */
export const DEFAULT_LIMIT = 20;

export const listFlags = {
  failed: toggle("--failed", NOT_ACCEPTED),
  pending: toggle("--pending", "only those that wait to be forwarded, with their attempts so far"),
  rejected: toggle("--rejected", "list rejected webhooks instead"),
  ...selectionFlags,
  limit,
  all: toggle("--all", `every event, instead of the newest ${DEFAULT_LIMIT}`),
  csv: csvFlag,
  quiet: quietFlag("the utis (for rejected webhooks, the ids)"),
  db,
};

/** Seconds: nobody waits for the answer of the application. */
const REPLAY_SECONDS = 30;

export const replayFlags = {
  to: targetsFlag("--to <target>"),
  all: toggle("--all", "every event that passes the filter, in order of arrival"),
  failed: toggle("--failed", `with --all: ${NOT_ACCEPTED}`),
  ...selectionFlags,
  limit,
  compare: toggle(
    "--compare",
    "list the events whose answer now is of another class (2xx, 4xx, 5xx) than the recorded one",
  ),
  strict: toggle("--strict", "with --compare: another status of the same class is a difference too"),
  settle: toggle(
    "--settle",
    "count an accepted replay as the delivery, so that a running listen does not send the event again",
  ),
  signWith: forwardingKeyFlag,
  key: ownKeyFlag,
  insecure: toggle("--insecure", "accept a self-signed certificate from the target"),
  forwardTimeout: forwardTimeoutFlag(" for each event", REPLAY_SECONDS),
  timeout: timeoutFlag("none", "Not every event was sent and answered; the last one may have arrived."),
  quiet: quietFlag("the utis of what was sent"),
  db,
};

/** What arrives from now on has no end. */
const { until: _, ...tailSelection } = selectionFlags;

export const tailFlags = {
  ...tailSelection,
  rejected: toggle("--rejected", "print rejected webhooks instead"),
  full: toggle("--full", "every field of the record, instead of a card"),
  compact: toggle("--compact", "one line for each; with --json, without headers, record and body"),
  db,
};

export const retryFlags = {
  all: toggle("--all", "every event that failed or waits, and passes the filter"),
  ...selectionFlags,
  key: ownKeyFlag,
  db,
};

export const acceptFlags = {
  all: toggle("--all", "every rejected webhook"),
  key: serviceKeyFlag,
  ...policyFlags,
  db,
};

/** What names an event. */
const EVENT = { example: "$(paylink events list --limit 1 --quiet)" };
const anyUtis = argument("[uti...]", "utis or ids, or the start of each", text, EVENT);

function checkNamed(at: string, names: readonly string[], all: boolean, { problems }: Usage): void {
  if (names.length === 0 && !all) problems.push({ at, message: "is required, or --all" });
}

/** `paylink events lst` names an order for commander, because this command is the default. */
function checkOrder(order: string, { problems }: Usage): void {
  const near = nearest(order, Object.keys(SUBCOMMANDS));
  if (near !== undefined)
    problems.push({
      at: "<order>",
      message: `looks like a command: did you mean ${near}? (got "${order}")`,
    });
  else if (order !== "" && !/\d/.test(order))
    problems.push({
      at: "<order>",
      message: `is not a command of events; did you mean ${nearest(order, Object.keys(SUBCOMMANDS), () => true)}? To find an order number without a digit, use --reference (got "${order}")`,
    });
}

const SUBCOMMANDS = {
  list: command({
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
    flags: listFlags,
    rules: [
      excludes(["failed", "pending"], ["rejected"]),
      excludes(["failed"], ["pending"]),
      excludes(["all"], ["limit"]),
      excludes(["csv"], ["quiet"]),
      excludes(["order", ...RECORD_FLAGS], ["rejected"], "lists webhooks without a record"),
    ],
    consequence: "Nothing was listed.",
    check: ({ ifRead }, usage) => {
      ifRead(["since", "until"], (period) => checkPeriod(period, usage));
      ifRead(["order"], ({ order = "" }) => checkOrder(order, usage));
    },
    run: async (context, values) => (await import("./stored-events.ts")).listEvents(context, values),
  }),
  show: command({
    summary: "show one event, with each attempt and who retried or skipped it, or the payments of an order",
    examples: [
      "paylink events show $(paylink events list --limit 1 --quiet)",
      "paylink events show $(paylink events list --limit 1 --quiet) --json",
    ],
    arguments: {
      uti: argument(
        "<uti>",
        "the uti, the id or the order number, or the start of the uti or id",
        text,
        EVENT,
      ),
    },
    flags: { full: toggle("--full", "every field of the record, and the request"), db },
    consequence: "Nothing was shown.",
    run: async (context, values) => (await import("./show-event.ts")).showEvent(context, values),
  }),
  stats: command({
    summary: "count what is delivered, pending, failed and skipped, with the sums, and what was rejected",
    examples: ["paylink events stats", "paylink events stats --json"],
    flags: { db },
    consequence: "Nothing was counted.",
    run: async (context, values) => (await import("./stored-events.ts")).showStats(context, values.db),
  }),
  replay: command({
    summary: "send events to your application again, with their original bytes and headers",
    examples: [
      "paylink events replay --all --since 1h --to localhost:3000/webhooks",
      "paylink events replay --all --failed --to 3000 --sign-with forward.pem",
      "paylink events replay $(paylink events list --limit 1 --quiet) --to 3000",
      "paylink events replay --all --since 7d --to 3001 --compare --sign-with forward.pem",
    ],
    notes:
      "--compare sends stored webhooks to a new build of your application, and does not count them as delivered. Events without a recorded answer are left out. Exit code 10: an answer differs.",
    arguments: { uti: anyUtis },
    flags: replayFlags,
    rules: [
      excludes(["all", "failed"], ["uti"]),
      excludes([...SELECTION_FLAGS, "limit"], ["uti"], "names single events"),
      excludes(["settle"], ["compare"], "counts nothing as delivered"),
      needs(["strict"], ["compare"]),
    ],
    consequence: "Nothing was replayed.",
    check: ({ ifRead }, usage) => {
      ifRead(["uti", "all"], ({ uti, all }) => checkNamed("<uti...>", uti, all, usage));
      ifRead(["to", "compare"], ({ to, compare }) => {
        if (to.length === 0) usage.problems.push({ at: "--to", message: "is required" });
        for (const { url } of compare ? to : [])
          if (isBroker(url))
            usage.problems.push({
              at: "--to",
              message: `must be an application with --compare: a broker gives no answer of its own (got "${withoutPassword(url.href)}")`,
            });
        checkTargets("--to", to, usage);
      });
      ifRead(["since", "until"], (period) => checkPeriod(period, usage));
    },
    run: async (context, values) =>
      values.compare
        ? (await import("./compare-answers.ts")).compareAnswers(context, values)
        : (await import("./replay-events.ts")).replayEvents(context, values),
  }),
  tail: command({
    summary: "print events as they arrive, as listen does, until Ctrl-C",
    examples: [
      "paylink events tail --outcome declined",
      "paylink events tail --since 1h --compact",
      "paylink events tail --rejected --json",
    ],
    flags: tailFlags,
    rules: [
      excludes([...RECORD_FLAGS, "full", "compact"], ["rejected"], "prints webhooks without a record"),
      excludes(["full"], ["compact"]),
    ],
    consequence: "Nothing was shown.",
    run: async (context, values) => (await import("./tail-events.ts")).tailEvents(context, values),
  }),
  retry: command({
    summary: "let a running listen --ack stored forward failed and waiting events now",
    examples: [
      "paylink events retry --all",
      "paylink events retry --all --since 1h --json",
      "paylink events list --failed --limit 1 --quiet | xargs -r paylink events retry",
    ],
    arguments: { uti: anyUtis },
    flags: retryFlags,
    rules: [excludes(["all"], ["uti"]), excludes(SELECTION_FLAGS, ["uti"], "names single events")],
    consequence: "Nothing was changed.",
    check: ({ ifRead }, usage) => {
      ifRead(["uti", "all"], ({ uti, all }) => checkNamed("<uti...>", uti, all, usage));
      ifRead(["since", "until"], (period) => checkPeriod(period, usage));
    },
    run: async (context, values) => (await import("./order-events.ts")).retryEvents(context, values),
  }),
  skip: command({
    summary: "give events up: they are never forwarded",
    examples: [
      "paylink events list --failed --limit 1 --quiet | xargs -r paylink events skip --yes",
      "paylink events list --pending --limit 1 --quiet | xargs -r paylink events skip --yes --json",
    ],
    arguments: { uti: argument("<uti...>", "utis or ids, or the start of each", text, EVENT) },
    flags: { db },
    consequence: "Nothing was skipped.",
    check: checkConfirmable,
    run: async (context, values) => (await import("./order-events.ts")).skipEvents(context, values),
  }),
  accept: command({
    summary: "verify rejected webhooks again with today's keys, and store and forward the valid ones",
    examples: [
      "paylink events accept --all",
      "paylink events list --rejected --limit 1 --quiet | xargs -r paylink events accept",
    ],
    arguments: {
      id: argument("[id...]", "the ids, or the start of each", text, { example: "mf0q8s2b00c1vt" }),
    },
    flags: acceptFlags,
    rules: [excludes(["all"], ["id"])],
    consequence: "Nothing was accepted.",
    check: ({ ifRead }, usage) =>
      ifRead(["id", "all"], ({ id, all }) => checkNamed("<id...>", id, all, usage)),
    run: async (context, values) => (await import("./order-events.ts")).acceptEvents(context, values),
  }),
  prune: command({
    summary: "delete old events",
    examples: [
      "paylink events prune --before 90d --yes",
      "paylink events prune --before 2026-01-01 --yes --json",
    ],
    flags: {
      before: flag(
        "--before <when>",
        "delete what was received before this time: a date, ISO 8601, or a time ago (30d)",
        parsePast,
        { isRequired: true, example: "90d" },
      ),
      db,
    },
    consequence: "Nothing was deleted.",
    check: checkConfirmable,
    run: async (context, values) => (await import("./stored-events.ts")).pruneEvents(context, values),
  }),
};

export default command({
  examples: ["paylink events", "paylink events list --outcome declined --since 7d"],
  notes:
    "An event is one verified webhook. Its uti is the service's number for the payment, the same each time the webhook arrives. Its id is paylink's own number. A rejected webhook is one that listen refused; it is not an event.",
  commands: SUBCOMMANDS,
});
