/** Tells apart the errors of the file system, for code that expects some of them. */
import { codeOf } from "../domain/system-reason.ts";

/** Whether the error has one of these codes, such as `ENOENT`. */
export const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes(codeOf(error));
