/** The failure of an action, and its advice, for an assertion. */
import { PaylinkError } from "../../src/domain/errors.ts";
import { renderAdvice } from "../../src/render/hint.ts";

/** What an error means for the money, and its next steps, as they are shown. */
export const adviceOf = (error: PaylinkError): string => renderAdvice(error).join("\n");

/** The failure of an action; the test fails if it succeeds. */
export async function failure(action: Promise<unknown>): Promise<PaylinkError> {
  const error: unknown = await action.then(
    () => new Error("it succeeded"),
    (thrown: unknown) => thrown,
  );
  if (error instanceof PaylinkError) return error;
  throw error;
}
