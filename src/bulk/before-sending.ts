/** What fails before the first request, so that its message says that nothing was sent. */
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { codeOf, messageOf } from "../values/system-reason.ts";

/** Says of a failure of the work that nothing was sent. */
export async function beforeSending<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof PaylinkError) && codeOf(error) === "") throw error;
    if (error instanceof PaylinkError && (error.isInterruption || error.consequence !== undefined))
      throw error;
    const reason = `bulk cannot record what it sends: ${messageOf(error)}.`;
    const failure =
      error instanceof PaylinkError ? error : new PaylinkError("file_unwritable", reason, { cause: error });
    const { code, hints } = failure;
    throw failure.with({
      effect: undefined,
      consequence: "Nothing was sent.",
      hints: code === "file_unwritable" ? [...hints, NEEDS_MEMORY] : hints,
    });
  }
}

const NEEDS_MEMORY = hint`bulk sends only what it can record. Run the same command again once it can.`;
