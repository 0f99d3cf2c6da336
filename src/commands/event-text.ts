/** Events as people see them arrive, in `listen` and `events tail`. */
import type { Output } from "../context.ts";
import { WARNING_MEANINGS, WARNINGS } from "../domain/reasons.ts";
import type { WebhookEvent } from "../receiver/events.ts";
import { renderCompactWebhook, renderWebhook } from "../render/received-webhook.ts";

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
    if (compact) return renderCompactWebhook(event, out.paint);
    const { paint, width } = out;
    const text = renderWebhook(event, { paint, width, transactionCommand });
    const separator = isFirst ? "" : "\n";
    isFirst = false;
    return separator + text;
  };
}
