/** The words of a finding with what else is known: the callback address, and an order number of the other side that is nearly the same. */
import type { Context } from "../../context.ts";
import { type CommandLine, paylink } from "../../domain/hint.ts";
import type { Finding } from "../../reconcile/findings.ts";
import type { Suggestions } from "../../reconcile/near-numbers.ts";
import { renderCommand } from "../../render/hint.ts";
import { findingText, hasNoWebhook, nextStep, suggestionText } from "../../render/reconcile.ts";

export interface FindingWords {
  /** Where the profile asks webhooks to be sent to, in words. */
  readonly callback: string;
  readonly suggestions: Suggestions;
  readonly named: Context["named"];
}

/** What it means, as sentences. */
export function meaningOf(finding: Finding, { suggestions }: FindingWords): string {
  const near = suggestions.for(finding);
  return near === undefined
    ? findingText(finding)
    : `${findingText(finding)} ${suggestionText(finding, near)}`;
}

/** The same where the callback address is not said once for all. */
export const detailOf = (finding: Finding, words: FindingWords): string =>
  hasNoWebhook(finding) ? `${meaningOf(finding, words)} ${words.callback}` : meaningOf(finding, words);

/** The command that helps next. */
export function nextCommand(finding: Finding, { suggestions }: FindingWords): CommandLine | undefined {
  const near = finding.finding === "booked only" ? suggestions.for(finding) : undefined;
  return near === undefined ? nextStep(finding) : paylink`reconcile ${near}`;
}

export function nextText(finding: Finding, words: FindingWords): string | undefined {
  const next = nextCommand(finding, words);
  return next && renderCommand(next, words.named);
}
