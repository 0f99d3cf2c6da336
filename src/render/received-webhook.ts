/** Shows what the receiver received: headings of events, rejections, forwards and the final summary. */
import { plural } from "../values/plural.ts";
import { isSuccess } from "../http/message.ts";
import { WARNING_MEANINGS, WARNINGS } from "../domain/reasons.ts";
import { isTelling, standingText } from "../orders/standing-words.ts";
import { describeViolation, judgeOutcome, outcomeOf, textOf } from "../domain/transaction.ts";
import { standingLabel } from "../events/event-standing-words.ts";
import { type Forward, type Rejection, type WebhookEvent } from "../events/event.ts";
import type { ForwardingProgress } from "../receiver/forwarder.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { clip, widthOf } from "./width.ts";
import { formatLocal, wrap, NO_VALUE } from "./layout.ts";
import {
  recordAmount,
  alignedOutcome,
  LONGEST_USUAL,
  recordLines,
  type RecordStyle,
  renderOutcomeLine,
  renderPayment,
  renderResult,
  renderWarning,
} from "./transaction-record.ts";

/** What is shown of an event. */
type Received = Pick<WebhookEvent, "id" | "receivedAt" | "repeated" | "content" | "order"> & {
  readonly verdict: Pick<WebhookEvent["verdict"], "verdict" | "warnings">;
  readonly request: Pick<WebhookEvent["request"], "target">;
};

/** The whole record, the outcome first, then when and where it was received. */
export function renderWebhook(event: Received, style: RecordStyle): string {
  const { id, receivedAt } = event;
  const { record, violations } = event.content;
  const { paint, width } = style;
  const received = `received ${formatLocal(receivedAt)} at ${receivedAtPath(event)}, event ${id}`;
  return [
    [renderResult(record, paint), ...marksOf(event, paint).map(({ painted }) => painted)].join("  "),
    `  ${paint.dim(wrap(received, width - 2, 2))}`,
    ...recordLines(record, violations, style),
    ...ownNotes(event).map((note) => renderWarning(note, style)),
  ].join("\n");
}

/** Lines of a card. */
const MOST_CARD_LINES = 8;

/**
 * What people look for: outcome, amount and reference; the card and its bank's answer; when, where and which transaction;
 * and what deviates.
 */
export function renderCard(event: Received, { paint, width }: RecordStyle): string {
  const { id, receivedAt } = event;
  const { record, violations } = event.content;
  const marks = marksOf(event, paint);
  const room = width - marks.reduce((sum, { text }) => sum + text.length + 2, 0);
  const head =
    record === null ? renderResult(record, paint) : renderOutcomeLine(record, { paint, width: room });
  const uti = record === null ? "" : safeText(textOf(record, "uti") ?? "");
  const where = [formatLocal(receivedAt), receivedAtPath(event), uti || id]
    .filter((text) => text !== "")
    .join("  ");
  const card = record === null ? [] : [renderPayment(record)].filter((text) => text !== "");
  const lines = [
    [head, ...marks.map(({ painted }) => painted)].join("  "),
    ...card.map((text) => `  ${clip(text, width - 2)}`),
    `  ${paint.dim(wrap(where, width - 2, 2))}`,
  ].flatMap((text) => text.split("\n"));
  const { reason } = judgeOutcome(record);
  const notes = [
    ...(record === null || reason === undefined ? [] : [`unclear: ${reason}`]),
    ...violations.map(describeViolation),
    ...ownNotes(event),
  ];
  const marked = notes.map((text) => `  ${paint.yellow("!")} ${noteText(text, width - 4)}`);
  const shown = [...marked];
  const isTooLong = (): boolean =>
    lines.length + shown.join("\n").split("\n").length + (shown.length < marked.length ? 1 : 0) >
    MOST_CARD_LINES;
  while (shown.length > 0 && isTooLong()) shown.pop();
  const more = marked.length - shown.length;
  return [
    ...lines,
    ...shown,
    ...(more === 0 ? [] : [`  ${paint.yellow("!")} ${more} more: --full shows them`]),
  ].join("\n");
}

/** Broken between words; a value without any that is longer than a line is cut. */
const noteText = (text: string, width: number): string =>
  wrap(safeText(text), width, 4)
    .split("\n")
    .map((line, at) => clip(line, at === 0 ? width : width + 4))
    .join("\n");

