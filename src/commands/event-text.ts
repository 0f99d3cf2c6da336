/** Events and rejections as people see them arrive, in `listen` and `events tail`: on a terminal, or as lines of a log. */
import type { Output } from "../context.ts";
import type { Rejection, WebhookEvent } from "../events/event.ts";
import { levelOf } from "../events/event-json.ts";
import { clockTime, fitLines, formatLocal, logLine } from "../render/layout.ts";
import {
  renderCard,
  renderCompactWebhook,
  renderRejection,
  renderWebhook,
} from "../render/received-webhook.ts";

export interface EventTextParts {
  readonly out: Output;
  /** One line for each. */
  readonly compact: boolean;
  /** Every field, in place of a card. */
  readonly full: boolean;
}

/** Puts a blank line between records. */
export function createEventText({ out, compact, full }: EventTextParts): (event: WebhookEvent) => string {
  let isFirst = true;
  return (event) => {
    const { paint, width, lineWidth, isLog } = out;
    const text = compact
      ? renderCompactWebhook(event, { paint, width: lineWidth }, isLog ? "" : timeOn(out, event.receivedAt))
      : (full ? renderWebhook : renderCard)(event, { paint, width });
    if (isLog) return logLine(event.receivedAt, levelOf(event), text);
    if (compact) return text;
    const separator = isFirst ? "" : "\n";
    isFirst = false;
    return separator + text;
  };
}

/** On a terminal, what happens now needs no date. */
export const timeOn = ({ isTerminal }: Output, at: Date): string =>
  isTerminal ? clockTime(at) : formatLocal(at);

export function rejectionText(
  rejection: Omit<Rejection, "request">,
  { isLog, paint, lineWidth }: Output,
): string {
  const { id, receivedAt } = rejection;
  if (isLog) return logLine(receivedAt, "warning", renderRejection(id, rejection, paint));
  return fitLines(renderRejection(`${formatLocal(receivedAt)} ${id}`, rejection, paint), lineWidth);
}
