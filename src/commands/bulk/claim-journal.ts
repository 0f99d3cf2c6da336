/** Opens the journal of a list for this run alone, and finds out which rows were sent before. */
import type { Checked } from "../../bulk/check-rows.ts";
import type { Journals, OpenJournal } from "../../bulk/journals.ts";
import { findOwnJournal } from "../../bulk/own-journal.ts";
import { SentBefore } from "../../bulk/sent-before.ts";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { safeText } from "../../render/safe-text.ts";
import type { RequestKey } from "../../store/journal/journal.ts";
import type { List } from "./open-list.ts";
import type { BulkOptions } from "./options.ts";
import { refuseChanges, sentBeforeError } from "./refuse-repeats.ts";

/** An open journal, and what the run does with each row. */
export interface Claim extends OpenJournal {
  readonly sentBefore: SentBefore;
  /** The invalid rows that are still to be sent. */
  readonly invalid: ReadonlySet<number>;
  /** Rows that had their link before this run. */
  readonly earlier: number;
  /** Whether this run sends the row. */
  readonly isDue: (row: number) => boolean;
  /** The key to send the row with; undefined if the service recognises none. */
  readonly keyOf: (row: number) => RequestKey | undefined;
}

export interface SendOptions extends BulkOptions {
  readonly service: string;
}

export async function claimJournal(
  context: Context,
  list: List,
  options: SendOptions,
  { asks, invalid }: Checked,
): Promise<Claim> {
  const { input, rows } = list;
  const { service, repeats, retryUnknown, idempotencyHeader: header } = options;
  const journals = await context.journals();
  const wanted = { input: input.path, asks, invalid, repeats };
  const { own, changed } = findOwnJournal(journals.ofService(service), wanted);
  if (changed !== undefined && repeats === "refuse") await refuseChanges(rows, changed, asks);
  if (own !== undefined && own.input !== input.path) {
    const name = own.input === "-" ? "standard input" : safeText(own.input);
    context.out.note(`This list was sent before, from ${name}. The run continues where that one ended.`);
  }
  const heading = { service, input: input.path, begun: context.now().toISOString(), repeats };
  const journal =
    own === undefined ? journals.begin(context.newId(), heading, asks) : journals.open(own.path);
  try {
    const { ledger } = journal;
    await refuseChanges(rows, ledger, asks);
    await ledger.declare(asks);
    const { begun, repeats: since } = own ?? heading;
    const after = since === "send" ? begun : undefined;
    const isDone = (row: number): boolean => ledger.isDone(row, retryUnknown);
    const sentBefore = new SentBefore(asks, (row) => !ledger.isBound(row));
    addOthers(sentBefore, journals, { service, own: journal.path, after });
    if (sentBefore.count > 0 && repeats !== "skip" && since !== "skip")
      throw await sentBeforeError(rows, sentBefore, asks.length);
    const knownKey = (row: number): RequestKey | undefined =>
      header === undefined ? undefined : ledger.keyOf(row, header);
    const left = new Set([...invalid].filter((row) => !isDone(row) && !sentBefore.has(row)));
    return {
      ...journal,
      sentBefore,
      invalid: left,
      earlier: ledger.countCreated(),
      isDue: (row) => !left.has(row) && !sentBefore.has(row) && (!isDone(row) || knownKey(row) !== undefined),
      keyOf: (row) =>
        header === undefined
          ? undefined
          : (knownKey(row) ?? { header, value: context.newId(), time: list.now().getTime() }),
    };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

interface Others {
  readonly service: string;
  readonly own: string;
  /** When this list's own journal was started to send rows again: rows sent earlier do not count. */
  readonly after: string | undefined;
}

/** Two runs that begin at the same time see each other, since each has its rows on disk before it looks at the others. */
function addOthers(sent: SentBefore, journals: Journals, { service, own, after = "" }: Others): void {
  for (const { path, runner, begun, read } of journals.ofService(service)) {
    if (path === own) continue;
    if (runner !== undefined) {
      if (sent.add(read(), () => true) > 0) throw sentMeanwhile(runner);
    } else if (begun > after) sent.add(read());
  }
}

const sentMeanwhile = (runner: number): PaylinkError =>
  new PaylinkError(
    "already_running",
    `Process ${runner} is sending rows of this list now. This run sent nothing.`,
    { hint: "Wait until it has ended, then run the same command again." },
  );
