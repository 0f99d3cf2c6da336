/** The outcome of a row, as the journal, the results and the summary state it. */
import type { FailureCode } from "../domain/errors.ts";

/** With `unknown`, the link may or may not exist. */
export type Status = "created" | "refused" | "not_reached" | "unknown" | "not_sent";

export interface Outcome {
  readonly status: Status;
  readonly id?: string | undefined;
  readonly url?: string | undefined;
  readonly error?: string | undefined;
}

/** The status of a row after a failure to create its link. */
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
    case "interrupted":
    case "terminated":
      return "not_sent";
    default:
      return "unknown";
  }
}
