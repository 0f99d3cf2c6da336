/** The end of a bulk run: writes the results and the summary, and fails with the worst outcome. */
import { plural, formatCount, someOf } from "../../values/plural.ts";
import type { CheckedRow } from "../../bulk/read.ts";
import { canBePaid, earlierOutcome, type RowOutcome } from "../../bulk/outcome.ts";
import type { PlannedRow } from "../../bulk/plan.ts";
import type { List } from "../../lists/read-list.ts";
import { writeResults, type Result, type Sink } from "../../bulk/results.ts";
import { problemsText } from "../../bulk/row.ts";
import type { RowProblem } from "../../lists/row-problems.ts";
import type { ListEnd } from "../../bulk/run.ts";
import type { Context } from "../../context.ts";
import { FAILURES, PaylinkError, type FailureCode } from "../../domain/errors.ts";
import { hint, paylink, type Hint } from "../../domain/hint.ts";
import { stringifyJson } from "../../values/json.ts";
import { UNITS } from "../../values/time.ts";
import type { Sums } from "../../domain/money.ts";
import { renderServiceName } from "../../render/account.ts";
import { renderSums, renderTally, type Tally } from "../../render/bulk.ts";
import { renderHint } from "../../render/hint.ts";
import { safeText } from "../../render/safe-text.ts";
import { likeliestLinks } from "../../service/advice.ts";
import type { BulkOptions } from "./command.ts";
import type { PreparedList } from "./list.ts";
import { MOST_NAMED_ROWS, rowName } from "./named-rows.ts";
import { rerun } from "./rerun.ts";

/** Where the results go. */
export interface ResultsOutput {
  readonly format: List["format"];
  readonly sink: Sink;
  /** Undefined for standard output. */
  readonly path: string | undefined;
}

export interface RunEnd extends ListEnd {
  /** Where the service's answers broke the specification. */
  readonly violations: readonly RowProblem[];
  /** The links that ask the customer for another amount, or for somebody else, than was sent. */
  readonly asksForOther: readonly string[];
  /** Of the links that this run created. */
  readonly sums: Sums;
}

const KEEP_RESULTS = hint`paylink could not remember the last rows, so the next run will call them unknown. These results have them: keep a copy.`;
const CONTINUE = hint`Run the same command again to continue: no row is sent twice.`;

/** Throws what stopped the run, or else the worst outcome. */
export async function finishRun(
  context: Context,
  list: PreparedList,
  output: ResultsOutput,
  options: BulkOptions,
  { reason, violations, sums, outcomes, isDurable }: RunEnd,
): Promise<void> {
  const { out } = context;
  const { service = "" } = options;
  const tally = { ...EMPTY_TALLY };
  const named: string[] = [];
  const terminals = new Set<string | undefined>();
  const outcomeAt = (at: number, row: CheckedRow): RowOutcome =>
    resultOutcomeOf(list.planned[at], outcomes.get(at), row);
  const withoutLink: string[] = [];
  const perhapsWithoutLink: string[] = [];
  let unknownWithoutNumber = 0;
  for (const [at, row] of list.checked.rows.entries()) {
    const outcome = outcomeAt(at, row);
    const kind = kindOf(outcome);
    tally[kind]++;
    if (kind === "created") terminals.add(row.identity?.terminal);
    if (FAILED.has(kind) && named.length < MOST_NAMED_ROWS)
      named.push(`  ${rowName(row)}  ${kind}  ${safeText(outcome.error ?? "")}`);
    if (outcome.isWithoutLink === true)
      (kind === "unknown" ? perhapsWithoutLink : withoutLink).push(safeText(orderOrLine(row)));
    if (kind === "unknown" && (row.identity?.orderNumber ?? "") === "") unknownWithoutNumber++;
  }
  await writeResults(
    output.format,
    { list: list.list, results: resultsOf(list, outcomeAt), service },
    output.sink,
  );
  const failed = tally.refused + tally.not_reached + tally.unknown + tally.left;
  if (named.length > 0) out.note(named.join("\n"));
  if (failed > named.length) out.note(`  and ${formatCount(failed - named.length)} more, in the results`);
  const { path } = output;
  if (out.json) {
    const summary = await summaryOf(context, list, sums);
    out.data(
      stringifyJson({
        ...summary,
        ...tally,
        without_link: withoutLink,
        perhaps_without_link: perhapsWithoutLink,
        violations,
        output: path,
      }),
    );
  } else {
    const account = await context.settings();
    const isOnStdout = path === undefined;
    const paint = isOnStdout ? out.notePaint : out.paint;
    const lines = [
      renderTally(tally, paint),
      ...(tally.created > 0 ? [`${plural(tally.created, "link")}: ${renderSums(sums.list())}`] : []),
      ...(isOnStdout ? [] : [`Results in ${path}`]),
      renderServiceName(account, paint),
      ...(tally.created > 0 ? [renderHint(seeLinks(terminals, context.now()), context.named)] : []),
    ];
    if (isOnStdout) out.note(lines.join("\n"));
    else out.data(lines.join("\n"));
  }
  // Without --json, an interruption has no message that gives this advice.
  if (reason instanceof PaylinkError && reason.isInterruption && tally.not_sent > 0)
    out.note(renderHint(CONTINUE));
  const failure = runFailure(
    { reason, tally, withoutLink, perhapsWithoutLink, unknownWithoutNumber },
    isDurable ? [CONTINUE] : [KEEP_RESULTS, CONTINUE],
    context,
  );
  if (failure !== undefined) throw failure;
}

