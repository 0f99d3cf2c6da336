/** `paylink events show`: one event in full, with everything that happened to it. */
import { plural } from "../../values/plural.ts";
import type { Context } from "../../context.ts";
import { comparableText } from "../../values/comparable-text.ts";
import { hint, paylink } from "../../domain/hint.ts";
import { orderText } from "../../orders/order-json.ts";
import { baseNumbersOf } from "../../orders/order-number.ts";
import { paymentIn } from "../../orders/order.ts";
import { reusedText, standingText } from "../../orders/standing-words.ts";
import { standingOf } from "../../orders/standing.ts";
import { recordAmount } from "../../render/transaction-record.ts";
import type { EventStore } from "../../store/event-store.ts";
import { readingKeys } from "../order-standings.ts";
import { deliveryLabel } from "./stored-events.ts";
import { type EventFate, eventStanding } from "../../events/event-standing.ts";
import { standingWords } from "../../events/event-standing-words.ts";
import type { History, StoredAttempt, StoredEvent } from "../../events/history.ts";
import { type Step, stepsOf } from "../../events/steps.ts";
import { type HttpRequest, isSuccess } from "../../http/message.ts";
import { bodyIsKept, type Rejection } from "../../events/event.ts";
import { eventLine, failedCheckOf, requestDocument } from "../../events/event-json.ts";
import type { Verdict } from "../../signatures/verdict.ts";
import { renderHint } from "../../render/hint.ts";
import { fitLines, formatLocal, NO_VALUE, renderListing } from "../../render/layout.ts";
import { lastCause } from "../../render/likely-cause.ts";
import type { Paint } from "../../render/paint.ts";
import { renderCard, renderWebhook } from "../../render/received-webhook.ts";
import { safeText } from "../../render/safe-text.ts";
import { rejectionText } from "../event-text.ts";

interface ShowValues {
  readonly uti: string;
  /** Every field of the record, and the request. */
  readonly full: boolean;
  readonly db: string | undefined;
}

export async function showEvent(context: Context, { uti, full, db }: ShowValues): Promise<number> {
  const { out } = context;
  const store = await context.events(db);
  const ofOrder = await eventsNumbered(store, uti);
  if (ofOrder.length > 1) return showOrder(context, store, comparableText(uti), ofOrder);
  const [found = await store.findOne(uti)] = ofOrder;
  if (found.type === "rejected")
    out.result(
      () => rejectionDocument(found),
      () => rejectionDetails(found, context),
    );
  else {
    const history = await store.history(found.id);
    const order = (await store.orders([found], readingKeys(context))).get(found.id);
    const event = { ...found, order };
    out.result(
      () => eventWithHistory(event, history),
      () => eventDetails(event, history, full, context),
    );
    if (found.reference !== "")
      out.note(
        renderHint(
          hint`All that happened to its order: ${paylink`reconcile ${found.reference}`}`,
          context.named,
        ),
      );
  }
  return 0;
}

/**
 * The events whose order number it is, in the order of arrival. Without any, it may be the number of a reusable link: the references of
 * its payments have a suffix behind it.
 */
async function eventsNumbered(store: EventStore, name: string): Promise<StoredEvent[]> {
  const number = comparableText(name);
  const [own, reused]: [StoredEvent[], StoredEvent[]] = [[], []];
  if (number === "") return own;
  for await (const event of store.events({ order: number }))
    if (event.reference === number) own.push(event);
    else if (own.length === 0 && baseNumbersOf(event.reference).includes(number)) reused.push(event);
  return own.length > 0 ? own : reused;
}

/** Who types an order number wants the order: how it stands, its payments, and what became of each. */
async function showOrder(
  context: Context,
  store: EventStore,
  number: string,
  found: readonly StoredEvent[],
): Promise<number> {
  const { out, named } = context;
  const isMixed = new Set(found.map(({ key }) => key)).size > 1;
  const keys = isMixed ? await readingKeys(context)() : [];
  const first = found.find(({ key }) => keys.includes(key)) ?? found[0];
  const together = first !== undefined && !keys.includes(first.key) ? [first.key] : keys;
  const events = found.filter(({ key }) => together.includes(key));
  const isOfOrder = first?.reference === number;
  const order = isOfOrder
    ? (await store.orders(events, async () => keys)).get(events.at(-1)?.id ?? "")
    : undefined;
  const standing = isOfOrder
    ? order && standingText(order)
    : reusedText(standingOf({ number, payments: events.map(({ content }) => paymentIn(content.record)) }));
  const rows = events.map(({ receivedAt, outcome, content, reference, uti, id, delivery }) => [
    { text: formatLocal(receivedAt) },
    ...(isOfOrder ? [] : [{ text: reference }]),
    { text: outcome },
    { text: content.record === null ? NO_VALUE : recordAmount(content.record), right: true },
    { text: uti || id },
    { text: deliveryLabel(delivery, context) },
  ]);
  out.result(
    () => {
      const lines = events.map((event) => eventLine(event)).join(",");
      return `{"order":${order === undefined ? "null" : orderText(order)},"events":[${lines}]}`;
    },
    [
      `${out.paint.bold(safeText(number))}  ${safeText(standing ?? "it is not known how it stands")}`,
      renderListing(
        ["RECEIVED", ...(isOfOrder ? [] : ["REFERENCE"]), "OUTCOME", "AMOUNT", "UTI", "WHAT BECAME OF IT"],
        rows,
        out,
      ),
    ].join("\n"),
  );
  const others = found.length - events.length;
  if (others > 0) out.note(`${plural(others, "event")} of other keys with this number are left out.`);
  out.note(
    renderHint(hint`All that happened to it, also at the service: ${paylink`reconcile ${number}`}`, named),
  );
  return 0;
}

