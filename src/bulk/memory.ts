/** What `bulk` remembers: every row that it sent and its outcome, in one indexed SQLite table. */
import { createHash } from "node:crypto";
import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { hint, PaylinkError, type Hint } from "../domain/errors.ts";
import { openDatabase, transaction, type Database, type Statement, type Value } from "../store/database.ts";
import { createGroupCommit } from "../store/group-commit.ts";

/** With `unknown`, the link may or may not exist. */
export type Status = "created" | "refused" | "not_reached" | "unknown" | "not_sent";

export interface Outcome<S = Status> {
  readonly status: S;
  readonly id?: string | undefined;
  readonly url?: string | undefined;
  readonly error?: string | undefined;
}

/** `sending`: a run was killed shortly before or during the request. `sent_before`: another list has sent the row. */
const rowState = z.enum([
  "created",
  "refused",
  "not_reached",
  "unknown",
  "not_sent",
  "sending",
  "sent_before",
]);
export type RowState = z.infer<typeof rowState>;

/** Whether a link exists, or may exist. */
export const isBound = (state: RowState): boolean =>
  state === "created" || state === "unknown" || state === "sending";

export const INTERRUPTED: Outcome = {
  status: "unknown",
  error: "an earlier run ended during this request; the link may exist",
};

/** A digest of the rows of each list finds the list again; a digest of each row finds the row in any list. */
const MIGRATIONS = [
  `CREATE TABLE lists (
     number INTEGER PRIMARY KEY,
     id TEXT NOT NULL UNIQUE,
     service TEXT NOT NULL,
     input TEXT NOT NULL,
     begun TEXT NOT NULL,
     repeats TEXT NOT NULL,
     digest TEXT NOT NULL,
     runner INTEGER
   );
   CREATE INDEX lists_by_digest ON lists (service, digest);
   CREATE INDEX lists_by_input ON lists (service, input, begun);
   CREATE TABLE rows (
     list INTEGER NOT NULL,
     position INTEGER NOT NULL,
     digest INTEGER NOT NULL,
     state TEXT NOT NULL DEFAULT 'not_sent',
     id TEXT,
     url TEXT,
     error TEXT,
     key TEXT,
     PRIMARY KEY (list, position)
   ) WITHOUT ROWID;
   CREATE INDEX rows_by_digest ON rows (digest);`,
];

/** The states in which a link exists or may exist, in SQL. */
export const BOUND = "('sending', 'created', 'unknown')";

/** What is known of a list besides its rows. */
export const listFacts = z.object({
  /** The base URL of the service, in its canonical spelling. */
  service: z.string(),
  /** The list's real path; "-" for standard input. */
  input: z.string(),
  begun: z.string(),
  /** What to do with rows that were sent before from another list. */
  repeats: z.enum(["refuse", "skip", "send"]),
});
export type ListFacts = z.infer<typeof listFacts>;

/** The key by which the service recognises a request that is sent again. */
export const requestKey = z.object({
  /** The header that carries the key: the service recognises it in no other. */
  header: z.string(),
  value: z.string(),
  /** Durations count from this time (ms since 1970): a service may refuse a known key with another expiry. */
  time: z.number(),
});
export type RequestKey = z.infer<typeof requestKey>;

export interface Memory {
  readonly database: Database;
  /** The folder of the database, of the locks, and of copies of standard input while a run reads them. */
  readonly folder: string;
}

/** A paylink before 0.3 takes this file for a damaged journal and sends nothing: it would not look into the database. */
export const GUARD = "lists-are-in-bulk.db-since-0.3.journal";