function* resultsOf(
  { checked }: PreparedList,
  outcomeAt: (at: number, row: CheckedRow) => RowOutcome,
): Generator<Result> {
  for (const [at, row] of checked.rows.entries())
    yield { row: row.row, outcome: outcomeAt(at, row), terminal: row.identity?.terminal };
}

const EMPTY_TALLY: Record<keyof Tally, number> = {
  created: 0,
  sent_before: 0,
  refused: 0,
  not_reached: 0,
  unknown: 0,
  left: 0,
  invalid: 0,
  skipped: 0,
  not_sent: 0,
};

/** What became of a row, in this run or before it. */
function resultOutcomeOf(
  planned: PlannedRow | undefined,
  sent: RowOutcome | undefined,
  row: CheckedRow,
): RowOutcome {
  if (planned === undefined || planned.state === "invalid")
    return { status: "invalid", error: problemsText(row.problems) };
  if (sent === undefined) return earlierOutcome(planned);
  const { others } = planned;
  return sent.status === "created" && others.length > 0 ? { ...sent, error: canBePaid(others) } : sent;
}

const orderOrLine = ({ row, identity }: CheckedRow): string => identity?.orderNumber || `line ${row.line}`;

function kindOf({ status, isEarlier, isLeft: left }: RowOutcome): keyof Tally {
  if (left === true) return "left";
  if (status === "created") return isEarlier === true ? "sent_before" : "created";
  return RESULT_KINDS.find((kind) => kind === status) ?? "sent_before";
}

const RESULT_KINDS = ["refused", "not_reached", "unknown", "invalid", "skipped", "not_sent"] as const;

/** What the summaries of a run and of a dry run have in common. */
export async function summaryOf(
  { settings }: Context,
  { checked, counts, known: { reading } }: PreparedList,
  sums: Sums,
) {
  const service = await settings();
  return {
    type: "summary",
    profile: service.profile ?? null,
    service: service.get("baseUrl") ?? null,
    rows: counts.rows,
    uncompared: counts.uncompared,
    // Links of the service, those since then, and the rows that only it knows a link of.
    read: reading.links,
    since: reading.since?.toISOString() ?? null,
    elsewhere: counts.elsewhere,
    // As text: programs read JSON numbers as binary fractions.
    sums: Object.fromEntries(sums.list().map(({ currency, amount }) => [currency, amount])),
    unsent_columns: checked.unsent,
    warnings: checked.warnings,
  };
}

/** A service lists the links of one terminal. A run takes less than a day. */
const seeLinks = (terminals: ReadonlySet<string | undefined>, now: Date): Hint => [
  "To see the links: ",
  ...[...terminals].flatMap((terminalId, at) => [
    at === 0 ? "" : ", ",
    likeliestLinks({ terminalId, sent: now }, UNITS.d),
  ]),
];

