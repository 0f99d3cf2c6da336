/** The state of every row: read from the journal, kept up to date in it, in a few bytes per row. */
import {
  isAsked,
  isSettled,
  replayJournal,
  settledAt,
  type Asked,
  type RequestKey,
} from "../store/journal/journal.ts";
import { openJournal, type JournalWriter } from "../store/journal/journal-writer.ts";
import { declarations } from "./declarations.ts";
import { NumberList } from "./number-list.ts";
import { BINDING, INTERRUPTED, STANDINGS, type Outcome, type Standing, type Status } from "./outcome.ts";

/** A row that was sent, and that is different or missing in the list now. */
export interface ChangedRow {
  readonly row: number;
  readonly outcome: Outcome;
}

/** A line of a journal. */
export interface Place {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
}

export interface Changes {
  /** The number of all changed rows; `first` has only the first ones. */
  readonly count: number;
  readonly first: readonly ChangedRow[];
}

/** A million rows take 32 MB. */
export class Ledger {
  private readonly standings = new NumberList();
  /** The digest of each row. */
  private readonly asked = new NumberList();
  /** The place of each outcome in the journal. */
  private readonly offsets = new NumberList();
  private readonly lengths = new NumberList();
  /** The keys of the requests whose outcome is unknown. */
  private readonly keys = new Map<number, RequestKey>();
  private readonly path: string;
  private writer: JournalWriter | undefined;

  constructor(path: string) {
    this.path = path;
  }

  /** Reads the journal, if there is one, and returns the number of bytes read. */
  read(): number {
    return replayJournal(this.path, (entry, offset, length) => {
      if (isAsked(entry)) this.noteAsked(entry);
      else if (isSettled(entry)) this.note(entry.row, entry.status, offset, length);
      else this.noteSending(entry.row, entry.key);
    });
  }

  /** Reads the journal and opens it for writing. */
  open(): void {
    this.writer = openJournal(this.path, this.read());
  }

  standing(row: number): Standing {
    return STANDINGS[this.standings.at(row)] ?? "not_sent";
  }

  /** Whether the row must not be sent again. */
  isDone(row: number, retryUnknown: boolean): boolean {
    const standing = this.standing(row);
    return standing === "created" || (!retryUnknown && (standing === "unknown" || standing === "sending"));
  }

  /** The key with which the service creates no second link for a row of unknown outcome. */
  keyOf(row: number, header: string): RequestKey | undefined {
    const key = this.keys.get(row);
    return key?.header.toLowerCase() === header.toLowerCase() ? key : undefined;
  }

  /** Whether the row was never sent, or never reached the service. */
  isUnsent(row: number): boolean {
    return ["not_sent", "not_reached"].includes(this.standing(row));
  }

  countCreated(): number {
    let count = 0;
    for (let row = 0; row < this.standings.length; row++) if (this.standing(row) === "created") count++;
    return count;
  }

  /** Whether the row has a link, or may have one. */
  isBound(row: number): boolean {
    return BINDING.has(this.standing(row));
  }

  /** Whether any row has a link, or may have one. */
  isBinding(): boolean {
    for (let row = 0; row < this.standings.length; row++) if (this.isBound(row)) return true;
    return false;
  }

  /** Whether these are the rows of the journal, in their order. */
  isOf(asks: NumberList): boolean {
    if (asks.length !== this.asked.length) return false;
    for (let row = 0; row < asks.length; row++) if (asks.at(row) !== this.asked.at(row)) return false;
    return true;
  }

  /** The number of rows that the journal knows. */
  get rows(): number {
    return this.asked.length;
  }

  digest(row: number): number {
    return this.asked.at(row);
  }

  /** The place of a row's outcome in the journal; its length is 0 if there is no outcome. */
  placeOf(row: number): Place {
    return { path: this.path, offset: this.offsets.at(row), length: this.lengths.at(row) };
  }

  /** Resolves when what the rows of the list ask for now is on disk. */
  async declare(asks: NumberList): Promise<void> {
    let durable: Promise<void> | undefined;
    for (const part of declarations(asks, this.asked)) {
      ({ durable } = this.opened().append(part));
      this.noteAsked(part);
    }
    await durable;
  }

  /** The rows that were sent and that are different or missing in the list now. */
  changes(asks: NumberList, most: number): Changes {
    const first: ChangedRow[] = [];
    let count = 0;
    for (let row = 0; row < this.standings.length; row++) {
      const same = row < asks.length && this.asked.at(row) === asks.at(row);
      if (same || !this.isBound(row)) continue;
      if (++count <= most) first.push({ row, outcome: this.outcome(row) });
    }
    return { count, first };
  }

  outcome(row: number): Outcome {
    const standing = this.standing(row);
    if (standing === "not_sent") return { status: standing };
    if (standing === "sending") return INTERRUPTED;
    const { path, offset, length } = this.placeOf(row);
    return this.writer?.read(offset, length) ?? settledAt(path, offset, length);
  }

  /** Resolves when the journal on disk says that the row is about to be sent. */
  intend(row: number, key?: RequestKey): Promise<void> {
    this.noteSending(row, key);
    return this.opened().append({ row, key }).durable;
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

  /** A row that asks for something else has not been sent. */
  private noteAsked({ from, asks }: Asked): void {
    for (const [index, digest] of asks.entries()) {
      this.asked.set(from + index, digest);
      this.standings.set(from + index, STANDINGS.indexOf("not_sent"));
      this.keys.delete(from + index);
    }
  }

  private noteSending(row: number, key: RequestKey | undefined): void {
    this.standings.set(row, STANDINGS.indexOf("sending"));
    if (key === undefined) this.keys.delete(row);
    else this.keys.set(row, key);
    this.lengths.set(row, 0);
  }

  private note(row: number, status: Status, offset: number, length: number): void {
    this.standings.set(row, STANDINGS.indexOf(status));
    if (status !== "unknown") this.keys.delete(row);
    this.offsets.set(row, offset);
    this.lengths.set(row, length);
  }
}
