/** What happened while the command ran: counted, and in words. */
import type { Paint } from "../../render/paint.ts";
import { outcomeOf } from "../../domain/transaction.ts";
import type { Forward, Rejection, WebhookEvent } from "../../receiver/events.ts";
import { safeText } from "../../render/safe-text.ts";
import type { SandboxEvent } from "../../sandbox/service.ts";

interface Counts {
  created: number;
  approved: number;
  declined: number;
  cancelled: number;
  delivered: number;
  undelivered: number;
  rejected: number;
  forwarded: number;
}

export interface Report {
  readonly counts: Readonly<Counts>;
  readonly happened: (event: SandboxEvent) => void;
  readonly received: (outcome: WebhookEvent | Rejection) => void;
  readonly forwarded: (event: WebhookEvent, forward: Forward) => void;
  words(paint: Paint): string;
}

export function createReport(): Report {
  const counts: Counts = {
    created: 0,
    approved: 0,
    declined: 0,
    cancelled: 0,
    delivered: 0,
    undelivered: 0,
    rejected: 0,
    forwarded: 0,
  };
  const open = new Map<string, string>();
  const rejections: string[] = [];
  return {
    counts,
    happened: (event) => {
      if (event.type === "link") counts.created += 1;
      if (event.type === "payment") countOutcome(counts, event.record);
      if (event.type !== "delivery") return;
      if (event.state === "delivered") {
        counts.delivered += 1;
        open.delete(event.delivery.id);
      } else open.set(event.delivery.id, `${event.delivery.url}: ${event.detail}`);
      counts.undelivered = open.size;
    },
    received: (outcome) => {
      if (outcome.type !== "rejected") return;
      counts.rejected += 1;
      rejections.push(`${outcome.code}: ${outcome.detail}`);
    },
    forwarded: () => void (counts.forwarded += 1),
    words: (paint) => {
      const { created, approved, declined, cancelled, delivered, undelivered, rejected } = counts;
      const paid = `${approved} approved, ${declined} declined, ${cancelled} cancelled`;
      const line = `${created} created, ${paid}; ${delivered} delivered, ${undelivered} undelivered, ${rejected} rejected`;
      const faults = [...open.values(), ...rejections].map(
        (fault) => `  ${paint.red("✗")} ${safeText(fault)}`,
      );
      return [`${paint.bold("paylink test")}  ${line}`, ...faults].join("\n");
    },
  };
}

function countOutcome(counts: Counts, record: Parameters<typeof outcomeOf>[0]): void {
  const outcome = outcomeOf(record);
  if (outcome === "APPROVED") counts.approved += 1;
  if (outcome === "DECLINED") counts.declined += 1;
  if (outcome === "CANCELLED") counts.cancelled += 1;
}
