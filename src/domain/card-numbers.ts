/** Card numbers, which are never shown whole: how they are found and masked. */
import { isJsonNumber, isJsonObject, type Json, type JsonObject, setMember } from "../values/json.ts";

/** PCI DSS 3.4.1: at most the first eight digits and the last four may be read. */
const MAX_READABLE = 12;
const LAST_DIGITS = 4;
/** ISO/IEC 7812. */
const MOST_DIGITS = 19;

/** Whether a value that is known to be a card number can be read. */
export const isReadableCardNumber = (text: string): boolean =>
  text.length > MAX_READABLE && digitsIn(text) > MAX_READABLE;

/** Counted, since every text of every record is asked (verify bench). */
function digitsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) count++;
  }
  return count;
}

/** `************1111`; a text that is masked already is returned unchanged. */
export function maskCardNumber(text: string): string {
  if (!isReadableCardNumber(text)) return text;
  let remaining = text.replace(/\D/g, "").length;
  return text.replace(/\d/g, (digit) => (remaining-- > LAST_DIGITS ? "*" : digit));
}

/**
 * 13 to 19 digits as a word of their own, in one run or grouped as on a card. Payment cards begin with 2 to 6 (ISO/IEC 7812),
 * unlike most times and padded numbers.
 */
const CANDIDATE =
  /(?<![\w-])(?:[2-6]\d{12,18}|[2-6]\d{3}([ -])\d{4}\1\d{4}\1\d{1,7}|3[47]\d{2}([ -])\d{6}\2\d{5})(?![\w-])/g;

/**
 * Names of fields that are for card numbers, without separators and in lower case: `cardPan`, `card_number`, `maskedPan`,
 * `primaryAccountNumber`, `creditCard`. Names that go on (`cardPanSequenceNumber`, `cardToken`) are for something else.
 */
const CARD_FIELD =
  /^(?:.*card(?:pan|number|num|no|nr)s?|(?:masked|full|raw|clear|plain)?pans?|(?:primaryaccountnumber|fpan|dpan)s?|(?:credit|debit|payment|bank)?cards?)(?:masked|full|raw|clear|plain)?$/;

/** A number within an object that is for a card: `{"card": {"number": …}}`. */
const NUMBER_FIELD = /^(?:number|num|no|nr|value|masked)$/;

const plainName = (name: string): string => name.replace(/[^A-Za-z0-9]/g, "").toLowerCase();

/** What the name of a field for card numbers has, or separators, which may hide it. */
const MAY_BE_CARD = /card|pan|account|[^A-Za-z0-9]/i;

/** Whether a member is for card numbers; `parent` is the name of the object that it is in. */
const isCardField = (name: string, parent = ""): boolean =>
  (MAY_BE_CARD.test(name) && CARD_FIELD.test(plainName(name))) ||
  (MAY_BE_CARD.test(parent) && NUMBER_FIELD.test(plainName(name)) && CARD_FIELD.test(plainName(parent)));

/**
 * The value of a field for card numbers, masked if it looks like one: 13 to 19 digits with or without a check digit, and no letters,
 * which a token has. `cardPan` holds nothing else.
 */
function maskCardField(name: string, parent: string, text: string): string {
  if (!isReadableCardNumber(text) || !isCardField(name, parent)) return text;
  const isNumber = !/[A-Za-z]/.test(text) && text.replace(/\D/g, "").length <= MOST_DIGITS;
  return isNumber || name === "cardPan" ? maskCardNumber(text) : text;
}

/** A member of JSON in a text, with a value that may be a card number. */
const MEMBER = /("([\w .-]{1,60})"\s*:\s*)("(?:[^"\\]|\\.)*"|\d+)/g;

/** Masks the card numbers in a text that may hold anything: those with the check digit of a card number, and those in a field for them. */
export const maskCardNumbers = (text: string): string =>
  text
    .replace(
      MEMBER,
      (_, before: string, name: string, value: string) => before + maskCardField(name, "", value),
    )
    .replace(CANDIDATE, (found) => (hasCheckDigit(found.replace(/\D/g, "")) ? maskCardNumber(found) : found));

/**
 * Masks the card numbers in the fields that are for them, at any depth, with or without a check digit. Nothing else is
 * changed: many identifiers look like card numbers. A value without card numbers is returned itself.
 */
export function maskCardFields(value: Json, name = "", parent = ""): Json {
  if (typeof value === "string" || isJsonNumber(value)) {
    const text = String(value);
    const masked = maskCardField(name, parent, text);
    return masked === text ? value : masked;
  }
  if (Array.isArray(value)) {
    const masked = value.map((item) => maskCardFields(item, name, parent));
    return masked.some((item, index) => item !== value[index]) ? masked : value;
  }
  if (!isJsonObject(value)) return value;
  let copy: JsonObject | undefined;
  for (const member of Object.keys(value)) {
    const inner = value[member] ?? null;
    const masked = maskCardFields(inner, member, name);
    if (masked !== inner) setMember((copy ??= { ...value }), member, masked);
  }
  return copy ?? value;
}

/** The formula of Luhn (ISO/IEC 7812-1, annex B). */
export function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 0 ? digit : digit * 2;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
