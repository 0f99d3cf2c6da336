/** What is never shown: card numbers, and the names of headers, form fields and members that carry credentials. */
import { isJsonNumber, isJsonObject, type Json } from "./json.ts";

/** PCI DSS 3.4.1: at most the first eight digits and the last four may be read. */
const MAX_READABLE = 12;
const LAST_DIGITS = 4;

/** Whether a value that is known to be a card number can be read. */
export const isReadableCardNumber = (text: string): boolean => text.replace(/\D/g, "").length > MAX_READABLE;

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

/** The field of a record that holds a card number and nothing else, as JSON. */
const CARD_MEMBER = /("cardPan"\s*:\s*)("(?:[^"\\]|\\.)*"|\d+)/g;

/** Masks the card numbers in a text that may hold anything: those with the check digit of a card number, and any `cardPan`. */
export const maskCardNumbers = (text: string): string =>
  text
    .replace(CARD_MEMBER, (_, name: string, value: string) => name + maskCardNumber(value))
    .replace(CANDIDATE, (found) => (hasCheckDigit(found.replace(/\D/g, "")) ? maskCardNumber(found) : found));

/** The same in every text and number of a JSON value. A value without card numbers is returned itself. */
export function maskJson(value: Json): Json {
  if (typeof value === "string") return maskCardNumbers(value);
  if (isJsonNumber(value)) {
    const masked = maskCardNumbers(value.value);
    return masked === value.value ? value : masked;
  }
  if (Array.isArray(value)) {
    const masked = value.map(maskJson);
    return masked.some((item, index) => item !== value[index]) ? masked : value;
  }
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]): [string, Json] => [name, maskJson(member)]);
  return members.some(([name, member]) => member !== value[name]) ? Object.fromEntries(members) : value;
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

/** The ends of such names, for a regular expression that ignores case. */
export const SECRET_NAME_ENDS = [
  "token",
  "secret",
  "passw(?:or)?d",
  "passphrase",
  "assertion",
  "credentials?",
  "authorization",
  "auth",
  "cookie",
  "(?:api|app|access|account|auth|client|merchant|private|secret|shared|subscription)[-_]?key",
].join("|");

const SECRET_NAME = new RegExp(`(?:${SECRET_NAME_ENDS})$`, "i");

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);
