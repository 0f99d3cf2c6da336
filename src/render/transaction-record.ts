/** Shows a transaction record: in groups with every field, or in one line. */
import { memberOf, stringifyJson, type Json } from "../values/json.ts";
import { formatAmount, LONGEST_NUMBER } from "../domain/money.ts";
import type { Outcome } from "../domain/outcome.ts";
import { splitReference } from "../domain/reference.ts";
import { responseMeaning } from "../domain/response-codes.ts";
import {
  amount,
  dateTime,
  isFieldName,
  TRANSACTION_FIELDS,
  type FieldName,
  type TransactionField,
} from "../domain/transaction-fields.ts";
import {
  amountIn,
  describeViolation,
  judgeOutcome,
  outcomeOf,
  textOf,
  type TransactionRecord,
  type Violation,
} from "../domain/transaction.ts";
import { localTime, wrap, NO_VALUE } from "./layout.ts";
import type { Paint } from "./paint.ts";
import { safeText } from "./safe-text.ts";
import { clip, splitAtWidth, padEnd, widthOf } from "./width.ts";

export interface RecordStyle {
  readonly paint: Paint;
  readonly width: number;
}

/** Every field of the specification is in one group; any other member is shown under "other". */
const GROUPS: readonly (readonly [title: string, fields: readonly FieldName[]])[] = [
  [
    "result",
    [
      "transType",
      "responseCode",
      "authorisationCode",
      "status",
      "transApproved",
      "transPartiallyApproved",
      "transCancelled",
    ],
  ],
  ["amounts", ["amountTrans", "amountGratuity", "amountCashback", "transCurrencyCode"]],
  [
    "card",
    ["cardPan", "cardScheme", "cardType", "cardStartDate", "cardPanSequenceNumber", "merchantTokenId"],
  ],
  ["references", ["reference", "uti", "paymentId", "retrievalReferenceNumber", "receiptNumber", "stan"]],
  ["merchant", ["merchantName", "merchantId", "merchantStoreId", "terminalId", "softwareVersion"]],
  ["times", ["transDateTime", "createdDateTime"]],
  [
    "EMV",
    [
      "emvAid",
      "emvTsi",
      "emvTvr",
      "emvCryptogram",
      "emvCryptogramType",
      "cvmSignatureRequired",
      "cvmPinVerified",
    ],
  ],
];

const fieldsOfType = (wanted: TransactionField["type"]): ReadonlySet<string> =>
  new Set(TRANSACTION_FIELDS.filter(({ type }) => type === wanted).map(({ name }) => name));

const AMOUNT_FIELDS = fieldsOfType(amount);
const TIME_FIELDS = fieldsOfType(dateTime);
const LABEL_WIDTH = 26;

export function paintOutcome(outcome: Outcome, paint: Paint): string {
  const colours = {
    APPROVED: paint.green,
    PARTIALLY_APPROVED: paint.yellow,
    DECLINED: paint.red,
    CANCELLED: paint.yellow,
    UNCLEAR: paint.magenta,
  };
  return colours[outcome].bold(outcome);
}

/** "EUR 10.00", as far as the record has amount and currency. */
export function recordAmount(record: TransactionRecord, field: FieldName = "amountTrans"): string {
  const amount = amountIn(record, field);
  const currency = textOf(record, "transCurrencyCode") ?? "";
  if (amount !== undefined) return safeText(formatAmount(amount, currency).trim());
  const other = memberOf(record, field);
  return other === undefined ? "no amount" : safeText(cut(stringifyJson(other)));
}

/** A number may have as many digits as the body has bytes. */
const cut = (text: string): string =>
  text.length > LONGEST_NUMBER ? `${text.slice(0, LONGEST_NUMBER)}…` : text;

/** The outcome, all fields in groups, and every violation of the specification. */
export const renderRecord = (
  record: TransactionRecord | null,
  violations: readonly Violation[],
  style: RecordStyle,
): string => [renderResult(record, style.paint), ...recordLines(record, violations, style)].join("\n");

/** Outcome and amount. A body without a record has neither. */
export const renderResult = (record: TransactionRecord | null, paint: Paint): string =>
  record === null
    ? paintOutcome("UNCLEAR", paint)
    : `${paintOutcome(outcomeOf(record), paint)}  ${paint.bold(recordAmount(record))}`;

