/** Shows a transaction record: in groups with every field, or in one line. */
import type { Paint } from "./paint.ts";
import { isJsonNumber, memberOf, stringifyJson, type Json } from "../domain/json.ts";
import { formatAmount } from "../domain/money.ts";
import { splitReference } from "../domain/reference.ts";
import {
  outcomeOf,
  textOf,
  type Breach,
  type Outcome,
  type TransactionRecord,
} from "../domain/transaction.ts";
import { isFieldName, type FieldName } from "../domain/transaction-fields.ts";
import { clip, safeText } from "./safe-text.ts";
import { localTime } from "./time.ts";

interface RecordStyle {
  readonly paint: Paint;
  readonly width: number;
}

/** Every field of the specification is in one group; any other member is shown under "other". */
const GROUPS: readonly (readonly [title: string, fields: readonly FieldName[]])[] = [
  ["result", ["transType", "responseCode", "authorisationCode", "status", "transPartiallyApproved"]],
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

/** Shown by the outcome, or with every amount. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set([
  "transApproved",
  "transCancelled",
  "transCurrencyCode",
]);
const AMOUNTS: ReadonlySet<string> = new Set(["amountTrans", "amountGratuity", "amountCashback"]);
const TIMES: ReadonlySet<string> = new Set(["transDateTime", "createdDateTime"]);
const LABEL_WIDTH = 26;

export function paintOutcome(outcome: Outcome, paint: Paint): string {
  const colours = {
    APPROVED: paint.green,
    DECLINED: paint.red,
    CANCELLED: paint.yellow,
    UNCLEAR: paint.magenta,
  };
  return colours[outcome].bold(outcome);
}

/** "EUR 10.00", as far as the record has amount and currency. */
export function amountOf(record: TransactionRecord, field: FieldName = "amountTrans"): string {
  const amount = memberOf(record, field);
  const currency = textOf(record, "transCurrencyCode") ?? "";
  if (isJsonNumber(amount)) return safeText(formatAmount(amount, currency).trim());
  return amount === undefined ? "no amount" : safeText(stringifyJson(amount));
}

/** The record in groups, with every breach of the specification below it. */
export function renderRecord(
  record: TransactionRecord,
  breaches: readonly Breach[],
  style: RecordStyle,
): string {
  const { paint } = style;
  const lines = [`${paintOutcome(outcomeOf(record), paint)}  ${paint.bold(amountOf(record))}`];
  for (const [title, fields] of GROUPS) lines.push(...group(title, fields, record, style));
  lines.push(
    ...group(
      "other",
      Object.keys(record).filter((name) => !isFieldName(name)),
      record,
      style,
    ),
  );
  for (const { path, message } of breaches) {
    lines.push(
      `  ${paint.yellow("!")} ${safeText(path === "" ? `the body ${message}` : `${path} ${message}`)}`,
    );
  }
  return lines.join("\n");
}

function group(
  title: string,
  names: readonly string[],
  record: TransactionRecord,
  { paint, width }: RecordStyle,
): string[] {
  const lines: string[] = [];
  for (const name of names) {
    const value = memberOf(record, name);
    if (value === undefined || SHOWN_ELSEWHERE.has(name)) continue;
    const label = clip(safeText(name), LABEL_WIDTH - 1).padEnd(LABEL_WIDTH);
    const [first = "", ...rest] = wrap(shown(name, value, record), Math.max(20, width - LABEL_WIDTH - 4));
    lines.push(`    ${paint.dim(label)}${first}`, ...rest.map((part) => " ".repeat(LABEL_WIDTH + 4) + part));
  }
  return lines.length === 0 ? [] : [`  ${paint.cyan(title)}`, ...lines];
}

/** Continues a long value on the next lines, so that nothing is cut. */
function wrap(text: string, width: number): string[] {
  const characters = [...text];
  const lines = Math.max(1, Math.ceil(characters.length / width));
  return Array.from({ length: lines }, (_, line) =>
    characters.slice(line * width, (line + 1) * width).join(""),
  );
}

function shown(name: string, value: Json, record: TransactionRecord): string {
  if (AMOUNTS.has(name) && isJsonNumber(value)) {
    return safeText(formatAmount(value, textOf(record, "transCurrencyCode") ?? "").trim());
  }
  if (typeof value !== "string") return safeText(stringifyJson(value));
  if (TIMES.has(name)) return safeText(localTime(value));
  if (name !== "reference") return safeText(value);
  const { base, suffix } = splitReference(value);
  return safeText(suffix === null ? value : `${value}  (base ${base}, suffix ${suffix})`);
}

/** One line: outcome, amount, reference, card and uti. */
export function renderCompactRecord(record: TransactionRecord, paint: Paint): string {
  const outcome = outcomeOf(record);
  const padding = " ".repeat("CANCELLED".length - outcome.length);
  const rest = (["reference", "cardScheme", "cardPan", "uti"] as const).map((name) =>
    safeText(textOf(record, name) ?? "-"),
  );
  return [paintOutcome(outcome, paint) + padding, paint.bold(amountOf(record)), ...rest].join("  ");
}

/** Outcome, amount and as much of the reference as fits. */
export function renderOutcomeLine(record: TransactionRecord, { paint, width }: RecordStyle): string {
  const outcome = outcomeOf(record);
  const amount = amountOf(record);
  const room = width - `${outcome}  ${amount}  `.length;
  const reference = clip(safeText(textOf(record, "reference") ?? "-"), Math.max(1, room));
  return `${paintOutcome(outcome, paint)}  ${paint.bold(amount)}  ${reference}`;
}
