/** Rows of events and rejections: what each was, and what became of it. */
import { isSuccess } from "../http/message.ts";
import { html } from "hono/html";
import { outcomeName } from "../domain/outcome.ts";
import { isTelling, STANDING_LABELS } from "../orders/standing-words.ts";
import type { OrderStanding } from "../orders/standing.ts";
import { attemptsText } from "../events/event-standing-words.ts";
import { answerText } from "../http/answer-words.ts";
import type { StoredAttempt, StoredEvent, StoredRequest } from "../events/history.ts";
import type { EventStore } from "../store/event-store.ts";
import { badge, clipped, countdown, exactTime, shownAmount, spaced } from "../pages/components.ts";
import type { Listing } from "../pages/lists.ts";
import type { Page } from "../pages/page.ts";
import type { InspectorView } from "./frame.ts";

/** The most rows of a list on a page. */
export const ROWS_SHOWN = 50;

/** A row with the newest attempt to forward it. */
export interface EventRow {
  readonly stored: StoredRequest;
  readonly attempt: StoredAttempt | undefined;
  /** How the order of an event stands now; undefined without an order number. */
  readonly order: OrderStanding | undefined;
}

export async function withAttempts(store: EventStore, found: readonly StoredRequest[]): Promise<EventRow[]> {
  const events = found.flatMap((one) => (one.type === "event" ? [one] : []));
  const attempts = await store.lastAttempts(events.map(({ id }) => id));
  const orders = await store.orders(events, async () => []);
  return found.map((stored) => ({
    stored,
    attempt: attempts.get(stored.id),
    order: orders.get(stored.id),
  }));
}

/** An event that is forwarded nowhere is `verified`. */
export const shownState = (stored: StoredRequest): string =>
  stored.type === "event" ? (stored.delivery?.state ?? "verified") : stored.type;

export const orderPath = (number: string): string => `/orders/${encodeURIComponent(number)}`;

export const eventPath = (id: string): string => `/events/${encodeURIComponent(id)}`;

/** What people call an event: its order number, or its uti. */
export const eventName = ({ reference, uti, id }: StoredEvent): string => clipped(reference || uti || id);

/** `partially approved` */
export const eventOutcome = ({ outcome }: StoredEvent): string => spaced(outcomeName(outcome));

export const eventAmount = ({ content: { record } }: StoredEvent): string =>
  record === null ? "" : shownAmount(record);

function answerCell({ stored, attempt }: EventRow, now: Date): Page | string {
  if (stored.type === "rejected") return `${stored.status} by listen`;
  if (attempt === undefined || stored.type !== "event") return "";
  const { attempts = 0, next = null } = stored.delivery ?? {};
  const isOver = attempts <= 1 && next === null;
  return html`<span class="${isSuccess(attempt.status) ? "good" : "bad"}"
      >${clipped(answerText(attempt))}</span
    >
    ${isOver ? "" : html`<span class="quiet">${attemptsText(attempts, next)} ${next === null ? "" : countdown(next, now)}</span>`}`;
}

export const EVENT_LISTING: Listing<EventRow, InspectorView> = {
  caption: "Received webhooks, newest first",
  id: ({ stored }) => stored.id,
  columns: [
    { title: "State", cell: ({ stored }) => badge(shownState(stored)) },
    {
      title: "Order number",
      kind: "main",
      cell: ({ stored, order }) =>
        stored.type === "event" &&
        html`<a href="${eventPath(stored.id)}" dir="auto">${eventName(stored)}</a
          >${repeatCount(stored)}${standingMark(stored, order)}`,
    },
    {
      title: "Outcome",
      cell: ({ stored }) =>
        stored.type === "event"
          ? eventOutcome(stored)
          : html`<a href="${eventPath(stored.id)}">${stored.code}</a>`,
    },
    { title: "Amount", kind: "number", cell: ({ stored }) => stored.type === "event" && eventAmount(stored) },
    { title: "Answer", kind: "answer", cell: (row, { now }) => answerCell(row, now) },
    { title: "Received", cell: ({ stored }, { now }) => exactTime(stored.receivedAt, now) },
  ],
};

const repeatCount = ({ repeats }: StoredEvent): Page | "" =>
  repeats === 0
    ? ""
    : html` <span class="count" title="received ${repeats + 1} times">×${repeats + 1}</span>`;

/** How its order stands, where the outcome of the event does not say it. */
const standingMark = ({ reference, outcome }: StoredEvent, order: OrderStanding | undefined): Page | "" =>
  order !== undefined && isTelling(order, outcome)
    ? html` <a class="count ${order.standing === "twice" ? "failed" : ""}" href="${orderPath(reference)}"
        >${STANDING_LABELS[order.standing]}</a
      >`
    : "";
