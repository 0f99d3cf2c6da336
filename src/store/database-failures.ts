/** Failures of SQLite, in words that name the file. */
import { messageOf, PaylinkError } from "../domain/errors.ts";

/** What SQLite's result codes say about the file; every other code is a mistake in a statement. */
const FILE_FAILURES: Readonly<Record<number, (path: string, reason: string) => PaylinkError>> = {
  5: (path, reason) => unreadable(path, `is in use by another program: ${reason}`),
  8: (path, reason) => unwritable(path, reason),
  10: (path, reason) => unreadable(path, `cannot be read or written: ${reason}`),
  11: (path, reason) => damaged(path, reason),
  13: (path, reason) => unwritable(path, reason),
  14: (path, reason) => unreadable(path, `cannot be opened: ${reason}`),
  26: (path, reason) => damaged(path, reason),
};

/** A database of the right version, but of another program. */
const NO_SUCH = /^no such (?:table|column)/;

export const unreadable = (path: string, what: string): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} ${what}.`);

const unwritable = (path: string, reason: string): PaylinkError =>
  new PaylinkError("file_unwritable", `The database ${path} cannot be written: ${reason}.`);

/** A file whose content is not what paylink wrote. */
export const damaged = (path: string, reason: string): PaylinkError =>
  new PaylinkError("file_unreadable", `The database ${path} is damaged, or is not paylink's: ${reason}.`, {
    hint: "What is damaged cannot be read, but may be recovered: keep a copy of the file.\nTo continue with a new database, move the file away.",
  });

/** Runs one call of SQLite, and says which file it failed on. */
export const guard =
  (path: string) =>
  <T>(call: () => T): T => {
    try {
      return call();
    } catch (error) {
      const code = error instanceof Error && "errcode" in error ? Number(error.errcode) & 0xff : 0;
      const reason = messageOf(error);
      throw NO_SUCH.test(reason) ? damaged(path, reason) : (FILE_FAILURES[code]?.(path, reason) ?? error);
    }
  };
