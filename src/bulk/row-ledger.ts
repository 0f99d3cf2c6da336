/** The state of every row: read from the journal, kept up to date in it, in a few bytes per row. */
import { isSettled, replayJournal } from "../store/journal/journal.ts";
import { openJournal, type JournalWriter } from "../store/journal/journal-writer.ts";
import { NumberList } from "./number-list.ts";
import type { Outcome, Status } from "./outcome.ts";

/** A row is `sending` if its run was killed shortly before or during its request. */
export type Standing = "sending" | Status;
const STANDINGS: readonly Standing[] = [
  "not_sent",
  "sending",
  "created",
  "refused",
  "not_reached",
  "unknown",
];

/** The states in which a link exists or may exist. */
const BINDING: ReadonlySet<Standing> = new Set(["sending", "created", "unknown"]);

/** A row that was sent, and that is different or missing in the list now. */
export interface ChangedRow {
  readonly row: number;
  readonly outcome: Outcome;
}

export interface Changes {
  /** The number of all changed rows; `first` has only the first ones. */
  readonly count: number;
  readonly first: readonly ChangedRow[];
}

/** A million rows take about thirty megabytes. */
export class Ledger {
  private readonly standings = new NumberList();
  /** The fingerprint of each row when it was sent. */
  private readonly asked = new NumberList();
  /** The place of each outcome in the journal. */
  private readonly offsets = new NumberList();
  private readonly lengths = new NumberList();
  private readonly path: string;
  private writer: JournalWriter | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Reads the journal, if there is one, and opens it for writing. */
  open(): void {
    const end = replayJournal(this.path, (entry, offset, length) => {
      if (isSettled(entry)) this.note(entry.row, entry.status, offset, length);
      else this.noteSending(entry.row, entry.asks);
    });
    this.writer = openJournal(this.path, end);
  }

  standing(row: number): Standing {
    return STANDINGS[this.standings.at(row)] ?? "not_sent";
  }

  /** Whether the row must not be sent again. */
  isDone(row: number, retryUnknown: boolean): boolean {
    const standing = this.standing(row);
    return standing === "created" || (!retryUnknown && (standing === "unknown" || standing === "sending"));
  }

  countCreated(): number {
    let count = 0;
    for (let row = 0; row < this.standings.length; row++) if (this.standing(row) === "created") count++;
    return count;
  }

  /** The rows that were sent and that are different or missing in the list now. */
  changes(asks: NumberList, most: number): Changes {
    const first: ChangedRow[] = [];
    let count = 0;
    for (let row = 0; row < this.standings.length; row++) {
      const same = row < asks.length && this.asked.at(row) === asks.at(row);
      if (same || !BINDING.has(this.standing(row))) continue;
      if (++count <= most) first.push({ row, outcome: this.outcome(row) });
    }
    return { count, first };
  }

  outcome(row: number): Outcome {
    const standing = this.standing(row);
    if (standing === "not_sent") return { status: standing };
    if (standing === "sending") return INTERRUPTED;
    return this.opened().read(this.offsets.at(row), this.lengths.at(row));
  }

  /** Resolves when the journal on disk says that the row is about to be sent. */
  intend(row: number, asks: number): Promise<void> {
    this.noteSending(row, asks);
    return this.opened().append({ row, asks }).durable;
  }

  /** Resolves when the outcome is on disk. */
  settle(row: number, outcome: Outcome): Promise<void> {
    const { offset, length, durable } = this.opened().append({ row, ...outcome });
    this.note(row, outcome.status, offset, length);
    return durable;
  }

  /** Resolves when everything is on disk. */
  async close(): Promise<void> {
    await this.writer?.close();
  }

  private opened(): JournalWriter {
    if (this.writer === undefined) throw new Error("the journal is not open");
    return this.writer;
  }

  private noteSending(row: number, asks: number): void {
    this.standings.set(row, STANDINGS.indexOf("sending"));
    this.asked.set(row, asks);
  }

  private note(row: number, status: Status, offset: number, length: number): void {
    this.standings.set(row, STANDINGS.indexOf(status));
    this.offsets.set(row, offset);
    this.lengths.set(row, length);
  }
}

const INTERRUPTED: Outcome = {
  status: "unknown",
  error: "an earlier run ended during this request; the link may exist",
};
