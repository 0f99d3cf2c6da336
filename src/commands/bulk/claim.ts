/** Opens what is remembered of a list for this run alone, or refuses the list because of what was sent before. */
import type { Checked } from "../../bulk/check-rows.ts";
import { claimList, type Refused, type SentRow } from "../../bulk/claim-list.ts";
import { importJournals } from "../../bulk/import-journals.ts";
import { openMemory, type RequestKey } from "../../bulk/memory.ts";
import type { Rows } from "../../bulk/rows.ts";
import type { SentList } from "../../bulk/sent-list.ts";
import type { Context } from "../../context.ts";
import { hint, PaylinkError, type Problem } from "../../domain/errors.ts";
import { count, rowsOf } from "../../render/bulk-progress.ts";
import { safeText } from "../../render/safe-text.ts";
import { memoryFolder, type List } from "./list.ts";
import type { BulkOptions } from "./options.ts";

export interface SendOptions extends BulkOptions {
  readonly service: string;
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
  { service, repeats, retryUnknown, idempotencyHeader: header }: SendOptions,
  { digests, invalid }: Checked,
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
