/** A list in the memory that this run has for itself: the state of each row, on disk before the run depends on it. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { PaylinkError } from "../domain/errors.ts";
import { transaction, type Statement, type Value } from "../store/database.ts";
import { createGroupCommit } from "../store/group-commit.ts";
import {
  forgetUnsent,
  INTEND,
  keyText,
  outcomeReader,
  outcomeValues,
  readKey,
  rowState,
  SETTLE,
  type Memory,
  type RequestKey,
  type StoredOutcome,
} from "./memory.ts";
import { isBound, type Outcome, type RowState } from "./outcome.ts";

export interface SentListParts {
  readonly memory: Memory;
  readonly number: number;
  /** Unlocks the list. */
  readonly release: () => void;
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
    const key = readKey(this.statements.key.get(this.parts.number, row)?.["key"]);
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
    const { database } = this.parts.memory;
    await this.commits.settled();
    try {
      transaction(database, () => endRun(this.parts));
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
export function endRun({ memory, number, release }: SentListParts): void {
  memory.database.prepare("UPDATE lists SET runner = NULL WHERE number = ?").run(number);
  forgetUnsent(memory.database, number);
  release();
  rmSync(lockOf(memory, number), { force: true });
}
