/** A step of the procedure that said no: a reason code, and words for the person who has to find out why. */

import type { Reason } from "./verdict.ts";

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly reason: Reason;

  constructor(reason: Reason, detail: string) {
    super(detail);
    this.reason = reason;
  }
}
