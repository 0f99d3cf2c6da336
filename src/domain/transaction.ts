/** Reads the transaction record of a webhook, with its outcome and every violation of the specification. */

import { isReadableCardNumber, maskCardNumber, maskJson } from "./secrets.ts";
import {
  formatJsonPointer,
  isJsonNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  memberOf,
  type PointerSteps,
  valueAt,
} from "./json.ts";
import { parseJson } from "./parse-json.ts";
import type { Outcome } from "./outcome.ts";
import type { RecordReason } from "./reasons.ts";
import {
  type FieldName,
  isFieldName,
  TRANSACTION_FIELDS,
  type TransactionField,
} from "./transaction-fields.ts";

/**
 * A record as received, with every card number masked: any member may be missing or of another type, and unknown members
 * are kept. Read members with `memberOf` or `textOf`.
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
  /** Null only if the bytes are not a JSON object: an authentic record that breaks the rules is still a record. */
  readonly record: TransactionRecord | null;
  /** In the order of the specification's table. */
  readonly violations: readonly Violation[];
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads the body of a webhook. Never throws: every problem with the bytes is a violation. `recordAt` is the JSON Pointer to the
 * record where the service wraps it.
 */
export function readRecord(bytes: Uint8Array, recordAt?: string): ReadRecord {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return { record: null, violations: [whole("body_invalid_utf8", "must be UTF-8")] };
  }
  const json = parseJson(text);
  if (!json.ok) return { record: null, violations: [whole("body_not_json", json.message)] };
  const violations: Violation[] = [];
  if (text.startsWith("\uFEFF")) {
    violations.push(whole("body_not_json", "must not begin with a byte order mark (RFC 8259 8.1)"));
  }
  for (const path of json.value.duplicates) {
    violations.push({
      code: "body_duplicate_member",
      path,
      message: "must not be given twice; the last one is shown",
    });
  }
  const document = json.value.value;
  const record = recordAt === undefined ? document : valueAt(document, recordAt);
  const wrapped =
    isJsonObject(record) && memberOf(record, "uti") !== undefined ? undefined : placeOf(document);
  if (wrapped !== undefined)
    violations.push(whole("body_schema", `seems to have the record at ${wrapped}: set recordAt to that`));
  if (isJsonObject(record)) {
    const masked = maskedMembers(record);
    return {
      record: masked.length === 0 ? record : Object.fromEntries([...Object.entries(record), ...masked]),
      violations: violations.concat(violationsOf(record, masked)),
    };
  }
  const must =
    recordAt === undefined ? "must be a JSON object" : `must have the record at ${recordAt} (recordAt)`;
  return { record: null, violations: [...violations, whole("body_schema", must)] };
}

/** Where an object with a `uti` is inside the document. */
function placeOf(document: Json, steps: PointerSteps = []): string | undefined {
  if (!isJsonObject(document)) return undefined;
  if (steps.length > 0 && memberOf(document, "uti") !== undefined) return formatJsonPointer(steps);
  for (const [name, value] of Object.entries(document)) {
    const place = placeOf(value, [...steps, name]);
    if (place !== undefined) return place;
  }
  return undefined;
}

/** Every rule of the specification's table that the record breaks. Unknown fields are allowed. */
export function violationsOf(record: TransactionRecord, masked = maskedMembers(record)): Violation[] {
  const outcome = outcomeOf(record);
  const violations: Violation[] = [];
  for (const field of TRANSACTION_FIELDS) {
    const message = violationOf(field, memberOf(record, field.name), outcome);
    if (message !== undefined) violations.push({ code: "body_schema", path: field.name, message });
  }
  if (record["transApproved"] === true && record["transCancelled"] === true) {
    const message = "must not be true together with transApproved";
    violations.push({ code: "body_schema", path: "transCancelled", message });
  }
  for (const [name] of masked)
    if (!isFieldName(name))
      violations.push({ code: "body_schema", path: name, message: "must not hold a card number" });
  return violations;
}

/**
 * The members that hold a card number, masked: nobody may read one by accident. `cardPan` holds nothing else, so its digits
 * are masked with or without a check digit. The other fields of the specification are identifiers that can look like card
 * numbers.
 */
function maskedMembers(record: TransactionRecord): [name: string, masked: Json][] {
  const masked: [string, Json][] = [];
  for (const name of Object.keys(record)) {
    if (name !== "cardPan" && isFieldName(name)) continue;
    const value = memberOf(record, name) ?? null;
    const safe = name === "cardPan" ? maskedPan(value) : maskJson(value);
    if (safe !== value) masked.push([name, safe]);
  }
  return masked;
}

function maskedPan(value: Json): Json {
  if (typeof value === "string") return maskCardNumber(value);
  if (!isJsonNumber(value)) return maskJson(value);
  return isReadableCardNumber(value.value) ? maskCardNumber(value.value) : value;
}

/** Whether the payment was accepted, declined or cancelled, from the record's two flags. */
export function outcomeOf(record: TransactionRecord): Outcome {
  const approved = memberOf(record, "transApproved");
  const cancelled = memberOf(record, "transCancelled");
  if (typeof approved !== "boolean" || typeof cancelled !== "boolean") return "UNCLEAR";
  if (approved) return cancelled ? "UNCLEAR" : "APPROVED";
  return cancelled ? "CANCELLED" : "DECLINED";
}

/** The text of a field; undefined if it is missing or not text. */
export function textOf(record: TransactionRecord, name: FieldName): string | undefined {
  const value = memberOf(record, name);
  return typeof value === "string" ? value : undefined;
}

function violationOf(field: TransactionField, value: Json | undefined, outcome: Outcome): string | undefined {
  if (value === undefined) return isRequired(field, outcome) ? "is missing" : undefined;
  if (isForbidden(field, outcome)) return `must be absent from a ${outcome.toLowerCase()} payment`;
  if (value === null) return "must not be null";
  if (!field.type.test(value)) return `must be ${field.type.must}`;
  // Programs that read it as binary floating point would get Infinity (RFC 8259, section 6).
  return isJsonNumber(value) && !Number.isFinite(Number(value.value)) ? "must not exceed 1.8e308" : undefined;
}

/** If the outcome is unclear, fields that depend on it are neither required nor forbidden. */
export function isRequired({ presence }: TransactionField, outcome: Outcome): boolean {
  if (presence === "always" || outcome === "APPROVED") return true;
  return presence === "attempted" && outcome === "DECLINED";
}

export function isForbidden({ presence }: TransactionField, outcome: Outcome): boolean {
  if (presence === "always" || outcome === "APPROVED" || outcome === "UNCLEAR") return false;
  return presence === "accepted" || outcome === "CANCELLED";
}

function whole(code: Violation["code"], message: string): Violation {
  return { code, path: "", message };
}
