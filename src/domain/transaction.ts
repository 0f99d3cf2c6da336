/** Reads the transaction record of a webhook, with its outcome and every violation of the specification. */

import { maskCardFields } from "./card-numbers.ts";
import {
  findWrapped,
  isJsonNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  plainJson,
} from "../values/json.ts";
import { isNumeral, LONGEST_NUMBER, type Amount, type Sum } from "./money.ts";
import { BYTE_ORDER_MARK, MAX_DUPLICATES, parseJson } from "../values/parse-json.ts";
import type { Outcome } from "./outcome.ts";
import type { RecordReason } from "./reasons.ts";
import {
  FIELD_NAMES,
  type FieldName,
  TRANSACTION_FIELDS,
  type TransactionField,
} from "./transaction-fields.ts";

/**
 * A record as received, with the card numbers in fields for them masked: any member may be missing or of another type, and
 * unknown members are kept. Read members with `memberOf` or `textOf`.
 */
export type TransactionRecord = JsonObject;

export interface Violation {
  readonly code: RecordReason;
  /** The field, empty for the body as a whole. */
  readonly path: string;
  readonly message: string;
}

/** As a sentence without its end: "amountTrans must be a number". */
export const describeViolation = ({ path, message }: Pick<Violation, "path" | "message">): string =>
  path === "" ? `the body ${message}` : `${path} ${message}`;

export interface ReadRecord {
  /**
   * Null only if the bytes are not a JSON object: an authentic record that breaks the rules is still a record.
   */
  readonly record: TransactionRecord | null;
  /** In the order of the specification's table. */
  readonly violations: readonly Violation[];
  /** The bytes are the text of this record: nothing is masked, wrapped or repeated. */
  readonly isWhole: boolean;
}

/**
 * The record of a body, read when it is first asked for: what the store reads in a thread of its own is not read here as well
 * (listen bench).
 */
export class LateRecord implements ReadRecord {
  readonly #body: Uint8Array;
  #content: ReadRecord | undefined;

  constructor(body: Uint8Array) {
    this.#body = body;
  }

  get record(): TransactionRecord | null {
    return this.#read().record;
  }

  get violations(): readonly Violation[] {
    return this.#read().violations;
  }

  get isWhole(): boolean {
    return this.#read().isWhole;
  }

