/** The state of a row, and its outcome as the memory, the results and the summary state it. */
import type { FailureCode } from "../domain/errors.ts";

/** With `unknown`, the link may or may not exist. */
export type Status = "created" | "refused" | "not_reached" | "unknown" | "not_sent";

export interface Outcome<S = Status> {
  readonly status: S;
  readonly id?: string | undefined;
  readonly url?: string | undefined;
  readonly error?: string | undefined;
}

/** `sending`: a run was killed shortly before or during the request. `sent_before`: another list has sent the row. */
export type RowState = Status | "sending" | "sent_before";

/** Whether a link exists, or may exist. */
export const isBound = (state: RowState): boolean =>
  state === "created" || state === "unknown" || state === "sending";

export const INTERRUPTED: Outcome = {
  status: "unknown",
  error: "an earlier run ended during this request; the link may exist",
};

/** Only a link ends the doubt: a refusal of this request does not show whether an earlier one created a link. */
export const settledDoubt = (doubt: Outcome<unknown>, result: Outcome): Outcome =>
  result.status === "created"
    ? result
    : { status: "unknown", id: doubt.id, error: result.error ?? doubt.error };

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
