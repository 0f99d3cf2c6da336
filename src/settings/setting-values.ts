/** The kinds of values that settings have. Each checks and normalises a value from a flag, a variable or a profile. */
import { resolve } from "node:path";
import { normalAddress, parseUrl } from "../values/addresses.ts";
import { isKeyText, keyPlace, sourcesIn } from "../signatures/key-text.ts";
import { eventStoreProblem, isDatabaseUrl } from "../store/store-place.ts";
import { parseCurrency } from "../domain/money.ts";
import { SERVICE_NAMES } from "../domain/known-services.ts";
import { accepted, parseChoice, refused, refusedUnseen, type Parsed } from "../values/parse-result.ts";
import { mayBeKeyText } from "../values/secrets.ts";
import { parseTypedText } from "../values/typed-text.ts";
import { parseDuration } from "../values/time.ts";

/** Reads its own result to the same result. Its message never quotes the value. */
export type SettingParser<T> = (value: unknown) => Parsed<T>;

const textValue =
  <T extends string>(parse: (text: string) => Parsed<T>): SettingParser<T> =>
  (value) => {
    if (typeof value === "string") {
      const typed = parseTypedText(value);
      return typed.ok ? parse(typed.value) : typed;
    }
    return refused(Array.isArray(value) ? "takes one value" : "must be text");
  };

/** Text that is not empty; by default any. */
const filled = (parse: (text: string) => Parsed<string> = accepted): SettingParser<string> =>
  textValue((given) => (given === "" ? refused("must not be empty") : parse(given)));

const choiceValue = <T extends string>(words: readonly T[]): SettingParser<T> =>
  textValue((given) => parseChoice(words, given));

/** `true` or `false`, or the same as text. */
function toggleValue(value: unknown): Parsed<boolean> {
  if (value === true || value === "true") return accepted(true);
  if (value === false || value === "false") return accepted(false);
  return refused("must be true or false");
}

/** One value or several, which a text may hold too. */
const listValue =
  (
    parse: SettingParser<string>,
    split: (text: string) => readonly string[],
  ): SettingParser<readonly string[]> =>
  (value) => {
    const given: unknown = typeof value === "string" ? split(value) : value;
    if (!Array.isArray(given)) return refused("must be text, or a list of texts");
    if (given.length === 0) return refused("must not be empty");
    const values: string[] = [];
    for (const item of given) {
      const read = parse(item);
      if (!read.ok) return read;
      values.push(read.value);
    }
    return accepted(values);
  };

function parseAddress(address: string): Parsed<string> {
  const url = parseUrl(address);
  return url.ok ? accepted(normalAddress(url.value, address)) : url;
}

/** An address that paths are appended to, which begin with the version. */
function parseBaseAddress(given: string): Parsed<string> {
  const address = parseAddress(given);
  if (!address.ok) return address;
  if (/[?#]/.test(address.value)) return refused("must not have a query or a fragment");
  if (new URL(address.value).username !== "") return refused("must not have a user name or a password");
  return accepted(address.value.replace(/(?:\/v1)?\/*$/, ""));
}

const isPath = (path: string): boolean => /^\/[^\s#]*$/.test(path);

/** A path below the base URL or a whole URL, with `{uti}` in it. */
function parseTransactionAddress(address: string): Parsed<string> {
  const read = isPath(address) ? accepted(address) : parseAddress(address);
  return read.ok && read.value.includes("{uti}")
    ? read
    : refused("must be a path or an http or https URL with {uti} in it, such as /v1/transactions/{uti}");
}

/** RFC 6749 3.3: names with one space between. */
const parseScope = (words: string): Parsed<string> =>
  /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(words)
    ? accepted(words)
    : refused('must be scopes separated by single spaces, without " and \\, such as pay_by_link');

/** The text of a key has line ends. */
const keyTextValue: SettingParser<string> = (value) => {
  const typed = typeof value === "string" ? parseTypedText(value, { lines: true }) : refused("must be text");
  return typed.ok ? parseKeySource(typed.value) : typed;
};

/** The text of a key, a URL, or a file. */
function parseKeySource(source: string): Parsed<string> {
  if (source === "") return refused("must not be empty");
  // What may be a key under another spelling keeps it, so that no message has a part of it.
  if (isKeyText(source) || mayBeKeyText(source)) return accepted(source);
  return /^https?:/i.test(source) ? parseAddress(source) : accepted(resolve(keyPlace(source)));
}

/** A file, or the URL of a PostgreSQL database. */
function parseEventStore(place: string): Parsed<string> {
  const problem = eventStoreProblem(place);
  if (problem !== undefined) return refusedUnseen(problem);
  return accepted(isDatabaseUrl(place) ? place : resolve(place));
}

/** A duration as it is spelled. */
function parseDurationText(given: string): Parsed<string> {
  const read = parseDuration(given);
  return read.ok ? accepted(given) : read;
}

/** By their names. */
export const VALUE_KINDS = {
  text: filled(),
  service: choiceValue(SERVICE_NAMES),
  tokenAuth: choiceValue(["post", "basic"] as const),
  toggle: toggleValue,
  currency: textValue(parseCurrency),
  duration: textValue(parseDurationText),
  address: textValue(parseAddress),
  baseAddress: textValue(parseBaseAddress),
  transactionAddress: textValue(parseTransactionAddress),
  scope: textValue(parseScope),
  keySources: listValue(keyTextValue, sourcesIn),
  eventStore: textValue(parseEventStore),
};