/** Throws if the database was there and has gone: to begin with a new one would be to send every list once more. */
export function openMemory(folder: string): Memory {
  const path = join(folder, "bulk.db");
  const guard = join(folder, GUARD);
  const isNew = !existsSync(guard);
  if (!isNew && (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0)
    throw lostMemory(path, `${path} is missing or empty.`);
  const damage = (_path: string, reason: string): PaylinkError =>
    lostMemory(path, `${path} is damaged: ${reason}.`);
  const check = (opened: Pick<Database, "prepare">): void => {
    // Without its tables, the file lost what its log held, or was replaced by an empty database.
    if (!isNew && Number(opened.prepare("PRAGMA user_version").get()?.["user_version"]) === 0)
      throw lostMemory(path, `${path} is empty.`);
  };
  const database = openDatabase(path, MIGRATIONS, { damage, check });
  if (isNew)
    writeFileSync(guard, `{"paylink":"The lists that were sent are in bulk.db."}\n`, { mode: 0o600 });
  return { database, folder };
}

/** The error of a file that says which links exist, and that cannot be read. */
export const lostMemory = (path: string, message: string, cause?: unknown): PaylinkError =>
  new PaylinkError("file_unreadable", `${message} Nothing was sent.`, {
    hints: [
      hint`It records which links were created. Restore it, or check at the service which links exist before you send the list again.`,
    ],
    details: { path },
    cause,
  });

export const alreadyRunning = (message: string, ...more: readonly Hint[]): PaylinkError =>
  new PaylinkError("already_running", message, {
    hints: [hint`Wait until it has ended, then run the same command again.`, ...more],
  });

/** Digests in one statement. */
const PART = 4096;

/** One digest for all rows of a list, in their order. */
export function digestOfList(digests: ArrayLike<number>): string {
  const all = createHash("sha256");
  for (const { json } of digestParts(digests)) all.update(json);
  return all.digest("hex");
}

/** The digests as JSON, for `json_each`: a statement for each row would take twice as long. */
export function* digestParts(digests: ArrayLike<number>): Generator<{ from: number; json: string }> {
  for (let from = 0; from < digests.length; from += PART) {
    const length = Math.min(PART, digests.length - from);
    yield { from, json: JSON.stringify(Array.from({ length }, (_, index) => digests[from + index])) };
  }
}

export interface NewList extends ListFacts {
  /** No other list has it. */
  readonly id: string;
}

/** Returns its number. */
export function insertList(database: Database, { id, service, input, begun, repeats }: NewList): number {
  const insert = database.prepare(
    "INSERT INTO lists (id, service, input, begun, repeats, digest) VALUES (?, ?, ?, ?, ?, '') RETURNING number",
  );
  return Number(insert.get(id, service, input, begun, repeats)?.["number"]);
}

/** No later run depends on a list of which no row was sent. */
export function forgetUnsent(database: Database, list: number): void {
  const bound = database.prepare(`SELECT 1 FROM rows WHERE list = ? AND state IN ${BOUND} LIMIT 1`);
  if (bound.get(list) !== undefined) return;
  database.prepare("DELETE FROM rows WHERE list = ?").run(list);
  database.prepare("DELETE FROM lists WHERE number = ?").run(list);
}

/** The request of a row is about to be sent. */
export const INTEND = `UPDATE rows SET state = 'sending', id = NULL, url = NULL, error = NULL, key = ?
  WHERE list = ? AND position = ?`;
/** The request has an outcome. The key of an unknown one stays. */
export const SETTLE = `UPDATE rows SET state = ?1, id = ?2, url = ?3, error = ?4, key = iif(?1 = 'unknown', key, NULL)
  WHERE list = ?5 AND position = ?6`;

export const keyText = (key: RequestKey | undefined): string | null =>
  key === undefined ? null : JSON.stringify(key);

/** The values of `SETTLE` before the list and the position. */
export const outcomeValues = ({ status, id, url, error }: Outcome): Value[] => [
  status,
  id ?? null,
  url ?? null,
  error ?? null,
];

const storedOutcome = z.object({
  state: rowState,
  id: z.nullable(z.string()),
  url: z.nullable(z.string()),
  error: z.nullable(z.string()),
});

/** The outcome of a row; with `sent_before`, that of the same row in the list that has sent it. */
export type StoredOutcome = Outcome<Status | "sent_before">;

/** Reads outcomes by list and position. */
export function outcomeReader({ database }: Memory): (list: number, position: number) => StoredOutcome {
  const select = database.prepare("SELECT state, id, url, error FROM rows WHERE list = ? AND position = ?");
  return (list, position) => {
    const { state, id, url, error } = storedOutcome.parse(select.get(list, position));
    if (state === "sending") return INTERRUPTED;
    return { status: state, id: id ?? undefined, url: url ?? undefined, error: error ?? undefined };
  };
}

export interface SentListParts {
  readonly memory: Memory;
  readonly number: number;
  /** Unlocks the list; undefined for one that is only looked at. */
  readonly release: (() => void) | undefined;
}

export class SentList {
  private readonly parts: SentListParts;
  private readonly states: RowState[];
  private readonly statements: Readonly<Record<"intend" | "settle" | "key", Statement>>;
  private readonly stored: (list: number, position: number) => StoredOutcome;
  private readonly commits = createGroupCommit((changes: readonly Change[]) => this.commit(changes));

  constructor(parts: SentListParts) {
    const { database } = parts.memory;
    this.parts = parts;
    this.states = statesOf(parts);
    this.statements = {
      intend: database.prepare(INTEND),
      settle: database.prepare(SETTLE),
      key: database.prepare("SELECT key FROM rows WHERE list = ? AND position = ?"),
    };
    this.stored = outcomeReader(parts.memory);
  }

  state(row: number): RowState {
    return this.states[row] ?? "not_sent";
  }

  /** Whether the row must not be sent again. */
  isDone(row: number, retryUnknown: boolean): boolean {
    const state = this.state(row);
    return state === "created" || state === "sent_before" || (isBound(state) && !retryUnknown);
  }

  countCreated(): number {
    return this.states.filter((state) => state === "created").length;
  }

  outcome(row: number): StoredOutcome {
    return this.stored(this.parts.number, row);
  }

  /** The key with which the service creates no second link for a row of unknown outcome. */
  keyOf(row: number, header: string): RequestKey | undefined {
    if (!isBound(this.state(row))) return undefined;
    const stored = this.statements.key.get(this.parts.number, row)?.["key"];
    const key = typeof stored === "string" ? requestKey.parse(JSON.parse(stored)) : undefined;
    return key?.header.toLowerCase() === header.toLowerCase() ? key : undefined;
  }

  /** Resolves when it is on disk that the row is about to be sent. */
  intend(row: number, key?: RequestKey): Promise<void> {
    this.states[row] = "sending";
    return this.change(this.statements.intend, keyText(key), this.parts.number, row);
  }

  /** Resolves when the outcome is on disk. */
  settle(row: number, outcome: Outcome): Promise<void> {
    this.states[row] = outcome.status;
    return this.change(this.statements.settle, ...outcomeValues(outcome), this.parts.number, row);
  }

  /** Resolves when everything is on disk, and another run may have the list. */
  async close(): Promise<void> {
    const { memory, number, release } = this.parts;
    const { database } = memory;
    await this.commits.settled();
    try {
      if (release !== undefined) transaction(database, () => endRun(memory, number, release));
    } finally {
      database.close();
    }
  }

  private change(statement: Statement, ...values: Value[]): Promise<void> {
    const durable = this.commits.add({ statement, values });
    // A failure must not end the process if nothing waits for this change.
    durable.catch(() => undefined);
    return durable;
  }

  private async commit(changes: readonly Change[]): Promise<PromiseSettledResult<void>[]> {
    const { database } = this.parts.memory;
    transaction(database, () => {
      for (const { statement, values } of changes) statement.run(...values);
    });
    // The next run would not find what goes to a file without a name.
    if (!database.isInPlace())
      throw new PaylinkError("file_unwritable", `${database.path} was removed or replaced during this run.`);
    return changes.map(() => ({ status: "fulfilled", value: undefined }));
  }
}

interface Change {
  readonly statement: Statement;
  readonly values: readonly Value[];
}

/** Rows in memory at once. */
const PAGE = 10_000;

function statesOf({ memory, number }: SentListParts): RowState[] {
  const states: RowState[] = [];
  const select = memory.database.prepare(
    "SELECT position, state FROM rows WHERE list = ? AND position >= ? ORDER BY position LIMIT ?",
  );
  for (;;) {
    const page = select.all(number, states.length, PAGE);
    for (const { state } of page) states.push(rowState.parse(state));
    if (page.length < PAGE) return states;
  }
}

export const lockOf = ({ folder }: Memory, list: number): string => join(folder, `${list}.lock`);

/**
 * Ends the run of a list, and forgets the list if no row was sent. In one transaction with the release of the lock:
 * nobody else may find the lock free, or its file gone, while the list has a runner.
 */
export function endRun(memory: Memory, number: number, release: () => void): void {
  memory.database.prepare("UPDATE lists SET runner = NULL WHERE number = ?").run(number);
  forgetUnsent(memory.database, number);
  release();
  rmSync(lockOf(memory, number), { force: true });
}
