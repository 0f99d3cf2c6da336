/** Shows each webhook as it comes, for people or as JSON lines, and counts them for the summary. */
import type { Output } from "../../context.ts";
import { eventLine } from "../../receiver/event-line.ts";
import { isAccepted, type Forward, type Rejection, type WebhookEvent } from "../../receiver/events.ts";
import { renderCompactRecord, renderRecord } from "../../render/transaction-record.ts";
import {
  renderEventHeading,
  renderForward,
  renderRejection,
  type Counts,
} from "../../render/received-webhook.ts";

export interface Reporter {
  readonly observe: (outcome: WebhookEvent | Rejection) => void;
  readonly forwarded: (event: WebhookEvent, forward: Forward) => void;
  /** Prints what is left, and gives the counts. */
  readonly finish: () => Counts;
}

interface ReporterParts {
  readonly out: Output;
  readonly compact: boolean;
  /** Whether an event is one of those that are to be shown; all are counted. */
  readonly shows: (event: WebhookEvent) => boolean;
}

/** Characters that wait for the end of the turn. */
const MAX_PENDING = 1024 * 1024;

export function createReporter({ out, compact, shows }: ReporterParts): Reporter {
  const counts = { received: 0, verified: 0, rejected: 0, forwarded: 0, failed: 0 };
  let pending: string[] = [];
  let pendingLength = 0;
  const flush = (): void => {
    out.lines(pending);
    pending = [];
    pendingLength = 0;
  };
  /** What becomes known in one turn of the event loop is written together. */
  const print = (text: string): void => {
    if (pending.length === 0) setImmediate(flush);
    pending.push(text);
    pendingLength += text.length;
    if (pendingLength > MAX_PENDING) flush();
  };
  return {
    finish: () => {
      flush();
      return counts;
    },
    observe: (outcome) => {
      counts.received += 1;
      if (outcome.type === "rejected") counts.rejected += 1;
      else if (outcome.verdict.verdict === "valid") counts.verified += 1;
      if (outcome.type === "rejected")
        print(out.json ? rejectionLine(outcome) : renderRejection(outcome, out.paint));
      else if (shows(outcome)) print(out.json ? eventLine(outcome) : eventText(outcome, out, compact));
    },
    forwarded: ({ id }, forward) => {
      if (isAccepted(forward.status)) counts.forwarded += 1;
      else counts.failed += 1;
      print(out.json ? forwardLine(id, forward) : renderForward(id, forward, out.paint));
    },
  };
}

function eventText(event: WebhookEvent, out: Output, compact: boolean): string {
  const { verdict, record, breaches } = event;
  const heading = renderEventHeading(
    { ...event, verified: verdict.verdict === "valid", warnings: verdict.warnings },
    out.paint,
  );
  if (compact) return record === null ? heading : `${heading}  ${renderCompactRecord(record, out.paint)}`;
  return `${heading}\n${renderRecord(record ?? {}, breaches, out)}\n`;
}

function rejectionLine({ type, id, receivedAt, code, status, detail, checks, hint }: Rejection): string {
  return JSON.stringify({ type, id, receivedAt, code, status, detail, checks, hint });
}

function forwardLine(id: string, { at, target, status, ms, detail }: Forward): string {
  return JSON.stringify({
    type: "forward",
    id,
    at,
    target,
    status,
    ms,
    ...(detail === "" ? {} : { detail }),
  });
}