  #read(): ReadRecord {
    return (this.#content ??= readRecord(this.#body));
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads the body of a webhook. Never throws: every problem with the bytes is a violation. */
export function readRecord(bytes: Uint8Array): ReadRecord {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return noRecord(bodyViolation("body_invalid_utf8", "must be UTF-8"));
  }
  const json = parseJson(text, { names: FIELD_NAMES });
  if (!json.ok) return noRecord(bodyViolation("body_not_json", json.message));
  const violations: Violation[] = [];
  if (text.startsWith(BYTE_ORDER_MARK)) {
    violations.push(bodyViolation("body_not_json", "must not begin with a byte order mark (RFC 8259 8.1)"));
  }
  for (const path of json.value.duplicates) {
    violations.push({
      code: "body_duplicate_member",
      path,
      message: "must not be given twice; the last one is shown",
    });
  }
  const document = json.value.value;
  if (!isJsonObject(document))
    return noRecord(...violations, bodyViolation("body_schema", "must be a JSON object"));
  const found = findWrapped(document, isRecord);
  if (found.length > 1)
    violations.push(bodyViolation("body_schema", `must hold one record, and holds ${found.length}`));
  // What is not a record, or not certainly one, is shown as it is: its outcome is unclear.
  const record = found.length === 1 ? (found[0] ?? document) : document;
  const masked = maskedRecord(record);
  const repeated = repeatedIn(json.value.duplicates, record !== document);
  if (repeated !== undefined) AMBIGUOUS.set(masked, unclear(`${repeated} given twice`));
  return {
    record: masked,
    violations: violations.concat(violationsOf(record)),
    isWhole: masked === document && violations.length === 0,
  };
}

/** The outcomes of records with members that were given twice, which only the reader knows. */
const AMBIGUOUS = new WeakMap<TransactionRecord, RecordOutcome>();

/** The members that make the outcome and the amount: of two values, programs differ in which one they use. */
const DECIDING_FIELDS: ReadonlySet<string> = new Set<FieldName>([
  "transApproved",
  "transPartiallyApproved",
  "transCancelled",
  "status",
  "amountTrans",
  "transCurrencyCode",
]);

/** What may decide outcome or amount and is repeated. Of very many, not all are known. */
function repeatedIn(duplicates: readonly string[], isWrapped: boolean): string | undefined {
  const deciding = duplicates.find((path) => decides(path, isWrapped));
  if (deciding !== undefined) return `${deciding} is`;
  return duplicates.length < MAX_DUPLICATES ? undefined : `${MAX_DUPLICATES} members or more are`;
}

/** In an envelope, each of its own members may be the record. */
function decides(path: string, isWrapped: boolean): boolean {
  const [first = "", second, ...deeper] = path.split(".");
  if (!isWrapped) return second === undefined && DECIDING_FIELDS.has(first);
  return second === undefined || (deeper.length === 0 && DECIDING_FIELDS.has(second));
}

const noRecord = (...violations: Violation[]): ReadRecord => ({ record: null, violations, isWhole: false });

/** `cardPan` is the one field of the specification that is for card numbers. */
const maskedRecord = (record: TransactionRecord): TransactionRecord => {
  const masked = maskCardFields(record);
  return isJsonObject(masked) ? masked : record;
};

/** What no envelope has: the identity of a payment, its verdict and its amount. */
const RECORD_SIGNS = ["uti", "transApproved", "amountTrans"] as const satisfies readonly FieldName[];

export const isRecord = (value: JsonObject): boolean =>
  RECORD_SIGNS.some((name) => memberOf(value, name) !== undefined);

/** Every rule of the specification's table that the record breaks. Unknown fields are allowed. */
export function violationsOf(record: TransactionRecord): Violation[] {
  const { outcome } = judgeFlags(record);
  const violations: Violation[] = [];
  for (const field of TRANSACTION_FIELDS) {
    const message = violationOf(field, record[field.name], outcome);
    if (message !== undefined) violations.push({ code: "body_schema", path: field.name, message });
  }
  if (record["transApproved"] === true && record["transCancelled"] === true) {
    const message = "must not be true together with transApproved";
    violations.push({ code: "body_schema", path: "transCancelled", message });
  }
  return violations;
}

/** What a record says of the payment; `reason` only if that is unclear. */
export interface RecordOutcome {
  readonly outcome: Outcome;
  readonly reason?: string | undefined;
}

/** The one verdict on a payment, for every command and the library. */
export function judgeOutcome(record: TransactionRecord | null): RecordOutcome {
  if (record === null) return unclear("there is no record");
  return AMBIGUOUS.get(record) ?? outcomeIn(record);
}

function outcomeIn(record: TransactionRecord): RecordOutcome {
  const judged = judgeFlags(record);
  if (judged.outcome === "UNCLEAR") return judged;
  // A service that leaves it out pays in full. With another value, nobody knows whether the amount is the whole one.
  const partially = memberOf(record, "transPartiallyApproved") ?? false;
  if (typeof partially !== "boolean") return unclear("transPartiallyApproved is neither true nor false");
  const status = memberOf(record, "status") ?? null;
  if (status !== null && !(typeof status === "string" && status.toLowerCase() === "complete"))
    return unclear(`status is ${JSON.stringify(plainJson(status))}, not Complete`);
  return partially && judged.outcome === "APPROVED" ? { outcome: "PARTIALLY_APPROVED" } : judged;
}

/** By the two flags alone, which decide what fields the record has. */
function judgeFlags(record: TransactionRecord): RecordOutcome {
  const approved = memberOf(record, "transApproved");
  const cancelled = memberOf(record, "transCancelled");
  if (typeof approved !== "boolean") return unclear(noFlag("transApproved", approved));
  if (typeof cancelled !== "boolean") return unclear(noFlag("transCancelled", cancelled));
  if (approved && cancelled) return unclear("transApproved and transCancelled are both true");
  if (approved) return { outcome: "APPROVED" };
  return { outcome: cancelled ? "CANCELLED" : "DECLINED" };
}

const noFlag = (name: string, value: Json | undefined): string =>
  `${name} is ${value === undefined ? "missing" : "neither true nor false"}`;

const unclear = (reason: string): RecordOutcome => ({ outcome: "UNCLEAR", reason });

/** What every JSON form of an event or a record has at its top. */
interface RecordSummary extends RecordOutcome {
  /** As received; null if it is missing. */
  readonly amount: Json;
  readonly currency: Json;
  readonly reference: Json;
  readonly uti: Json;
  readonly violations: readonly Violation[];
}

export function recordSummary({
  record,
  violations,
}: Pick<ReadRecord, "record" | "violations">): RecordSummary {
  const received = (name: FieldName): Json => (record === null ? null : (memberOf(record, name) ?? null));
  const { outcome, reason } = judgeOutcome(record);
  return {
    outcome,
    reason,
    amount: received("amountTrans"),
    currency: received("transCurrencyCode"),
    reference: received("reference"),
    uti: received("uti"),
    violations,
  };
}

export const outcomeOf = (record: TransactionRecord | null): Outcome => judgeOutcome(record).outcome;

/** The text of a field; undefined if it is missing or not text. */
export function textOf(record: TransactionRecord, name: FieldName): string | undefined {
  const value = memberOf(record, name);
  return typeof value === "string" ? value : undefined;
}

/** A number, or the text of one, which breaks the specification and is an amount all the same. Undefined for anything else. */
export function amountIn(record: TransactionRecord, name: string): Amount | undefined {
  const value = memberOf(record, name);
  return (isJsonNumber(value) || typeof value === "string") && isNumeral(String(value)) ? value : undefined;
}

/** What was paid, with its currency in upper case; undefined if the record does not say both. */
export function moneyIn(record: TransactionRecord | null): Sum | undefined {
  const amount = record === null ? undefined : amountIn(record, "amountTrans");
  const currency = record === null ? undefined : textOf(record, "transCurrencyCode");
  return amount === undefined || currency === undefined
    ? undefined
    : { amount: amount.toString(), currency: currency.toUpperCase() };
}

function violationOf(field: TransactionField, value: Json | undefined, outcome: Outcome): string | undefined {
  if (value === undefined) return isRequired(field, outcome) ? "is missing" : undefined;
  if (isForbidden(field, outcome)) return `must be absent from a ${outcome.toLowerCase()} payment`;
  if (value === null) return "must not be null";
  if (!field.type.test(value)) return `must be ${field.type.must}`;
  if (isJsonNumber(value) && value.value.length > LONGEST_NUMBER)
    return `must have at most ${LONGEST_NUMBER} characters`;
  // Programs that read it as binary floating point would get Infinity (RFC 8259, section 6).
  return isJsonNumber(value) && !Number.isFinite(Number(value.value)) ? "must not exceed 1.8e308" : undefined;
}

/** By the outcome of the two flags. If that is unclear, fields that depend on it are neither required nor forbidden. */
export function isRequired({ presence }: TransactionField, outcome: Outcome): boolean {
  if (presence === "always" || outcome === "APPROVED") return true;
  return presence === "attempted" && outcome === "DECLINED";
}

export function isForbidden({ presence }: TransactionField, outcome: Outcome): boolean {
  if (presence === "always" || outcome === "APPROVED" || outcome === "UNCLEAR") return false;
  return presence === "accepted" || outcome === "CANCELLED";
}

function bodyViolation(code: Violation["code"], message: string): Violation {
  return { code, path: "", message };
}