/** The lines below the outcome. */
export function recordLines(
  record: TransactionRecord | null,
  violations: readonly Violation[],
  style: RecordStyle,
): string[] {
  const lines: string[] = [];
  if (record !== null) {
    const { reason } = judgeOutcome(record);
    if (reason !== undefined) lines.push(renderWarning(`unclear: ${reason}`, style));
    const others = Object.keys(record).filter((name) => !isFieldName(name));
    for (const [title, fields] of GROUPS) lines.push(...groupLines(title, fields, record, style));
    if (others.length > 0) lines.push(...groupLines("other", others, record, style));
  }
  for (const violation of violations) lines.push(renderWarning(describeViolation(violation), style));
  return lines;
}

export const renderWarning = (text: string, { paint, width }: RecordStyle): string =>
  `  ${paint.yellow("!")} ${wrap(safeText(text), width - WARNING_INDENT, WARNING_INDENT)}`;

const WARNING_INDENT = 4;

function groupLines(
  title: string,
  names: readonly string[],
  record: TransactionRecord,
  { paint, width }: RecordStyle,
): string[] {
  const lines = [`  ${paint.cyan(title)}`];
  for (const name of names) {
    const label = padEnd(clip(safeText(name), LABEL_WIDTH - 1), LABEL_WIDTH);
    const value = fieldValue(name, memberOf(record, name) ?? null, record);
    const room = Math.max(20, width - LABEL_WIDTH - 4);
    const length = widthOf(value);
    // An id, for example, that can be copied from a line of its own.
    if (length > room && length <= width - 6) {
      lines.push(`    ${paint.dim(label)}`.trimEnd(), `      ${value}`);
      continue;
    }
    const [first = "", ...rest] = splitAtWidth(value, room);
    lines.push(`    ${paint.dim(label)}${first}`, ...rest.map((part) => " ".repeat(LABEL_WIDTH + 4) + part));
  }
  return lines;
}

function fieldValue(name: string, value: Json, record: TransactionRecord): string {
  if (value === null || value === "") return NO_VALUE;
  if (isFieldName(name) && AMOUNT_FIELDS.has(name)) return recordAmount(record, name);
  if (typeof value !== "string") return safeText(stringifyJson(value));
  if (TIME_FIELDS.has(name)) return safeText(localTime(value));
  return safeText(`${value}${noteOn(name, value)}`);
}

/** What a response code means, and the parts of a reusable link's reference. */
function noteOn(name: string, value: string): string {
  const meaning = name === "responseCode" ? responseMeaning(value) : undefined;
  if (meaning !== undefined) return `  ${meaning}`;
  const { base, suffix } = splitReference(value);
  return name === "reference" && suffix !== null ? `  (base ${base}, suffix ${suffix})` : "";
}

/** Characters of the longest everyday outcome. */
export const LONGEST_USUAL = "CANCELLED".length;

/** So that what follows stands in one column. */
export const alignedOutcome = (outcome: Outcome, paint: Paint): string =>
  paintOutcome(outcome, paint) + " ".repeat(Math.max(0, LONGEST_USUAL - outcome.length));

/** One line: outcome, amount, reference, card and uti. */
export function renderCompactRecord(record: TransactionRecord, paint: Paint): string {
  const outcome = outcomeOf(record);
  const rest = (["reference", "cardScheme", "cardPan", "uti"] as const).map((name) =>
    safeText(textOf(record, name) || NO_VALUE),
  );
  return [alignedOutcome(outcome, paint), paint.bold(recordAmount(record)), ...rest].join("  ");
}

/** The card, and what its bank answered: "VISA ************1111  05 do not honour". */
export function renderPayment(record: TransactionRecord): string {
  const text = (name: FieldName): string => safeText(textOf(record, name) ?? "");
  const code = text("responseCode");
  const card = [text("cardScheme"), text("cardPan")].filter((part) => part !== "").join(" ");
  const answer = [code, responseMeaning(code) ?? ""].filter((part) => part !== "").join(" ");
  return [card, answer].filter((part) => part !== "").join("  ");
}

/** Outcome, amount and as much of the reference as fits. */
export function renderOutcomeLine(record: TransactionRecord, { paint, width }: RecordStyle): string {
  const outcome = outcomeOf(record);
  const amount = recordAmount(record);
  const room = width - widthOf(`${outcome}  ${amount}  `);
  const reference = clip(safeText(textOf(record, "reference") || NO_VALUE), Math.max(1, room));
  return `${paintOutcome(outcome, paint)}  ${paint.bold(amount)}  ${reference}`;
}
