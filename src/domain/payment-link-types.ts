/** What the value of a link's field can be: for each type its rules, how a person's text becomes a value, and its JSON Schema. */
import { isWebAddress } from "../values/addresses.ts";
import { isJsonNumber, isJsonObject, type Json, type JsonNumber } from "../values/json.ts";
import { TRANSACTION_TYPES } from "./known-services.ts";
import {
  type Amount,
  compareAmounts,
  CURRENCY_CODE,
  DECIMAL,
  isDecimal,
  parseAmount,
  parseCurrency,
  signOf,
} from "./money.ts";
import { accepted, type Parsed } from "../values/parse-result.ts";
import { formatInstant, isUtcDateTime, parseExpiry, parseInstant } from "../values/time.ts";

/** What is wrong with a value; undefined if nothing is. */
type ValueRule = (value: Json) => string | undefined;

/** Reads an amount in the spelling of its list. */
export type AmountParser = (text: string) => Parsed<JsonNumber>;

interface TextOptions {
  /** What a duration counts from. */
  readonly now: Date;
  readonly amountFrom?: AmountParser | undefined;
}

/** A field has one of these, by its name. */
interface FieldTypeRules {
  /** Whatever a person, a file or a client sends: each rule has an example. */
  readonly rule: ValueRule;
  /** What a service answers; by default the same. Null is not a value of an optional field, unless this rule takes it. */
  readonly replyRule?: ValueRule;
  /** What can be shown of a reply, whatever else is wrong with it; by default what a service answers. */
  readonly shownRule?: ValueRule;
  /** The value to send for what a person wrote; by default the text unchanged. `rule` is applied afterwards. */
  readonly fromText?: (typed: string, options: TextOptions) => Parsed<Json>;
  /** Whether two values mean the same; by default equal text. */
  readonly isSame?: (one: Json, other: Json) => boolean;
  readonly jsonSchema: Readonly<Record<string, unknown>>;
}

const textRule =
  (rule: string, isRight: (value: string) => boolean = () => true): ValueRule =>
  (value) =>
    typeof value === "string" && isRight(value) ? undefined : rule;

const numberRule =
  (rule: string, isRight: (value: JsonNumber) => boolean): ValueRule =>
  (value) =>
    isJsonNumber(value) && isRight(value) ? undefined : rule;

const decimalRule =
  (rule: string, isRight: (value: JsonNumber) => boolean): ValueRule =>
  (value) =>
    isJsonNumber(value) ? numberRule(rule, isRight)(value) : textRule(rule, isDecimal)(value);

const anyText = textRule("must be text");
const anyDecimal = decimalRule("must be a decimal", () => true);
const notEmpty: ValueRule = (value) =>
  anyText(value) ?? textRule("must not be empty", (name) => /\S/.test(name))(value);
const utcDateTime = textRule(
  "must be an ISO 8601 date-time in UTC, such as 2030-01-31T12:00:00Z",
  isUtcDateTime,
);
/** Of a reply: shown in any form, so what it breaks besides is checked apart. */
const anyDate: ValueRule = (value) => (value === null || isJsonNumber(value) ? undefined : anyText(value));

/** The year of the first links: an earlier date is the "no date" of a database or a language. */
const FIRST_YEAR = 2000;

/** Whether a date is a placeholder, as services without null write it: 0001-01-01 or 1970-01-01, 0, or a word. */
function saysNever(value: Json): boolean {
  if (typeof value !== "string" && !isJsonNumber(value)) return false;
  const text = value.toString().trim();
  // .NET writes its first date without a zone.
  const date = parseInstant(text) ?? parseInstant(`${text}Z`);
  return date === undefined
    ? !/[1-9]/.test(text) || text.startsWith("-")
    : date.getUTCFullYear() < FIRST_YEAR;
}

const isNotNegative = (value: JsonNumber): boolean => signOf(value) >= 0;

const isDecimalValue = (value: Json): value is Amount =>
  isJsonNumber(value) || (typeof value === "string" && isDecimal(value));

/** Each side may spell a number differently. */
const isSameAmount = (one: Json, other: Json): boolean =>
  isDecimalValue(one) && isDecimalValue(other) && compareAmounts(one, other) === 0;

const typeCodeIn = (value: Json): Json => (typeof value === "string" ? value.toUpperCase() : value);

const TEXT_SCHEMA = { type: "string" };
const NAME_TYPE = { rule: notEmpty, replyRule: anyText, jsonSchema: { ...TEXT_SCHEMA, pattern: "\\S" } };
const DATE_TYPE = {
  rule: utcDateTime,
  replyRule: anyText,
  shownRule: anyDate,
  jsonSchema: { ...TEXT_SCHEMA, format: "date-time" },
};
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const CURRENCY_RULE = "must be a three-letter currency code";

