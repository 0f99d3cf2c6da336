/** What is known of every row: read back from the journal, kept up to date in it, and held in a few bytes a row. */
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { isSettled, openJournal, replayJournal, type JournalWriter } from "../store/journal.ts";
import type { Outcome, Status } from "./outcome.ts";

/** `new` was never sent; `sending` was in the air when its run was killed. */
export type Standing = "new" | "sending" | Status;
const STANDINGS: readonly Standing[] = ["new", "sending", "created", "refused", "not_reached", "unknown"];

/** Rows that a link was, or may have been, created for. */
const BINDING: ReadonlySet<Standing> = new Set(["sending", "created", "unknown"]);

/** Changed rows that are named one by one; the rest are counted. */
const NAMED = 10;

/** Numbers only, in arrays that grow by the row: a million rows take some forty megabytes. */
export class Ledger {
  private readonly standings: number[] = [];
  /** What each row asked for when it was sent. */
  private readonly asked: number[] = [];
  private readonly offsets: number[] = [];
  private readonly lengths: number[] = [];
  private readonly path: string;
  private writer: JournalWriter | undefined;

  /** What the journal tells; one that is not there tells nothing. */
  constructor(path: string) {
    this.path = path;
  }

  /** Reads the journal back and makes it ready to be written. */
  async open(): Promise<void> {
    const end = replayJournal(this.path, (entry, offset, length) => {
      if (isSettled(entry)) this.note(entry.row, entry.status, offset, length);
      else this.noteSending(entry.row, entry.asks);
    });
    this.writer = await openJournal(this.path, end);
  }

  standing(row: number): Standing {
    return STANDINGS[this.standings[row] ?? 0] ?? "new";
  }

  /** Whether nothing more is to be sent for the row. */
  isDone(row: number, retryUnknown: boolean): boolean {
    const standing = this.standing(row);
    return standing === "created" || (!retryUnknown && (standing === "unknown" || standing === "sending"));
  }

  countCreated(): number {
    return this.standings.filter((standing) => STANDINGS[standing] === "created").length;
  }

  /** Throws `input_changed` where a row that was sent asks for something else in today's list, or is not in it. */
  compare(asks: readonly number[]): void {
    const changed: Problem[] = [];
    let count = 0;
    for (let row = 0; row < this.standings.length; row++) {
      if (!BINDING.has(this.standing(row)) || this.asked[row] === asks[row]) continue;
      const message = row < asks.length ? "asks for something else now" : "is gone";
      if (++count <= NAMED)
        changed.push({ at: `row ${row + 1}`, message: `was sent in an earlier run and ${message}` });
    }
    if (count > NAMED) changed.push({ at: "", message: `and ${count - NAMED} more` });
    if (count > 0) throw inputChanged(changed, count);
  }

  async outcome(row: number): Promise<Outcome | undefined> {
    const standing = this.standing(row);
    if (standing === "new") return undefined;
    if (standing === "sending") return IN_THE_AIR;
    return this.opened().read(this.offsets[row] ?? 0, this.lengths[row] ?? 0);
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
    this.makeRoom(row);
    this.standings[row] = STANDINGS.indexOf("sending");
    this.asked[row] = asks;
  }

  private note(row: number, status: Status, offset: number, length: number): void {
    this.makeRoom(row);
    this.standings[row] = STANDINGS.indexOf(status);
    this.offsets[row] = offset;
    this.lengths[row] = length;
  }

  /** Without holes, the engine keeps the numbers packed. */
  private makeRoom(row: number): void {
    while (this.standings.length <= row) {
      this.standings.push(0);
      this.asked.push(0);
      this.offsets.push(0);
      this.lengths.push(0);
    }
  }
}

const IN_THE_AIR: Outcome = {
  status: "unknown",
  error: "was in the air when an earlier run was ended; the link may exist",
};

function inputChanged(problems: readonly Problem[], count: number): PaylinkError {
  return new PaylinkError("input_changed", "The list has changed since it was sent. Nothing was sent now:", {
    problems,
    details: { changed: count },
    hint: [
      "A row is known by its place and its content: sent again, some customers would get a second link.",
      "Put the sent rows back as they were (the others may be mended, and new ones added at the end),",
      "or save what is still to be sent as a new list, under a name of its own.",
    ].join("\n"),
  });
}
