/** How far a verification has come: the check under way, and the facts found so far, from which the verdict is made. */
import { ParseError, SerializeError } from "structured-headers";
import { isWarning, WARNINGS, type Warning } from "../domain/reasons.ts";
import { formatComponent, type Component } from "./components.ts";
import { ALGORITHM, LABEL } from "./policy.ts";
import { CHECKS, SignatureError, type CheckName, type Verdict, type VerifyingKey } from "./verdict.ts";

const WARNING_ORDER: readonly Warning[] = Object.keys(WARNINGS).filter(isWarning);

export class VerificationProgress {
  check: CheckName = "signature-fields";
  keyid: string | null = null;
  created: number | null = null;
  components: readonly Component[] = [];
  key: VerifyingKey | null = null;
  readonly #warnings = new Set<Warning>();

  warn(warning: Warning): void {
    this.#warnings.add(warning);
  }

  valid(): Verdict {
    return { verdict: "valid", code: "ok", ...this.#facts(), failure: null };
  }

  /** Throws what says nothing about the message: an error of the crypto library, or a bug. */
  invalid(error: unknown): Verdict {
    const { code, detail } = this.#reasonOf(error);
    return { verdict: "invalid", code, ...this.#facts(), failure: { check: this.check, detail } };
  }

  #facts() {
    const { keyid, created, components, key } = this;
    return {
      label: LABEL,
      keyid,
      alg: ALGORITHM,
      created,
      covered: components.map(formatComponent),
      warnings:
        this.#warnings.size === 0 ? [] : WARNING_ORDER.filter((warning) => this.#warnings.has(warning)),
      key,
    };
  }

  #reasonOf(error: unknown) {
    const refusal =
      error instanceof ParseError || error instanceof SerializeError
        ? new SignatureError(CHECKS[this.check], error.message)
        : error;
    if (!(refusal instanceof SignatureError)) throw error;
    return { code: refusal.reason, detail: refusal.message };
  }
}
