/** The page of an order: how it stands, its payments with what became of each, and what to do. */
import { html } from "hono/html";
import { paylink } from "../domain/hint.ts";
import type { StoredEvent } from "../events/history.ts";
import { isTelling, standingText } from "../orders/standing-words.ts";
import type { OrderStanding } from "../orders/standing.ts";
import { clipped, copyable, panel } from "../pages/components.ts";
import { describedPart } from "../pages/exchange.ts";
import { detailContent } from "../pages/frame.ts";
import { table } from "../pages/lists.ts";
import type { Page } from "../pages/page.ts";
import { renderHint } from "../render/hint.ts";
import type { EventStore } from "../store/event-store.ts";
import { inspectorPage, type InspectorView } from "./frame.ts";
import { type EventRow, EVENT_LISTING, orderPath, withAttempts } from "./rows.ts";

/** The most payments that are shown. */
const ORDER_PAYMENTS_SHOWN = 50;

export interface OrderPayments {
  /** The order number. */
  readonly number: string;
  /** Undefined where it is not known. */
  readonly standing: OrderStanding | undefined;
  /** In the order of arrival. */
  readonly rows: readonly EventRow[];
}

/** The order of a number, of the events that one key, or another of the run, has verified; undefined without any. */
export async function orderPayments(
  store: EventStore,
  number: string,
  view: Pick<InspectorView, "keys">,
  key?: string,
): Promise<OrderPayments | undefined> {
  const found: StoredEvent[] = [];
  for await (const event of store.events({ order: number, limit: ORDER_PAYMENTS_SHOWN }))
    if (event.reference === number) found.push(event);
  const first = key ?? found.find((one) => view.keys?.includes(one.key) ?? true)?.key ?? found[0]?.key;
  const together = first !== undefined && view.keys?.includes(first) ? view.keys : [first];
  const rows = await withAttempts(
    store,
    found.filter((one) => together.includes(one.key)),
  );
  const last = rows.at(-1);
  return last === undefined ? undefined : { number, standing: last.order, rows };
}

/** How the order of an event stands, where the event alone does not say it. */
export function orderAlert(event: StoredEvent, order: OrderPayments | undefined): Page | "" {
  if (order?.standing === undefined || !isTelling(order.standing, event.outcome)) return "";
  return html`<section class="alert" aria-label="The order">
    <p class="${order.standing.standing === "twice" ? "bad" : ""}">
      Order <bdi>${clipped(order.number)}</bdi>: ${standingText(order.standing)}.
    </p>
    <a href="${orderPath(order.number)}">Show the order</a>
  </section>`;
}

export function orderPanel(view: InspectorView, { number, rows }: OrderPayments): Page {
  return panel(
    "order",
    `Payments of order ${clipped(number)}`,
    html`${table(view, { ...EVENT_LISTING, caption: "Payments of this order, in the order of arrival" }, rows)}
      <p class="hint">
        What happened to this order, also at the service:
        ${copyable("the command that shows the timeline", renderHint([paylink`reconcile ${number}`], view.named))}
      </p>`,
  );
}

export const orderPage = (view: InspectorView, order: OrderPayments): Page =>
  inspectorPage(view, {
    title: `Order ${clipped(order.number)}`,
    tab: "/",
    content: detailContent(
      describedPart({
        kind: order.standing?.standing === "twice" ? "bad" : "waiting",
        words:
          order.standing === undefined
            ? "It is not known how it stands."
            : `${standingText(order.standing)}.`,
      }),
      [orderPanel(view, order)],
    ),
  });
