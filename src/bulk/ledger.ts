/** What is known of every row: read back from the journal, kept up to date in it, and held in a few bytes a row. */
import { isSettled, replayJournal } from "../store/journal/journal.ts";
import { openJournal, type JournalWriter } from "../store/journal/journal-writer.ts";
import { Numbers } from "./numbers.ts";
import type { Outcome, Status } from "./outcome.ts";

/** `sending` was in the air, or about to be, when its run was killed. */
export type Standing = "sending" | Status;
const STANDINGS: readonly Standing[] = [
  "not_sent",
  "sending",
  "created",
  "refused",
  "not_reached",
  "unknown",
];

/** Rows that a link was, or may have been, created for. */
const BINDING: ReadonlySet<Standing> = new Set(["sending", "created", "unknown"]);

/** A row that was sent, and that today's list no longer asks for at its place. */
export interface ChangedRow {
  readonly row: number;
  readonly outcome: Outcome;
}

export interface Changes {
  /** How many there are; only the first ones are told. */
  readonly count: number;
  readonly first: readonly ChangedRow[];
}

/** Numbers only: a million rows take some thirty megabytes. */
export class Ledger {
  private readonly standings = new Numbers();
  /** What each row asked for when it was sent. */
  private readonly asked = new Numbers();
  /** Where the journal holds each row's outcome. */
  private readonly offsets = new Numbers();
  private readonly lengths = new Numbers();
  private readonly path: string;
  private writer: JournalWriter | undefined;

  /** What the journal tells; one that is not there tells nothing. */
  constructor(path: string) {
    this.path = path;
  }

  /** Reads the journal back and makes it ready to be written. */
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

  /** Whether nothing more is to be sent for the row. */
  isDone(row: number, retryUnknown: boolean): boolean {
    const standing = this.standing(row);
    return standing === "created" || (!retryUnknown && (standing === "unknown" || standing === "sending"));
  }

  countCreated(): number {
    let count = 0;
    for (let row = 0; row < this.standings.length; row++) if (this.standing(row) === "created") count++;
    return count;
  }

  /** The rows that were sent and that ask for something else in today's list, or are not in it any more. */
  changes(asks: Numbers, most: number): Changes {
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
    if (standing === "sending") return IN_THE_AIR;
    return this.opened().read(this.offsets.at(row), this.lengths.at(row));
  }

  /** Resolves once it is on disk that the row is about to be sent. */
  intend(row: number, asks: number): Promise<void> {
    this.noteSending(row, asks);
    return this.opened().append({ row, asks }).durable;
  }

  /** Resolves once the outcome is on disk. */
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

const IN_THE_AIR: Outcome = {
  status: "unknown",
  error: "was in the air when an earlier run was ended; the link may exist",
};
