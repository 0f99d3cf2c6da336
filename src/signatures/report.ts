/** Collects the steps of a verification, up to the first that fails, into its verdict. */

import { formatComponent, type Component } from "./components.ts";
import { ParseError, SerializeError } from "structured-headers";
import type { Policy } from "./policy.ts";
import { isWarning, WARNINGS, type Reason, type Warning } from "../domain/reasons.ts";
import { SignatureError, type Check, type Verdict } from "./verdict.ts";
import { messageOf } from "../domain/system-reason.ts";

const ORDER: readonly Warning[] = Object.keys(WARNINGS).filter(isWarning);

export class Report {
  keyid: string | null = null;
  created: number | null = null;
  components: readonly Component[] = [];
  signatureBase: string | null = null;
  readonly #policy: Policy;
  readonly #checks: Check[] = [];
  readonly #warnings = new Set<Warning>();
  #step: { check: string; reason: Reason } = { check: "signature-fields", reason: "unsigned" };
  #code: "ok" | Reason = "ok";

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** `reason` is the code where a field in this step cannot be parsed. */
  begin(check: string, reason: Reason): void {
    this.#step = { check, reason };
  }

  pass(detail: string): void {
    this.#checks.push({ check: this.#step.check, ok: true, detail });
  }

  warn(warning: Warning): void {
    this.#warnings.add(warning);
  }

  /** Throws what says nothing about the message: an error of the crypto library, or a bug. */
  fail(error: unknown): void {
    if (error instanceof SignatureError) this.#code = error.reason;
    else if (error instanceof ParseError || error instanceof SerializeError) this.#code = this.#step.reason;
    else throw error;
    const detail = messageOf(error);
    this.#checks.push({ check: this.#step.check, ok: false, detail });
  }

  verdict(): Verdict {
    return {
      verdict: this.#code === "ok" ? "valid" : "invalid",
      code: this.#code,
      label: this.#policy.label,
      keyid: this.keyid,
      alg: this.#policy.algorithm,
      created: this.created,
      covered: this.components.map(formatComponent),
      checks: this.#checks,
      warnings: ORDER.filter((warning) => this.#warnings.has(warning)),
      hints: [],
      signatureBase: this.signatureBase,
    };
  }
}