const FAILED: ReadonlySet<string> = new Set(["refused", "not_reached", "unknown", "left"]);

const { exit: NOT_REACHED } = FAILURES.not_reached;

interface RunResult {
  readonly reason: unknown;
  readonly tally: Tally;
  /** The orders whose earlier links can no longer be paid, and which have no new one. */
  readonly withoutLink: readonly string[];
  /** The orders whose earlier links can no longer be paid, and of which it is not known whether they have a new one. */
  readonly perhapsWithoutLink: readonly string[];
  readonly unknownWithoutNumber: number;
}

function runFailure(
  { reason, tally, withoutLink, perhapsWithoutLink, unknownWithoutNumber }: RunResult,
  next: readonly Hint[],
  context: Pick<Context, "commandLine" | "now">,
): unknown {
  const details = {
    ...tally,
    ...(withoutLink.length > 0 && { without_link: withoutLink }),
    ...(perhapsWithoutLink.length > 0 && { perhaps_without_link: perhapsWithoutLink }),
  };
  const lookAtService = [
    ...(tally.unknown > unknownWithoutNumber
      ? [
          hint`To look for them at the service, and send those that have no link there: ${rerun(context, "--again", "unknown")}`,
        ]
      : []),
    ...(unknownWithoutNumber > 0 ? [lookYourself(context.now())] : []),
  ];
  const lost =
    withoutLinkText("has no link", "have no link", withoutLink) +
    withoutLinkText("may have no link", "may have no link", perhapsWithoutLink);
  if (reason instanceof PaylinkError) {
    const { message, problems } = reason;
    const left = tally.not_sent === 0 ? "" : `, with ${plural(tally.not_sent, "row")} not sent`;
    // "Nothing was created" would be wrong.
    const isUnknown = reason.exit === NOT_REACHED && tally.unknown > 0;
    const code = isUnknown ? "outcome_unknown" : reason.code;
    return new PaylinkError(code, `The run was stopped${left}. ${message}${lost}`, {
      problems,
      details: { ...reason.details, ...details },
      hints: [...(isUnknown ? [] : reason.hints), ...next, ...(isUnknown ? lookAtService : [])],
      cause: reason,
    });
  }
  if (reason !== undefined) return reason;
  for (const [status, failure, words, step] of WORST_FIRST)
    if (tally[status] > 0)
      return new PaylinkError(failure, words(plural(tally[status], "row")) + lost, {
        details,
        hints: step === undefined ? lookAtService : [step],
      });
  return undefined;
}

function withoutLinkText(one: string, several: string, orders: readonly string[]): string {
  if (orders.length === 0) return "";
  const named = someOf(orders.slice(0, MOST_NAMED_ROWS), orders.length);
  return ` ${plural(orders.length, `customer ${one}`, `customers ${several}`)} that can be paid now, since the earlier links have ended: ${named}.`;
}

/** Nothing tells the link of such a row from others. */
const lookYourself = (now: Date): Hint => {
  const since = `${new Date(now.getTime() - UNITS.d).toISOString().slice(0, 16)}Z`;
  return hint`Rows without an order number cannot be looked for by themselves. See whether their links are there: ${paylink`links list --since ${since}`}. To send one that has none, give it an order number (invoiceId).`;
};

const FIX_AND_RESEND = hint`Fix these rows, then run the same command again: no other row is sent twice.`;
const LOOK_LEFT = hint`The results say why.`;

/** Unknown outcomes come first: a link may exist that the user does not know of. */
const WORST_FIRST: readonly (readonly [
  status: keyof Tally,
  code: FailureCode,
  words: (rows: string) => string,
  step?: Hint,
])[] = [
  ["unknown", "outcome_unknown", (rows) => `${rows} may or may not have a link.`],
  [
    "not_reached",
    "not_reached",
    (rows) => `${rows} did not reach the service: no link was created.`,
    CONTINUE,
  ],
  ["left", "refused", (rows) => `${rows} stayed as before: no further link was created.`, LOOK_LEFT],
  ["refused", "refused", (rows) => `The service refused ${rows}: no link was created.`, FIX_AND_RESEND],
  ["invalid", "usage", (rows) => `${rows} could not be sent: no link was created.`, FIX_AND_RESEND],
];