/** The event's own line, with its history. */
const eventWithHistory = (event: StoredEvent, history: History): string =>
  `${eventLine(event).slice(0, -1)},${JSON.stringify({ delivery: event.delivery, ...history }).slice(1)}`;

const rejectionDocument = ({ request, ...rejection }: Rejection): string =>
  JSON.stringify({
    ...rejection,
    check: failedCheckOf(rejection.verdict),
    request: request && requestDocument(request),
  });

/** The event, whose head says when it arrived, and one line for everything that happened to it then, in order. */
function eventDetails(event: StoredEvent, history: History, full: boolean, context: Context): string {
  const { paint, width, lineWidth } = context.out;
  const { verdict, request } = event;
  const steps = stepsOf({ events: [{ event, history }] }, context.now()).filter(
    ({ what }) => what !== "webhook arrived",
  );
  const cause = lastCause(event, history);
  const afterRequest = [
    ...(full ? [`  ${paint.cyan("signature")}`, `    ${verdictWords(verdict)}`] : []),
    `  ${paint.dim(`verified by the key ${event.key}`)}`,
    ...steps.map((step) => `  ${paint.dim(formatLocal(step.at))}  ${stepWords(step, full, paint)}`),
    ...(cause === undefined ? [] : [`  ${safeText(cause)}`]),
    ...standingLines(event, history, context),
  ];
  return [
    (full ? renderWebhook : renderCard)(event, { paint, width }),
    // Its lines are whole, so that they can be copied.
    ...(full ? requestLines(request, paint) : []),
    fitLines(afterRequest.join("\n"), lineWidth),
  ].join("\n");
}

function stepWords({ what, attempt, detail }: Step, full: boolean, paint: Paint): string {
  if (attempt === undefined) return `${what} ${safeText(detail)}`;
  const shown = (isSuccess(attempt.status) ? paint.green : paint.red.bold)(what);
  return [`${shown}  ${safeText(detail)}`, ...(full ? wholeAnswer(attempt, paint) : [])].join("\n");
}

/** Its headers and its body, as far as they are kept. */
const wholeAnswer = ({ reply }: StoredAttempt, paint: Paint): string[] =>
  reply === null
    ? []
    : [
        ...reply.headers.map(([name, value]) => `    ${paint.dim(safeText(name))}: ${safeText(value)}`),
        ...(reply.text === "" ? [] : reply.text.trimEnd().split("\n")).map((line) =>
          `    ${safeText(line)}`.trimEnd(),
        ),
      ];

function verdictWords({ keyid, alg, created, covered }: Verdict): string {
  const when = created === null ? "" : `, made ${formatLocal(new Date(created * 1000))}`;
  const key = keyid === null ? "" : ` with the key ${safeText(keyid)}`;
  return `${alg}${key}${when}, covers ${covered.map(safeText).join(" ")}`;
}

const KIND_COLOURS = { good: "green", bad: "red", waiting: "yellow" } as const;

/** What became of it: the answer is in the line of its attempt already. */
function standingLines(event: StoredEvent, { attempts }: History, { out, named }: Context): string[] {
  const standing = eventStanding(event.delivery, attempts);
  const { kind, did = "", next = did, at } = standingWords(standing);
  const retry = RETRY_EFFECTS[standing.fate];
  return [
    `  ${out.paint[KIND_COLOURS[kind]](safeText(at === null ? next : `${next} at ${formatLocal(at)}.`))}`,
    ...(retry === undefined
      ? []
      : [`  ${renderHint([paylink`events retry ${event.id}`], named)}   ${retry}`]),
  ];
}

/** What `events retry` does, if it does anything that would not happen anyway. */
const RETRY_EFFECTS: Readonly<Partial<Record<EventFate, string>>> = {
  refused: "lets a listen --ack stored forward it",
  failed: "lets a listen --ack stored forward it",
  skipped: "forwards it after all",
};

function rejectionDetails(rejection: Rejection, { out, named }: Context): string {
  const { request, id, verdict } = rejection;
  const { paint } = out;
  return [
    rejectionText(rejection, out),
    ...(request === null ? [] : requestLines(request, paint, bodyIsKept(rejection))),
    `  ${paint.cyan("signature")}`,
    `    ${failedCheckOf(verdict) === undefined ? "verified" : `the check "${failedCheckOf(verdict)}" failed`}${verdict === null ? "" : `; ${verdictWords(verdict)}`}`,
    ...(request === null ? [] : [`  ${renderHint([paylink`verify --event ${id}`], named)}   explains it`]),
    ...(bodyIsKept(rejection)
      ? [
          `  ${renderHint([paylink`events accept ${id}`], named)}   stores it if it verifies with today's keys`,
        ]
      : []),
  ].join("\n");
}

function requestLines({ method, target, headers, body }: HttpRequest, paint: Paint, isKept = true): string[] {
  return [
    `  ${paint.cyan("request")}`,
    `    ${safeText(`${method} ${target}`)}`,
    ...headers.map(([name, value]) => `    ${paint.dim(safeText(name))}: ${safeText(value)}`),
    `    ${isKept ? `${body.length} bytes of body` : "its body was not kept; fix the cause, such as the path, and have the service send the webhook again"}`,
  ];
}
