/** Failures of SQLite, with messages that name the file. */
import { hint, messageOf, PaylinkError } from "../domain/errors.ts";

export const unreadable = (path: string, what: string): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} ${what}.`);

const unwritable = (path: string, reason: string): PaylinkError =>
  new PaylinkError("file_unwritable", `The database ${path} cannot be written: ${reason}.`);

/** A file whose content is not what paylink wrote. */
export const damaged = (path: string, reason: string): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} is damaged, or is not paylink's: ${reason}.`, {
    hints: [
      hint`It may be possible to recover it: keep a copy of the file.`,
      hint`To continue with a new database, move the file away.`,
    ],
  });

/** By SQLite's messages, because not every driver gives its result codes. */
const FAILURES: readonly [message: RegExp, failure: (path: string, reason: string) => PaylinkError][] = [
  // A missing table or column: a database of the same version, but of another program.
  [/malformed|not a database|^no such (?:table|column)/, damaged],
  [/readonly database|is full/, unwritable],
  [/is locked/, (path, reason) => unreadable(path, `is in use by another program: ${reason}`)],
  [
    /disk I\/O error|unable to open/,
    (path, reason) => unreadable(path, `cannot be opened or read: ${reason}`),
  ],
];

/** Runs one call of SQLite. Its failures name the file. */
export const guard =
  (path: string) =>
  <T>(call: () => T): T => {
    try {
      return call();
    } catch (error) {
      const reason = messageOf(error);
      const [, failure] = FAILURES.find(([message]) => message.test(reason)) ?? [];
      throw failure?.(path, reason) ?? error;
    }
  };
