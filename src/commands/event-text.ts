/** Events and rejections as people see them arrive, in `listen` and `events tail`: on a terminal, or as lines of a log. */
import type { Output } from "../context.ts";
import { WARNING_MEANINGS, WARNINGS } from "../domain/reasons.ts";
import { levelOf, type Rejection, type WebhookEvent } from "../receiver/events.ts";
import { clockTime, logLine } from "../render/layout.ts";
import { renderCompactWebhook, renderRejection, renderWebhook } from "../render/received-webhook.ts";

export interface EventTextParts {
  readonly out: Output;
  readonly compact: boolean;
  readonly transactionCommand: string | undefined;
}

/** Shows a warning that applies to every webhook of the service once, and puts a blank line between records. */
export function createEventText({
  out,
  compact,
  transactionCommand,
}: EventTextParts): (event: WebhookEvent) => string {
  const shown = new Set<string>();
  let isFirst = true;
  return (event) => {
    for (const warning of event.verdict.warnings) {
      if (WARNINGS[warning] === "webhook" || shown.has(warning)) continue;
      shown.add(warning);
      out.warn(`${warning}  ${WARNING_MEANINGS[warning]} (shown once)`);
    }
    const { paint, width, isLog } = out;
    const text = compact
      ? renderCompactWebhook(event, paint, isLog)
      : renderWebhook(event, { paint, width, transactionCommand });
    if (isLog) return logLine(event.receivedAt, levelOf(event), text);
    if (compact) return text;
    const separator = isFirst ? "" : "\n";
    isFirst = false;
    return separator + text;
  };
}

export function rejectionText(rejection: Omit<Rejection, "request">, { isLog, paint }: Output): string {
  const { id, receivedAt } = rejection;
  if (isLog) return logLine(receivedAt, "warning", renderRejection(id, rejection, paint));
  return renderRejection(`${clockTime(receivedAt)} ${id}`, rejection, paint);
}
