/** The list of a bulk run: its rows, and what is remembered of them, opened for this run alone. */
import { join } from "node:path";
import { checkRows, type Checked } from "../../bulk/check-rows.ts";
import { claimList, type Refused, type SentRow } from "../../bulk/claim-list.ts";
import { importJournals } from "../../bulk/import-journals.ts";
import { openMemory, type RequestKey, type SentList } from "../../bulk/memory.ts";
import { requestOf, type BuildRequest } from "../../bulk/row.ts";
import { fileInput, openRows, spooledInput, type Input, type Rows } from "../../bulk/rows.ts";
import type { Context } from "../../context.ts";
import { hint, PaylinkError, type Problem } from "../../domain/errors.ts";
import { count, rowsOf } from "../../render/bulk-progress.ts";
import { safeText } from "../../render/safe-text.ts";
import { createReporter, type Reporter } from "./bulk-reporter.ts";
import type { BulkOptions } from "./flags.ts";

export interface List {
  readonly input: Input;
  readonly rows: Rows;
  readonly build: BuildRequest;
  /** The service's time: durations such as `--expires 7d` count from it. */
  readonly now: () => Date;
  readonly reporter: Reporter;
}

/** Runs the work with the list open, and always closes it. */
export async function withList<T>(
  context: Context,
  { file, build, service }: BulkOptions,
  work: (list: List) => Promise<T>,
): Promise<T> {
  const input =
    file === "-"
      ? await spooledInput(context.stdin, memoryFolder(context), context.newId())
      : await fileInput(file);
  const reporter = createReporter(context);
  try {
    const rows = await openRows(input.open);
    // A run that sends nothing does not ask the service for its time either.
    const now = service === undefined ? context.now : await serviceClock(context);
    return await work({ input, rows, build, now, reporter });
  } finally {
    reporter.end();
    await input.close();
  }
}

/** The folder of what `bulk` remembers, and of copies of standard input. */
const memoryFolder = ({ dataFolder }: Context): string => join(dataFolder, "bulk");

async function serviceClock({ now, serviceTime }: Context): Promise<() => Date> {
  const time = await serviceTime();
  if (!time.ofSandbox) return now;
  const ahead = time.now.getTime() - now().getTime();
  return () => new Date(now().getTime() + ahead);
}

export function checkList({ signal }: Context, { rows, build, now, reporter }: List): Promise<Checked> {
  return checkRows({ rows: rows.read(), build, now: now(), signal, checked: reporter.checked });
}

/** Names every invalid row; the error ends a run before anything is sent. */
export async function reportInvalid(
  { signal }: Context,
  { rows, build, now, reporter }: List,
  invalid: ReadonlySet<number>,
  total: number,
): Promise<PaylinkError> {
  for await (const row of rows.read()) {
    signal.throwIfAborted();
    if (invalid.has(row.index)) reporter.invalid(row, requestOf(row, build, now()).problems);
  }
  return new PaylinkError("usage", `${rowsOf(invalid.size)} of ${total} cannot be sent. Nothing was sent.`, {
    hints: [hint`Fix the rows named above, or send the others with --skip-invalid.`],
    details: { rows: total, invalid: invalid.size },
  });
}

/** What this run does with each row. */
export interface Claim {
  readonly sent: SentList;
  /** The invalid rows that are still to be sent. */
  readonly invalid: ReadonlySet<number>;
  /** Rows that had their link before this run. */
  readonly earlier: number;
  /** Whether this run sends the row. */
  readonly isDue: (row: number) => boolean;
  /** The key to send the row with; undefined if the service recognises none. */
  readonly keyOf: (row: number) => RequestKey | undefined;
}

