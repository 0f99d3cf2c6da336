/** What a bulk run does with each row of its list: what was sent before, from this list or another, is not sent again. */
import { existsSync, readdirSync } from "node:fs";
import type { Checked } from "../../bulk/check-rows.ts";
import { claimList, previewList, type Refused, type SentRow } from "../../bulk/claim-list.ts";
import { importJournals } from "../../bulk/import-journals.ts";
import { openMemory, type SentList } from "../../bulk/memory.ts";
import { RowSet } from "../../bulk/repeated-rows.ts";
import type { Rows } from "../../bulk/rows.ts";
import type { Context } from "../../context.ts";
import { hint, PaylinkError, type Problem } from "../../domain/errors.ts";
import { count, rowsOf } from "../../render/bulk.ts";
import type { BulkOptions } from "./flags.ts";
import { memoryFolder, rowsAt, type List } from "./list.ts";

/** What a run does with each row, from what was sent before. */
export interface Plan {
  /** The name under which the list was sent before; its own if it was not. */
  readonly input: string;
  /** The rows that this run sends. */
  readonly due: RowSet;
  /** The invalid rows that are still to be sent. */
  readonly invalid: RowSet;
  /** The number of valid rows that were sent before and are not sent again. */
  readonly doneBefore: number;
}

/** The list, open for this run alone. */
export interface Claim extends Plan {
  readonly sent: SentList;
  /** Rows that had their link before this run. */
  readonly earlier: number;
}

/** Whether anything was ever sent from here. Paylink 0.2.0 left journals. */
export const remembers = (context: Context): boolean => {
  const folder = memoryFolder(context);
  return existsSync(folder) && readdirSync(folder).some((name) => name.endsWith(".journal"));
};

/** What a run would do now. It leaves no trace, and keeps no other run from the list. */
export async function plan(...of: Parameters<typeof claim>): Promise<Plan> {
  const { sent, input, due, invalid, doneBefore } = await opened(previewList, ...of);
  await sent.close();
  return { input, due, invalid, doneBefore };
}

/** Opens the list for this run alone. */
export const claim = (
  context: Context,
  list: List,
  checked: Checked,
  options: BulkOptions,
  service: string,
): Promise<Claim> => opened(claimList, context, list, checked, options, service);

async function opened(
  open: typeof claimList,
  context: Context,
  { input, rows }: List,
  { digests, invalid }: Checked,
  { repeats, retryUnknown }: BulkOptions,
  service: string,
): Promise<Claim> {
  const { newId, processes } = context;
  const memory = openMemory(memoryFolder(context));
  try {
    importJournals(memory, processes);
    const found = open(memory, {
      id: newId(),
      service,
      input: input.path,
      begun: context.now().toISOString(),
      repeats,
      digests,
      invalid,
      runner: processes.own,
    });
    if (found.kind !== "claimed") throw await refusal(rows, found, digests.length);
    const { list: sent } = found;
    const isDone = (row: number): boolean => sent.isDone(row, retryUnknown);
    const left = RowSet.of(digests.length, (row) => invalid.has(row) && !isDone(row));
    const due = RowSet.of(digests.length, (row) => !left.has(row) && !isDone(row));
    return {
      sent,
      input: found.input,
      due,
      invalid: left,
      doneBefore: digests.length - left.size - due.size,
      earlier: sent.countCreated(),
    };
  } catch (error) {
    memory.database.close();
    throw error;
  }
}

async function refusal(rows: Rows, refused: Refused, total: number): Promise<PaylinkError> {
  const { kind, count: repeated, first } = refused;
  const found = await rowsAt(
    rows,
    first.map(({ row }) => row),
  );
  const lines = new Map([...found].map(([row, { line }]) => [row, line]));
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
