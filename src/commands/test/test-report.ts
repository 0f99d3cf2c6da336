/** Counts what happened while the command of `paylink test` ran, and reports it as text. */
import type { Paint } from "../../render/paint.ts";
import { outcomeOf, textOf } from "../../domain/transaction.ts";
import { type Forward, isAccepted, type Rejection, type WebhookEvent } from "../../receiver/events.ts";
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

export interface TestReport {
  readonly counts: Readonly<Counts>;
  readonly onSandboxEvent: (event: SandboxEvent) => void;
  readonly onWebhook: (outcome: WebhookEvent | Rejection) => void;
  readonly onForward: (event: WebhookEvent, forward: Forward) => void;
  text(paint: Paint): string;
}

export function createTestReport(): TestReport {
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
  const undelivered = new Map<string, string>();
  const rejections: string[] = [];
  /** The last forward of each record, if the target did not accept it. */
  const failedForwards = new Map<string, string>();
  return {
    counts,
    onSandboxEvent: (event) => {
      if (event.type === "link") counts.created += 1;
      if (event.type === "payment") countOutcome(counts, event.record);
      if (event.type !== "delivery") return;
      if (event.state === "delivered") {
        counts.delivered += 1;
        undelivered.delete(event.delivery.id);
      } else {
        const { id, url, uti } = event.delivery;
        undelivered.set(id, failedForwards.get(uti) ?? `${url}: ${event.detail}`);
      }
      counts.undelivered = undelivered.size;
    },
    onWebhook: (outcome) => {
      if (outcome.type !== "rejected") return;
      counts.rejected += 1;
      rejections.push(`${outcome.code}: ${outcome.detail}`);
    },
    onForward: ({ record }, { target, status, detail }) => {
      counts.forwarded += 1;
      const uti = (record && textOf(record, "uti")) ?? "";
      if (isAccepted(status)) failedForwards.delete(uti);
      else failedForwards.set(uti, `${target}: ${status === null ? detail : `answered ${status}`}`);
    },
    text: (paint) => {
      const { created, approved, declined, cancelled, delivered, rejected } = counts;
      const paid = `${approved} approved, ${declined} declined, ${cancelled} cancelled`;
      const line = `${created} created, ${paid}; ${delivered} delivered, ${undelivered.size} undelivered, ${rejected} rejected`;
      const failures = [...undelivered.values(), ...rejections].map(
        (failure) => `  ${paint.red("✗")} ${safeText(failure)}`,
      );
      return [`${paint.bold("paylink test")}  ${line}`, ...failures].join("\n");
    },
  };
}

function countOutcome(counts: Counts, record: Parameters<typeof outcomeOf>[0]): void {
  const outcome = outcomeOf(record);
  if (outcome === "APPROVED") counts.approved += 1;
  if (outcome === "DECLINED") counts.declined += 1;
  if (outcome === "CANCELLED") counts.cancelled += 1;
}
