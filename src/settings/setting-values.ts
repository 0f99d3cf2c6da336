/** The kinds of values that settings have. Each checks and normalises a value from a flag, a variable or a profile. */
import { resolve } from "node:path";
import { eventStoreProblem, isDatabaseUrl, isKeyText, normalAddress, parseUrl } from "../domain/addresses.ts";
import { parseCurrency } from "../domain/money.ts";
import { parseJsonPointer } from "../domain/json.ts";
import { SERVICE_NAMES } from "../domain/known-services.ts";
import { parseHeaderLine, parseHeaderName, parseHeaderValue } from "../domain/header-field.ts";
import { accepted, nearest, refused, type Parsed } from "../domain/parse-result.ts";
import { parseDuration } from "../domain/time.ts";

/** Reads its own result to the same result. Its message never quotes the value. */
type Parser<T> = (value: unknown) => Parsed<T>;

const text =
  <T extends string>(parse: (text: string) => Parsed<T>): Parser<T> =>
  (value) => {
    if (typeof value === "string") return parse(value);
    return refused(Array.isArray(value) ? "takes one value" : "must be text");
  };

const trimmed = (parse: (text: string) => Parsed<string>): Parser<string> =>
  text((given) => parse(given.trim()));

/** Text that is not empty; by default any. */
const filled = (parse: (text: string) => Parsed<string> = accepted): Parser<string> =>
  text((given) => (given.trim() === "" ? refused("must not be empty") : parse(given)));

const oneOf = <T extends string>(words: readonly T[]): Parser<T> =>
  text((given) => {
    const word = words.find((known) => known === given);
    if (word !== undefined) return accepted(word);
    return refused(`must be one of ${words.join(", ")}`, nearest(given, words));
  });

/** `true` or `false`, or the same as text. */
function toggle(value: unknown): Parsed<boolean> {
  if (value === true || value === "true") return accepted(true);
  if (value === false || value === "false") return accepted(false);
  return refused("must be true or false");
}

/** One value or several. */
const listOf =
  (parse: Parser<string>): Parser<readonly string[]> =>
  (value) => {
    const given: unknown = typeof value === "string" ? [value] : value;
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

/** An address that paths are appended to. */
function parseBaseAddress(given: string): Parsed<string> {
  const address = parseAddress(given);
  if (!address.ok) return address;
  if (/[?#]/.test(address.value)) return refused("must not have a query or a fragment");
  if (new URL(address.value).username !== "") return refused("must not have a user name or a password");
  return accepted(address.value.replace(/\/+$/, ""));
}

const isPath = (path: string): boolean => /^\/[^\s#]*$/.test(path);

/** A path, and perhaps a query, below the base URL. */
const parsePath = (path: string): Parsed<string> =>
  isPath(path) ? accepted(path) : refused("must be a path that starts with /, such as /v1/payment-links");

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
    : refused('must be scopes with one space between, without " and \\, such as pay_by_link');

const TOKEN_PARAMETERS = ["grant_type", "client_id", "client_secret", "scope"];

/** Form parameters except those that other settings give. */
function parseFormParameters(form: string): Parsed<string> {
  if (!/^[^\s&=]+=[^\s&]*(?:&[^\s&=]+=[^\s&]*)*$/.test(form))
    return refused("must be names and values, such as audience=payments&resource=links");
  const reserved = TOKEN_PARAMETERS.find((name) => new URLSearchParams(form).has(name));
  return reserved === undefined
    ? accepted(form)
    : refused(`must not have ${reserved}: another setting gives it`);
}

/** A header line with `{token}` in place of the access token. */
function parseTokenHeader(given: string): Parsed<string> {
  const line = parseHeaderLine(given);
  if (!line.ok || !line.value[1].includes("{token}"))
    return refused("must be a header with {token} in it, such as X-API-Key: {token}");
  return accepted(line.value.join(": "));
}

export type Headers = Readonly<Record<string, string>>;

/** Headers by name: an object, or its JSON text. */
function parseHeaders(value: unknown): Parsed<Headers> {
  const given = typeof value === "string" ? jsonOf(value) : value;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return refused('must be a JSON object of headers, such as {"X-Terminal": "7"}');
  const read = new Map<string, readonly [name: string, value: string]>();
  for (const [spelled, content] of Object.entries(given)) {
    const header = parseHeader(spelled, content);
    if (!header.ok) return header;
    const key = header.value[0].toLowerCase();
    if (read.has(key)) return refused(`must not have ${spelled} twice`);
    read.set(key, header.value);
  }
  return accepted(Object.fromEntries(read.values()));
}

function parseHeader(spelled: string, content: unknown): Parsed<readonly [name: string, value: string]> {
  const name = parseHeaderName(spelled);
  if (!name.ok) return refused(`has the name ${JSON.stringify(spelled)}, which ${name.message}`);
  if (name.value.toLowerCase() === "authorization")
    return refused("must not have Authorization: the setting authHeader gives it");
  const value = typeof content === "string" ? parseHeaderValue(content) : refused("must be text");
  return value.ok
    ? accepted([name.value, value.value])
    : refused(`has a value of ${spelled} that ${value.message}`);
}

/** Undefined for text that is not JSON. The parser's message would quote it. */
export function jsonOf(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** The text of a key, a URL, or a file. */
function parseKeySource(source: string): Parsed<string> {
  if (source === "") return refused("must not be empty");
  if (isKeyText(source)) return accepted(source);
  return /^https?:/i.test(source) ? parseAddress(source) : accepted(resolve(source));
}

/** A file, or the URL of a PostgreSQL database. */
function parseEventStore(place: string): Parsed<string> {
  const problem = eventStoreProblem(place);
  if (problem !== undefined) return refused(problem);
  return accepted(isDatabaseUrl(place) ? place : resolve(place));
}

/** The text as it is, if another parser reads it. */
const readBy =
  (parse: (given: string) => Parsed<unknown>) =>
  (given: string): Parsed<string> => {
    const read = parse(given);
    return read.ok ? accepted(given) : read;
  };

const PARSERS = {
  text: filled(),
  service: oneOf(SERVICE_NAMES),
  tokenAuth: oneOf(["basic", "basic-plain", "post", "json"] as const),
  toggle,
  currency: text(parseCurrency),
  duration: trimmed(readBy(parseDuration)),
  address: trimmed(parseAddress),
  baseAddress: trimmed(parseBaseAddress),
  path: trimmed(parsePath),
  transactionAddress: trimmed(parseTransactionAddress),
  scope: trimmed(parseScope),
  formParameters: trimmed(parseFormParameters),
  tokenHeader: text(parseTokenHeader),
  headers: parseHeaders,
  headerName: text(parseHeaderName),
  jsonPointer: text(readBy(parseJsonPointer)),
  /** The full path of a file, which is valid wherever paylink runs later. */
  file: filled((path) => accepted(resolve(path))),
  keySources: listOf(trimmed(parseKeySource)),
  eventStore: trimmed(parseEventStore),
};

export type Kind = keyof typeof PARSERS;
export type KindValues = {
  readonly [Of in Kind]: (typeof PARSERS)[Of] extends Parser<infer T> ? T : never;
};

export const KINDS: { readonly [Of in Kind]: Parser<KindValues[Of]> } = PARSERS;
