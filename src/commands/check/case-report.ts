/** Shows the cases of `check` as they end. What is the same for all of them is said once. */
import { isSuccess } from "../../http/message.ts";
import type { CaseResult } from "../../check/endpoint.ts";
import type { Output } from "../../context.ts";
import { renderCase, renderSameAnswer, wrongAnswerWords } from "../../render/check-report.ts";

/** The one answer that genuine and tampered webhooks got alike, if it accepts none of them; else undefined. */
export function sameAnswer(results: readonly CaseResult[]): string | undefined {
  const statuses = new Set(results.flatMap((result) => result.statuses));
  const [only = null] = statuses;
  const isTampered = results.some(({ expects }) => expects === "refused");
  if (statuses.size !== 1 || isSuccess(only) || !isTampered) return undefined;
  return only === null ? results[0]?.answered : String(only);
}

export class CaseReport {
  readonly results: CaseResult[] = [];
  readonly #out: Output;
  /** Not shown yet, because one sentence may do for all. */
  #held: CaseResult[] = [];
  /** What was said once need not be said with each case. */
  readonly #told = new Set([""]);

  constructor(out: Output) {
    this.#out = out;
  }

  add(result: CaseResult): void {
    this.results.push(result);
    this.#held.push(result);
    const mayBeSame = this.#held.length === this.results.length && this.#isSameSoFar();
    if (!mayBeSame) this.#show();
  }

  /** Shows the rest. */
  end(): void {
    const same = sameAnswer(this.#held);
    const [first] = this.#held;
    if (same === undefined || first === undefined || this.#held.length < this.results.length)
      return this.#show();
    if (!this.#out.json)
      this.#out.lines([renderSameAnswer(same, this.#held.length, wrongAnswerWords(first), this.#out.paint)]);
  }

  #isSameSoFar(): boolean {
    const [only = null, ...others] = new Set(this.#held.flatMap(({ statuses }) => statuses));
    return others.length === 0 && !isSuccess(only);
  }

  #show(): void {
    for (const result of this.#held.splice(0)) {
      const said = wrongAnswerWords(result);
      if (!this.#out.json)
        this.#out.lines([renderCase(result, this.#told.has(said) ? undefined : said, this.#out.paint)]);
      this.#told.add(said);
    }
  }
}
