/** The kinds of values of settings. Each checks and normalises a value from a flag, a variable or a profile. */
import { resolve } from "node:path";
import * as z from "zod/mini";
import { currencyCode } from "../domain/money.ts";
import { isDatabaseUrl, isReadableUrl, normalAddress, parseWebAddress } from "../domain/addresses.ts";
import { parseDuration } from "../domain/time.ts";
import { parseHeaderLine, parseHeaderName, parseHeaderValue } from "../domain/header-field.ts";
import { parseJsonPointer } from "../domain/json-pointer.ts";
import { isKeyText } from "../domain/key-source.ts";
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";

/** A value that a parser reads. It reads its own result to the same result. */
const parsed = <Output>(parse: (value: unknown) => Parsed<Output>) =>
  z.transform((value: unknown, context): Output => {
    const result = parse(value);
    if (result.ok) return result.value;
    context.issues.push({ code: "custom", message: result.message, input: value });
    return z.NEVER;
  });

const parsedText = <T extends string>(parse: (text: string) => Parsed<T>) =>
  parsed((value) => {
    if (typeof value === "string") return parse(value);
    return refused(Array.isArray(value) ? "takes one value" : "must be text");
  });

export const filledText = parsedText((text) =>
  text.trim() === "" ? refused("must not be empty") : accepted(text),
);

export const currency = z.pipe(parsedText(accepted), currencyCode);

export const oneOf = <T extends string>(words: readonly T[]) =>
  parsedText((text) => {
    const word = words.find((known) => known === text);
    return word === undefined ? refused(`must be one of ${words.join(", ")}`) : accepted(word);
  });

/** `true` or `false`, or the same as text. */
export const toggle = parsed((value) => {
  if (value === true || value === "true") return accepted(true);
  if (value === false || value === "false") return accepted(false);
  return refused("must be true or false");
});

/** One value or several. */
export const listOf = (item: z.ZodMiniType<string>) =>
  z.pipe(
    z.transform((value: unknown): unknown => (typeof value === "string" ? [value] : value)),
    z.array(item, "must be text, or a list of texts").check(z.minLength(1, "must not be empty")),
  );

export const webAddress = parsedText((text) => parseAddress(text.trim()));

/** An address that paths are appended to. */
export const baseAddress = parsedText((text) => {
  const address = parseAddress(text.trim());
  if (!address.ok) return address;
  if (/[?#]/.test(address.value)) return refused("must not have a query or a fragment");
  if (new URL(address.value).username !== "") return refused("must not have a user name or a password");
  return accepted(address.value.replace(/\/+$/, ""));
});

function parseAddress(text: string): Parsed<string> {
  const url = parseWebAddress(text);
  return url === undefined
    ? refused("must be an absolute http or https URL, such as https://shop.example/webhooks")
    : accepted(normalAddress(url, text));
}

const isPath = (text: string): boolean => /^\/[^\s#]*$/.test(text);

/** A path, and perhaps a query, below the base URL. */
export const servicePath = parsedText((text) => {
  const path = text.trim();
  return isPath(path)
    ? accepted(path)
    : refused("must be a path that starts with /, such as /v1/payment-links");
});

/** A path below the base URL or a whole URL, with `{uti}` in it. */
export const transactionAddress = parsedText((text) => {
  const address = text.trim();
  const read = isPath(address) ? accepted(address) : parseAddress(address);
  return read.ok && read.value.includes("{uti}")
    ? read
    : refused("must be a path or an http or https URL with {uti} in it, such as /v1/transactions/{uti}");
});

/** RFC 6749 3.3: names with one space between. */
export const scope = parsedText((text) => {
  const words = text.trim();
  return /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(words)
    ? accepted(words)
    : refused('must be scopes with one space between, without " and \\, such as pay_by_link');
});

const TOKEN_PARAMETERS = ["grant_type", "client_id", "client_secret", "scope"];

/** Form parameters except those that other settings give. */
export const formParameters = parsedText((text) => {
  const form = text.trim();
  if (!/^[^\s&=]+=[^\s&]*(?:&[^\s&=]+=[^\s&]*)*$/.test(form))
    return refused("must be names and values, such as audience=payments&resource=links");
  const reserved = TOKEN_PARAMETERS.find((name) => new URLSearchParams(form).has(name));
  return reserved === undefined
    ? accepted(form)
    : refused(`must not have ${reserved}: another setting gives it`);
});

/** A header line with `{token}` in place of the access token. */
export const tokenHeader = parsedText((text) => {
  const line = parseHeaderLine(text);
  if (!line.ok || !line.value[1].includes("{token}"))
    return refused("must be a header with {token} in it, such as X-API-Key: {token}");
  return accepted(line.value.join(": "));
});

export const headerName = parsedText(parseHeaderName);

export type Headers = Readonly<Record<string, string>>;

/** Headers by name: an object, or its JSON text. */
export const headers = parsed((value): Parsed<Headers> => {
  const given = typeof value === "string" ? jsonOf(value) : value;
  if (typeof given !== "object" || given === null || Array.isArray(given))
    return refused('must be a JSON object of headers, such as {"X-Terminal": "7"}');
  const read = new Map<string, readonly [name: string, value: string]>();
  for (const [spelled, text] of Object.entries(given)) {
    const header = parseHeader(spelled, text);
    if (!header.ok) return header;
    const key = header.value[0].toLowerCase();
    if (read.has(key)) return refused(`must not have ${spelled} twice`);
    read.set(key, header.value);
  }
  return accepted(Object.fromEntries(read.values()));
});

function parseHeader(spelled: string, text: unknown): Parsed<readonly [name: string, value: string]> {
  const name = parseHeaderName(spelled);
  if (!name.ok) return refused(`has the name ${JSON.stringify(spelled)}, which ${name.message}`);
  if (name.value.toLowerCase() === "authorization")
    return refused("must not have Authorization: the setting authHeader gives it");
  const value = typeof text === "string" ? parseHeaderValue(text) : refused("must be text");
  return value.ok
    ? accepted([name.value, value.value])
    : refused(`has a value of ${spelled} that ${value.message}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const jsonPointer = parsedText((text) => {
  const pointer = parseJsonPointer(text);
  return pointer.ok ? accepted(text) : pointer;
});

export const durationText = parsedText((text) => {
  const duration = parseDuration(text);
  return duration.ok ? accepted(text.trim()) : duration;
});

/** The full path of a file, which is valid wherever paylink runs later. */
export const filePath = parsedText((text) =>
  text.trim() === "" ? refused("must not be empty") : accepted(resolve(text)),
);

/** The text of a key, a URL, or a file. */
export const keySource = parsedText((text) => {
  const source = text.trim();
  if (source === "") return refused("must not be empty");
  if (isKeyText(source)) return accepted(source);
  return /^https?:/i.test(source) ? parseAddress(source) : accepted(resolve(source));
});

/** A file, or the URL of a PostgreSQL database. */
export const eventStorePlace = parsedText((text) => {
  const place = text.trim();
  if (place === "") return refused("must not be empty");
  if (isDatabaseUrl(place))
    return isReadableUrl(place)
      ? accepted(place)
      : refused("must be a file, or a URL such as postgres://db/paylink");
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(place)
    ? refused("must be a file, or a URL such as postgres://db/paylink")
    : accepted(resolve(place));
});