export async function claim(
  context: Context,
  { input, rows, now }: List,
  { digests, invalid }: Checked,
  { repeats, retryUnknown, idempotencyHeader: header }: BulkOptions,
  service: string,
): Promise<Claim> {
  const { newId, out, processes } = context;
  const memory = openMemory(memoryFolder(context));
  try {
    importJournals(memory, processes);
    const claimed = claimList(memory, {
      id: newId(),
      service,
      input: input.path,
      begun: context.now().toISOString(),
      repeats,
      digests,
      invalid,
      runner: processes.own,
    });
    if (claimed.kind !== "claimed") throw await refusal(rows, claimed, digests.length);
    if (claimed.input !== input.path) {
      const name = claimed.input === "-" ? "standard input" : safeText(claimed.input);
      out.note(`This list was sent before, from ${name}. The run continues where that one ended.`);
    }
    const { list: sent } = claimed;
    const isDone = (row: number): boolean => sent.isDone(row, retryUnknown);
    const knownKey = (row: number): RequestKey | undefined =>
      header === undefined ? undefined : sent.keyOf(row, header);
    const left = new Set([...invalid].filter((row) => !isDone(row)));
    return {
      sent,
      invalid: left,
      earlier: sent.countCreated(),
      isDue: (row) => !left.has(row) && (!isDone(row) || knownKey(row) !== undefined),
      keyOf: (row) =>
        header === undefined
          ? undefined
          : (knownKey(row) ?? { header, value: newId(), time: now().getTime() }),
    };
  } catch (error) {
    memory.database.close();
    throw error;
  }
}

async function refusal(rows: Rows, refused: Refused, total: number): Promise<PaylinkError> {
  const { kind, count: repeated, first } = refused;
  const lines = await linesOf(rows, new Set(first.map(({ row }) => row)));
  const problems = (kind === "changed" ? changes : repeats)(first, lines);
  const more = repeated - first.length;
  const all = more > 0 ? [...problems, { at: "", message: `and ${count(more)} more` }] : problems;
  if (kind === "changed")
    // Its link may be for another customer.
    return new PaylinkError(
      "input_changed",
      "The list has changed since it was sent. This run sent nothing.",
      {
        problems: all,
        details: { changed: repeated },
        hints: [
          hint`Restore the rows that were sent; you may fix the others and add new ones at the end.`,
          hint`If this is another list: --new-rows sends every row that was not sent before, and the changed ones.`,
          hint`To send every row, including those that have a link already: --again`,
        ],
      },
    );
  const others = total - repeated;
  return new PaylinkError(
    "sent_before",
    `${rowsOf(repeated)} of ${count(total)} ${repeated === 1 ? "was" : "were"} sent before, from another list. This run sent nothing.`,
    {
      problems: all,
      details: { rows: total, sent_before: repeated },
      hints: [
        ...(others > 0 ? [hint`To send only the others (${rowsOf(others)}): --new-rows`] : []),
        hint`To send every row once more, which creates second links: --again`,
      ],
    },
  );
}

type Lines = ReadonlyMap<number, number>;

const changes = (first: readonly SentRow[], lines: Lines): Problem[] =>
  first.map(({ row, outcome }) => {
    const line = lines.get(row);
    return line === undefined
      ? { at: `row ${row + 1}`, message: `is missing; it ${linkOf(outcome)}` }
      : { at: `line ${line}`, message: `has changed; it ${linkOf(outcome)}` };
  });

const repeats = (first: readonly SentRow[], lines: Lines): Problem[] =>
  first.map(({ row, outcome }) => ({ at: `line ${lines.get(row) ?? row + 1}`, message: linkOf(outcome) }));

const linkOf = ({ url }: SentRow["outcome"]): string =>
  url === undefined ? "may have a link" : `has the link ${url}`;

async function linesOf(rows: Rows, wanted: ReadonlySet<number>): Promise<Lines> {
  const lines = new Map<number, number>();
  for await (const { index, line } of rows.read()) {
    if (wanted.has(index)) lines.set(index, line);
    if (lines.size === wanted.size) break;
  }
  return lines;
}
