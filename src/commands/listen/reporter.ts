/** Shows each webhook as it comes, for people or as JSON lines, and counts them for the summary. */
import type { Output } from "../../context.ts";
import { stringifyJson } from "../../domain/json.ts";
import { targetUri } from "../../http/message.ts";
import type { EventLine, Rejection, WebhookEvent } from "../../receiver/events.ts";
import { renderCompactRecord, renderRecord } from "../../render/record.ts";
import { renderEventHeading, renderRejection, type Counts } from "../../render/webhook.ts";

export interface Reporter {
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
  readonly counts: () => Counts;
}

export function createReporter(out: Output, compact: boolean): Reporter {
  const counts = { received: 0, verified: 0, rejected: 0, forwarded: 0, failed: 0 };
  return {
    counts: () => counts,
    observe: (outcome) => {
      counts.received += 1;
      if (outcome.type === "rejected") counts.rejected += 1;
      else if (outcome.verdict.verdict === "valid") counts.verified += 1;
      out.data(out.json ? jsonLine(outcome) : lines(outcome, out, compact));
    },
  };
}

function lines(outcome: WebhookEvent | Rejection, out: Output, compact: boolean): string {
  if (outcome.type === "rejected") return renderRejection(outcome, out.paint);
  const { verdict, record, breaches } = outcome;
  const heading = renderEventHeading(
    { ...outcome, verified: verdict.verdict === "valid", warnings: verdict.warnings },
    out.paint,
  );
  if (compact) return record === null ? heading : `${heading}  ${renderCompactRecord(record, out.paint)}`;
  return `${heading}\n${renderRecord(record ?? {}, breaches, out)}\n`;
}

function jsonLine(outcome: WebhookEvent | Rejection): string {
  if (outcome.type === "rejected") return JSON.stringify(outcome);
  const { type, id, receivedAt, repeated, verdict, record, breaches, request } = outcome;
  const line: EventLine = {
    type,
    id,
    receivedAt: receivedAt.toISOString(),
    repeated,
    verdict,
    record,
    breaches,
    method: request.method,
    url: targetUri(request),
    headers: request.headers,
    bodyBase64: Buffer.from(request.body).toString("base64"),
  };
  return stringifyJson(line);
}
