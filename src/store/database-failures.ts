/** What SQLite's failures mean: they are thrown as `file_unreadable` or `file_unwritable`, and name the file. */
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { messageOf } from "../domain/system-reason.ts";
import type { Connection } from "./database.ts";

export const unreadable = (path: string, what: string, cause?: unknown): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} ${what}.`, { cause });

const unwritableDatabase = (path: string, reason: string): PaylinkError =>
  new PaylinkError("file_unwritable", `The database ${path} cannot be written: ${reason}.`);

/** A file whose content is not what paylink wrote. */
export const damaged = (path: string, reason: string): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} is damaged, or is not paylink's: ${reason}.`, {
    hints: [
      hint`It may be possible to recover it: keep a copy of the file.`,
      hint`To continue with a new database, move the file away.`,
    ],
  });

type MakeStoreFailure = (path: string, reason: string, cause: unknown) => PaylinkError;

const LOCKED = /is locked/;

/** By SQLite's messages, because not every driver gives its result codes. */
const SQLITE_FAILURES: readonly [message: RegExp, failure: MakeStoreFailure][] = [
  // A missing table or column: a database of the same version, but of another program.
  [/malformed|not a database|unsupported file format|^no such (?:table|column)/, damaged],
  [/readonly database|is full/, unwritableDatabase],
  [LOCKED, (path, reason, cause) => unreadable(path, `is in use by another program: ${reason}`, cause)],
  [
    /disk I\/O error|unable to open/,
    (path, reason) => unreadable(path, `cannot be opened or read: ${reason}`),
  ],
];

type Guard = <T>(call: () => T) => T;

/** Runs one call of SQLite. Its failures name the file. */
export const guard =
  (path: string, damage = damaged): Guard =>
  (call) => {
    try {
      return call();
    } catch (error) {
      const reason = messageOf(error);
      const [, failure] = SQLITE_FAILURES.find(([message]) => message.test(reason)) ?? [];
      throw (failure === damaged ? damage : failure)?.(path, reason, error) ?? error;
    }
  };

/** Whether another program held the lock for as long as a statement waits. */
export const isLocked = (error: unknown): boolean =>
  error instanceof PaylinkError && LOCKED.test(messageOf(error.cause));

/** A connection whose calls are guarded. */
export function guardedConnection(run: Guard, open: () => Connection): Connection {
  const connection = run(open);
  return {
    exec: (sql) => run(() => connection.exec(sql)),
    prepare: (sql) => {
      const statement = run(() => connection.prepare(sql));
      // They keep a reference to the connection: Node 20 would collect it, and close it while the statement is in use.
      return {
        run: (...values) => run(() => statement.run(...values)),
        get: (...values) => run(() => statement.get(...values)),
        all: (...values) => run(() => statement.all(...values)),
      };
    },
    close: () => connection.close(),
  };
}
