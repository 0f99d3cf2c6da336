/** All payments of an event's order: whether the order was paid, and whether it was paid twice. */
import { html } from "hono/html";
import { paylink } from "../domain/hint.ts";
import { splitReference } from "../domain/reference.ts";
import type { EventStore } from "../store/event-store.ts";
import { renderHint } from "../render/hint.ts";
import type { StoredEvent } from "../events/history.ts";
import { address, clipped, copyable, panel } from "../pages/components.ts";
import { table } from "../pages/lists.ts";
import type { Page } from "../pages/page.ts";
import type { InspectorView } from "./frame.ts";
import { type EventRow, EVENT_LISTING, withAttempts } from "./rows.ts";

/** The most payments that are shown. */
const ORDER_PAYMENTS_SHOWN = 20;

export interface OrderPayments {
  /** The order number. */
  readonly order: string;
  readonly rows: readonly EventRow[];
  readonly hasMore: boolean;
}

/** Those that the same key has verified: another merchant may have the same order numbers. Undefined without an order number. */
export async function orderPayments(
  store: EventStore,
  event: StoredEvent,
): Promise<OrderPayments | undefined> {
  if (event.reference === "") return undefined;
  const order = splitReference(event.reference).base;
  const found = await store.list(
    { sought: { text: order }, keys: [event.key], outcome: undefined },
    { limit: 2 * ORDER_PAYMENTS_SHOWN },
  );
  const payments = found.filter(
    (one) => one.type === "event" && splitReference(one.reference).base === order,
  );
  return {
    order,
    rows: await withAttempts(store, payments.slice(0, ORDER_PAYMENTS_SHOWN)),
    hasMore: payments.length > ORDER_PAYMENTS_SHOWN,
  };
}

/** Those that were approved, the newest first. */
export const approvedIn = ({ rows }: OrderPayments): StoredEvent[] =>
  rows.flatMap(({ stored }) => (stored.type === "event" && stored.outcome === "APPROVED" ? [stored] : []));

export function orderPanel(view: InspectorView, { order, rows, hasMore }: OrderPayments): Page {
  const all = html`<a href="${address("/", { text: order })}">Show all</a>`;
  return panel(
    "order",
    `Payments of order ${clipped(order)}`,
    html`${table(view, { ...EVENT_LISTING, caption: "Payments of this order, newest first" }, rows)}
      <p class="hint">
        What happened to this order, also at the service:
        ${copyable("the command that shows the timeline", renderHint([paylink`reconcile ${order}`], view.named))}
      </p>`,
    hasMore ? all : "",
  );
}
