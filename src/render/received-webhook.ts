/** Shows what the receiver received: headings of events, rejections, forwards and the final summary. */
import { memberOf } from "../domain/json.ts";
import { type Warning, WARNING_MEANINGS, WARNINGS } from "../domain/reasons.ts";
import type { TransactionRecord } from "../domain/transaction.ts";
import { isAccepted, type Forward, type Rejection, type WebhookEvent } from "../receiver/events.ts";
import type { Progress } from "../receiver/forwarder.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { clip } from "./width.ts";
import { formatLocal, wrap } from "./layout.ts";
import {
  recordLines,
  type RecordStyle,
  renderCompactRecord,
  renderResult,
  renderWarning,
} from "./transaction-record.ts";

/** What is shown of an event. */
type Received = Pick<WebhookEvent, "id" | "receivedAt" | "repeated" | "record" | "violations"> & {
  readonly verdict: Pick<WebhookEvent["verdict"], "verdict" | "warnings">;
  readonly request: Pick<WebhookEvent["request"], "target">;
};

interface WebhookStyle extends RecordStyle {
  /** The command that reads a transaction with its custom data, without the uti; undefined if the service does not offer it. */
  readonly transactionCommand: string | undefined;
}

/** The whole record, the outcome first, then when and where it was received. */
export function renderWebhook(event: Received, style: WebhookStyle): string {
  const { id, receivedAt, verdict, record, violations } = event;
  const { paint, width, transactionCommand } = style;
  const received = `received ${formatLocal(receivedAt)} at ${pathOf(event)}, event ${id}`;
  const command = record === null ? undefined : commandFor(record, transactionCommand);
  return [
    `${renderResult(record, paint)}  ${marksOf(event, paint)}`,
    `  ${paint.dim(wrap(received, width - 2, 2))}`,
    ...recordLines(record, violations, style),
    ...ownWarnings(verdict).map((warning) => renderWarning(WARNING_MEANINGS[warning], style)),
    ...(command === undefined ? [] : customData(command, style)),
  ].join("\n");
}

/** The user copies the command, so it stays on one line. */
function customData(command: string, { paint, width }: RecordStyle): string[] {
  const label = "custom data:";
  const fits = `  ${label} ${command}`.length <= width;
  return fits ? [`  ${paint.dim(label)} ${command}`] : [`  ${paint.dim(label)}`, `    ${command}`];
}

/** The same in one line; a log has the time before it. */
export function renderCompactWebhook(event: Received, paint: Paint, isLog = false): string {
  const { id, receivedAt, verdict, record } = event;
  const words = [
    ...(isLog ? [] : [paint.dim(formatLocal(receivedAt))]),
    paint.dim(`${pathOf(event)} ${id}`),
    marksOf(event, paint),
    ...ownWarnings(verdict).map((warning) => paint.dim(warning)),
  ];
  const heading = words.join(" ");
  return record === null ? heading : `${heading}  ${renderCompactRecord(record, paint)}`;
}

/** A query may hold a secret of the receiver. */
const pathOf = ({ request }: Received): string => safeText(request.target.split("?", 1)[0] ?? "");

function marksOf({ verdict, repeated }: Received, paint: Paint): string {
  const verified = verdict.verdict === "valid" ? paint.green("verified") : paint.red.bold("UNVERIFIED");
  return repeated ? `${verified} ${paint.yellow("repeated")}` : verified;
}

const ownWarnings = ({ warnings }: Received["verdict"]): Warning[] =>
  warnings.filter((warning) => WARNINGS[warning] === "webhook");

/** Only with a uti that needs no quoting in a shell. */
function commandFor(record: TransactionRecord, command: string | undefined): string | undefined {
  const uti = memberOf(record, "uti");
  const isPlain = typeof uti === "string" && /^\w[\w.-]*$/.test(uti);
  return isPlain && command !== undefined ? `${command} ${uti}` : undefined;
}

/** One line names the step that failed and the reason; `verify` shows longer details. */
const DETAIL_LENGTH = 300;

/** `name` says which webhook it was, and when. */
export function renderRejection(
  name: string,
  { code, status, detail, hint }: Omit<Rejection, "type" | "id" | "receivedAt" | "verdict" | "request">,
  paint: Paint,
): string {
  const line = `${paint.dim(name)} ${paint.red("rejected")} ${status} ${paint.bold(code)}  ${clip(safeText(detail), DETAIL_LENGTH)}`;
  return hint === undefined ? line : `${line}\n  ${safeText(hint)}`;
}

/** Why an application that verifies probably refused a late attempt, and what helps. */
export const lateSignature = (age: number): string =>
  `The signature of the service is ${ageWords(age)} old, and most verifiers refuse one that is older than 5 minutes. Sign with your own key at each attempt (--sign-with <file>), or let your verifier accept older signatures (its tolerance).`;

/** In the largest unit of which it has two. */
function ageWords(age: number): string {
  const hours = age / 3_600_000;
  if (hours < 2) return `${Math.floor(hours * 60)} minutes`;
  return hours < 48 ? `${Math.floor(hours)} hours` : `${Math.floor(hours / 24)} days`;
}

/** The application's status and latency, and its error text; without an answer, the reason. */
export function renderForward(
  id: string,
  { target, status, ms, detail, signatureAge }: Omit<Forward, "at">,
  paint: Paint,
  progress?: Progress,
): string {
  const line = (what: string): string =>
    `  ${paint.dim("→")} ${paint.dim(id)} ${what} in ${Math.round(ms)} ms  ${safeText(target)}${progressWords(progress, paint)}`;
  if (status === null) return line(paint.red.bold(safeText(detail)));
  const shown = line((isAccepted(status) ? paint.green : paint.red.bold)(String(status)));
  const why = signatureAge === undefined ? [] : [lateSignature(signatureAge)];
  return [shown, ...(detail === "" ? [] : [safeText(detail)]), ...why].join("\n    ");
}

function progressWords(progress: Progress | undefined, paint: Paint): string {
  if (progress === undefined) return "";
  const { attempt, state, next } = progress;
  if (next !== null) return paint.dim(`  attempt ${attempt}, the next one at ${formatLocal(next)}`);
  if (state === "failed")
    return `  ${paint.red(`failed after ${attempt === 1 ? "1 attempt" : `${attempt} attempts`}`)}`;
  return attempt === 1 ? "" : paint.dim(`  attempt ${attempt}`);
}

export interface Counts {
  readonly received: number;
  readonly verified: number;
  readonly rejected: number;
  readonly forwarded: number;
  readonly failed: number;
}

export function renderSummary(counts: Counts): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");
}

export const eventCount = (count: number): string => (count === 1 ? "1 event" : `${count} events`);

/** What is deleted, or is to be. */
export const deletedWords = (
  { events, rejections }: { readonly events: number; readonly rejections: number },
  before: Date,
): string =>
  `${eventCount(events)} and ${rejections} rejected ${rejections === 1 ? "webhook" : "webhooks"} received before ${formatLocal(before)}`;