const wordRule = (word: string): FieldTypeRules => ({
  rule: textRule(`must be ${word}`, (value) => value === word),
  jsonSchema: { const: word },
});

export const FIELD_TYPES = {
  /** In major units, as a number in its spelling. */
  amount: {
    rule: numberRule("must be a number of 0 or more, such as 10.00", isNotNegative),
    replyRule: numberRule("must be a number", () => true),
    shownRule: anyDecimal,
    fromText: (typed, { amountFrom = parseAmount }) => amountFrom(typed),
    isSame: isSameAmount,
    jsonSchema: { type: "number", minimum: 0 },
  },
  /** A limit of amounts. The field list types bounds as strings, the example writes numbers: both are accepted and kept. */
  bound: {
    rule: decimalRule("must be a decimal of 0 or more, such as 5.00", isNotNegative),
    replyRule: anyDecimal,
    fromText: (typed, { amountFrom = parseAmount }) => {
      const bound = amountFrom(typed);
      return bound.ok ? accepted(bound.value.value) : bound;
    },
    isSame: isSameAmount,
    jsonSchema: { type: ["number", "string"], minimum: 0, pattern: DECIMAL.source },
  },
  currency: {
    rule: textRule(`${CURRENCY_RULE}, such as EUR`, (value) => CURRENCY_CODE.test(value)),
    replyRule: textRule(CURRENCY_RULE, (value) => CURRENCY_CODE.test(value)),
    fromText: (typed) => {
      const code = parseCurrency(typed.trim());
      // The rule reports a text that is not a code.
      return code.ok ? code : accepted(typed);
    },
    // A base request is sent as it is spelled, and services answer in either case.
    isSame: (one, other) => typeCodeIn(one) === typeCodeIn(other),
    jsonSchema: { ...TEXT_SCHEMA, pattern: CURRENCY_CODE.source, examples: ["GBP"] },
  },
  text: { rule: anyText, jsonSchema: TEXT_SCHEMA },
  /** Text that is not empty. */
  name: NAME_TYPE,
  /** A known type in upper case; another one is sent as it is. */
  transactionType: {
    ...NAME_TYPE,
    fromText: (typed) =>
      accepted(TRANSACTION_TYPES.find((type) => type === typed.trim().toUpperCase()) ?? typed),
    jsonSchema: { ...NAME_TYPE.jsonSchema, examples: TRANSACTION_TYPES },
  },
  email: {
    rule: textRule("must be an e-mail address, such as ada@shop.example", (value) => EMAIL.test(value)),
    jsonSchema: { ...TEXT_SCHEMA, pattern: EMAIL.source },
  },
  webAddress: {
    rule: textRule("must be an absolute http or https URL, such as https://shop.example/paid", isWebAddress),
    jsonSchema: { ...TEXT_SCHEMA, format: "uri", pattern: "^https?://[^/]" },
  },
  date: DATE_TYPE,
  /** ISO 8601, a date, or a duration from now, sent as ISO 8601 UTC. */
  expiry: {
    ...DATE_TYPE,
    fromText: (typed, { now }) => {
      const date = parseExpiry(typed, now);
      return date.ok ? accepted(formatInstant(date.value)) : date;
    },
    jsonSchema: { ...DATE_TYPE.jsonSchema, pattern: "T.*(Z|\\+00:00)$" },
  },
  /** When something happened; null as long as it has not. */
  dateOrNull: {
    rule: () => undefined,
    replyRule: (value) =>
      value === null ? undefined : textRule("must be an ISO 8601 date-time or null")(value),
    shownRule: (value) => (saysNever(value) ? "must be null if it has not happened" : anyDate(value)),
    jsonSchema: { type: ["string", "null"], format: "date-time" },
  },
  ucof: wordRule("ucof"),
  initial: wordRule("initial"),
  object: {
    rule: (value) => (isJsonObject(value) ? undefined : "must be an object"),
    jsonSchema: { type: "object" },
  },
} satisfies Readonly<Record<string, FieldTypeRules>>;

export type FieldType = keyof typeof FIELD_TYPES;

/** The rules of a type, as every type may have them. */
export const typeNamed = (type: FieldType): FieldTypeRules => FIELD_TYPES[type];

/** Whether a value means what another one does. */
export const isSameValue = (type: FieldType, one: Json, other: Json): boolean =>
  (typeNamed(type).isSame ?? Object.is)(one, other);

/** Whether it is a point in time. */
export const isDate = (type: FieldType): boolean => typeNamed(type).jsonSchema["format"] === "date-time";
