/** The flags of `paylink events`, in the order in which its help shows them. */
import { OUTCOME_NAMES } from "../../domain/outcome.ts";
import type { RejectionFilter, Selection } from "../../store/selection.ts";
import { flag, text, toggle } from "../command.ts";
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
} from "../shared-flags.ts";

/**
 * Which events. Every command that takes a filter takes all of them, as they are: one that an order would not know selects
 * everything.
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
    "received at or after this time: ISO 8601, or a time ago (2h, 7d)",
    parsePast,
    { example: "7d" },
  ),
  until: flag("--until <when>", "received before this time, or by the end of this day", parseEnd, {
    example: "1h",
  }),
} satisfies Partial<Readonly<Record<keyof Selection, unknown>>>;

type SelectionFlag = keyof typeof selectionFlags;

/** Their names, for the rules between flags. */
export const SELECTION_FLAGS = Object.keys(selectionFlags) as readonly SelectionFlag[];

type TimeFlag = Extract<SelectionFlag, keyof RejectionFilter>;

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
  compact: toggle("--compact", "one line for each; with --json, without record and body"),
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
