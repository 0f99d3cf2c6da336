/** The store of a simulated world, which its receivers and its operator share: which groups of writes wait for the disk, and how each ends. */
import { type Database, IN_MEMORY } from "../../src/store/sqlite/connection.ts";
import { type All, type Dialect, SQLITE } from "../../src/store/dialects.ts";
import { type Row, sql } from "../../src/store/sql.ts";
import type { EventDatabase } from "../../src/store/event-store.ts";
import {
  createSqliteWriter,
  openEventDatabase,
  statementsOf,
  transactionsOf,
} from "../../src/store/sqlite/event-file.ts";
import type { WriteGroup } from "../../src/store/write-group.ts";
import type { Write, SettledWrite } from "../../src/store/writes.ts";
import type { KnownPayments } from "./known.ts";
import type { Receiver } from "./receiver.ts";
import type { Trace } from "./trace.ts";
import { BEGIN, settle, type VirtualTime } from "./virtual-time.ts";

/** Milliseconds that a write waits for the disk at most. */
const LONGEST_WAIT = 500;
/** SQLite, with the time of the world in place of the machine's. */
const DIALECT: Dialect = { ...SQLITE, now: sql`(SELECT milliseconds FROM temp.world_time)` };

/**
 * `ok`: the group is written, and answered. `lost`: the receiver crashes before it hears the answer. `failed`: nothing is written.
 * `unknown`: it is written, and the connection to the database breaks before the answer.
 */
export type WriteEnd = "ok" | "lost" | "failed" | "unknown";

interface PendingWrite {
  /** Undefined for an operator's. */
  readonly receiver: Receiver | undefined;
  readonly writes: readonly Write[];
  readonly since: number;
  readonly resolve: (results: readonly SettledWrite[]) => void;
  readonly reject: (error: unknown) => void;
}

export interface DiskParts {
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly payments: KnownPayments;
  readonly crash: (receiver: Receiver) => void;
}

export class Disk {
  readonly all: All;
  readonly #parts: DiskParts;
  readonly #database: Database;
  readonly #write: WriteGroup;
  #pending: readonly PendingWrite[] = [];

  constructor(parts: DiskParts) {
    this.#parts = parts;
    this.#database = openEventDatabase(IN_MEMORY);
    this.#database.exec(
      "CREATE TEMP TABLE world_time (milliseconds INTEGER); INSERT INTO world_time VALUES (0)",
    );
    this.all = statementsOf(this.#database);
    this.#write = createSqliteWriter(this.#database, transactionsOf(this.#database, DIALECT));
  }

  /** What a receiver opens; undefined for the operator. */
  databaseOf(receiver: Receiver | undefined): EventDatabase {
    const write: WriteGroup = (writes) =>
      new Promise((resolve, reject) => {
        if (receiver !== undefined && !receiver.isAlive) return;
        const since = this.#parts.time.elapsed;
        this.#pending = [...this.#pending, { receiver, writes, since, resolve, reject }];
      });
    return {
      dialect: DIALECT,
      place: "the world",
      all: this.all,
      write,
      ready: async () => undefined,
      hurry: () => undefined,
      close: async () => undefined,
    };
  }

  /** How many groups wait: of a receiver, or of all. */
  waiting(receiver?: Receiver): number {
    return this.#pending.filter((one) => receiver === undefined || one.receiver === receiver).length;
  }

  /** When the oldest group is written at the latest. */
  next(): number {
    return (this.#pending[0]?.since ?? Number.POSITIVE_INFINITY) + LONGEST_WAIT;
  }

  /** Writes one of the groups that wait, in any order: a server works on several of one receiver at the same time. */
  async write(index: number, end: WriteEnd = "ok"): Promise<void> {
    const group = this.#pending[index % Math.max(1, this.#pending.length)];
    if (group === undefined) return;
    this.#pending = this.#pending.filter((one) => one !== group);
    if (end === "failed") return this.#fail(group);
    const results = await this.#commit(group.writes);
    this.#say(group, results, end);
    if (end === "unknown") group.reject(new Error("the connection to the database was closed"));
    else if (end === "lost" && group.receiver !== undefined) this.#parts.crash(group.receiver);
    else group.resolve(results);
  }

  /** Writes what waits, and what follows from it. */
  async writeAll(): Promise<void> {
    await settle();
    while (this.waiting() > 0) {
      await this.write(0);
      await settle();
    }
  }

  /** Nothing that a receiver has not written yet is written any more. */
  drop(receiver: Receiver): void {
    this.#pending = this.#pending.filter((one) => one.receiver !== receiver);
  }

  close(): void {
    this.#database.close();
  }

  #fail(group: PendingWrite): void {
    this.#say(group, [], "failed");
    for (const write of group.writes) this.#parts.payments.failed(write);
    group.reject(new Error("the disk is full"));
  }

  async #commit(writes: readonly Write[]): Promise<readonly SettledWrite[]> {
    const { time, trace, payments } = this.#parts;
    await this.all(sql`UPDATE world_time SET milliseconds = ${BEGIN + time.elapsed}`);
    const results = await this.#write(writes);
    for (const [at, write] of writes.entries()) {
      const result = results[at];
      if (result?.status === "rejected") trace.broken(`the store failed: ${String(result.reason)}`);
      if (result?.status === "fulfilled") payments.stored(write, result.value);
    }
    // Of the whole group: an event that one write skips, the next may delete.
    if (writes.some(({ type }) => type === "prune"))
      payments.left(new Set((await this.all(sql`SELECT id FROM events`)).map(({ id }) => String(id))));
    return results;
  }

  #say({ receiver, writes }: PendingWrite, results: readonly SettledWrite[], end: WriteEnd): void {
    const made = writes.flatMap((write, at) => shown(write, results[at]));
    if (made.length > 0 || end !== "ok")
      this.#parts.trace.say(`${receiver?.name ?? "the operator"} writes ${made.join(", ")}: ${end}`);
  }
}

/** A write in a trace: a claim only if it found something. */
function shown(write: Write, result: SettledWrite | undefined): string[] {
  if (write.type === "event") return [`the event ${write.id}`];
  if (write.type === "end") return [`the end of ${write.claim.id} (${write.claim.attempt})`];
  if (write.type === "release") return [`the release of ${write.claims.map(({ id }) => id).join()}`];
  if (write.type !== "claim") return [write.type];
  const told = result?.status === "fulfilled" ? result.value : undefined;
  if (!Array.isArray(told)) return [];
  return (told as readonly Row[]).map(({ id, attempt }) => `a claim of ${String(id)} (${Number(attempt)})`);
}