/** The same in one line of at most `width` columns, which a reference that is too long makes shorter. */
export function renderCompactWebhook(event: Received, { paint, width }: RecordStyle, time = ""): string {
  const { id } = event;
  const { record } = event.content;
  const marks = marksOf(event, paint);
  const outcome = outcomeOf(record);
  const amount = record === null ? "" : recordAmount(record);
  const uti = record === null ? id : safeText(textOf(record, "uti") || id);
  const fixed = [time, ...marks.map(({ text }) => text), outcome.padEnd(LONGEST_USUAL), amount, uti, ""];
  const room = width - widthOf(fixed.filter((text) => text !== "").join("  ")) - 2;
  const reference =
    record === null ? "" : clip(safeText(textOf(record, "reference") || NO_VALUE), Math.max(1, room));
  return [
    paint.dim(time),
    ...marks.map(({ painted }) => painted),
    alignedOutcome(outcome, paint),
    paint.bold(amount),
    reference,
    paint.dim(uti),
  ]
    .filter((text) => text !== "")
    .join("  ");
}

/** A query may hold a secret of the receiver. */
const receivedAtPath = ({ request }: Received): string => safeText(request.target.split("?", 1)[0] ?? "");

interface CardMark {
  readonly text: string;
  readonly painted: string;
}

/** Marks what is unusual: not verified, paid before, or repeated. */
function marksOf({ verdict, repeated }: Received, paint: Paint): CardMark[] {
  return [
    ...(verdict.verdict === "valid" ? [] : [{ text: "UNVERIFIED", painted: paint.red.bold("UNVERIFIED") }]),
    ...(verdict.warnings.includes("order_paid_before")
      ? [{ text: "paid before", painted: paint.yellow("paid before") }]
      : []),
    ...(repeated ? [{ text: "repeated", painted: paint.yellow("repeated") }] : []),
  ];
}

/** What one can act on. How the order stands says more than that it was paid before. */
function ownNotes({ verdict, order, content }: Received): string[] {
  const isTold = order !== undefined && isTelling(order, outcomeOf(content.record));
  const warnings = verdict.warnings.filter(
    (warning) => WARNINGS[warning] === "webhook" && !(isTold && warning === "order_paid_before"),
  );
  return [
    ...(isTold ? [`order ${order.number}: ${standingText(order)}`] : []),
    ...warnings.map((warning) => WARNING_MEANINGS[warning]),
  ];
}

/** One line names the step that failed and the reason; `verify` shows longer details. */
const REJECTION_DETAIL_LENGTH = 300;

/** `name` says which webhook it was, and when. */
export function renderRejection(
  name: string,
  { code, status, detail, hint }: Omit<Rejection, "type" | "id" | "receivedAt" | "verdict" | "request">,
  paint: Paint,
): string {
  const line = `${paint.dim(name)} ${paint.red("rejected")} ${status} ${paint.bold(code)}  ${clip(safeText(detail), REJECTION_DETAIL_LENGTH)}`;
  return hint === undefined ? line : `${line}\n  ${safeText(hint)}`;
}

/** The application's status and latency, and its error text; without an answer, the reason. */
export function renderForward(
  id: string,
  { target, status, ms, detail }: Pick<Forward, "target" | "status" | "ms" | "detail">,
  paint: Paint,
  progress?: ForwardingProgress,
  cause?: string,
): string {
  const line = (what: string): string =>
    `  ${paint.dim("→")} ${paint.dim(id)} ${what} in ${Math.round(ms)} ms  ${safeText(target)}${progressWords(progress, paint)}`;
  const why = cause === undefined ? [] : [safeText(cause)];
  if (status === null) return [line(paint.red.bold(safeText(detail))), ...why].join("\n    ");
  const shown = line((isSuccess(status) ? paint.green : paint.red.bold)(String(status)));
  return [shown, ...(detail === "" ? [] : [safeText(detail)]), ...why].join("\n    ");
}

function progressWords(progress: ForwardingProgress | undefined, paint: Paint): string {
  if (progress === undefined) return "";
  const { attempt: attempts, state: fate, next } = progress;
  if (fate === "delivered" && attempts === 1) return "";
  const label = standingLabel({ fate, attempts, next }, (at) => `at ${formatLocal(at)}`);
  return `  ${(fate === "failed" ? paint.red : paint.dim)(label)}`;
}

/** What is deleted, or is to be. */
export const deletedWords = (
  { events, rejections }: { readonly events: number; readonly rejections: number },
  before: Date,
): string =>
  `${plural(events, "event")} and ${plural(rejections, "rejected webhook")} received before ${formatLocal(before)}`;
