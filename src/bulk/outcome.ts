/** What became of a row: the words that the journal, the results and the summary use. */
import type { FailureCode } from "../domain/errors.ts";

/** All are known but `unknown`: nobody can tell whether a link exists. */
export type Status = "created" | "refused" | "not_reached" | "unknown" | "not_sent";

export interface Outcome {
  readonly status: Status;
  readonly id?: string | undefined;
  readonly url?: string | undefined;
  readonly error?: string | undefined;
}

/** What a failure to create means for the row. */
export function statusOf(code: FailureCode): Status {
  switch (code) {
    case "refused":
    case "unauthorized":
    case "redirected":
      return "refused";
    case "not_reached":
    case "overloaded":
    case "no_token":
    case "no_profile":
    case "usage":
      return "not_reached";
    default:
      return "unknown";
  }
}
