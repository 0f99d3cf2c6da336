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

export const INTERRUPTED: Outcome = {
  status: "unknown",
  error: "an earlier run ended during this request; the link may exist",
};

/** A row is `sending` if its run was killed shortly before or during its request. */
export type Standing = "sending" | Status;
export const STANDINGS: readonly Standing[] = [
  "not_sent",
  "sending",
  "created",
  "refused",
  "not_reached",
  "unknown",
];

/** The states in which a link exists or may exist. */
export const BINDING: ReadonlySet<Standing> = new Set(["sending", "created", "unknown"]);

/** Only a link ends the doubt: a refusal of this request does not show whether an earlier one created a link. */
export const settledDoubt = (doubt: Outcome, result: Outcome): Outcome =>
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
