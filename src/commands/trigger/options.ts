/** From the flags of `trigger` to the samples that it sends, with every problem by its flag. */
import { currencyCode } from "../../domain/currency.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { JsonNumber, type Json } from "../../domain/json.ts";
import { decimalsProblem, parseAmount } from "../../domain/money.ts";
import { nearest } from "../../domain/nearest.ts";
import { accepted, refused, type Parsed } from "../../domain/parse-result.ts";
import {
  TRANSACTION_FIELDS,
  type FieldName,
  type TransactionField,
} from "../../domain/transaction-fields.ts";
import type { InForce } from "../../store/in-force.ts";
import { parseEndpoint } from "../../webhooks/endpoint.ts";
import type { Sample, SampleOutcome } from "../../webhooks/sample.ts";
import { TAMPERINGS } from "../../webhooks/tamperings.ts";
import type { Tampering } from "../../webhooks/tamperings/tampering.ts";
import type { TriggerFlags } from "./command.ts";

export interface TriggerOptions {
  readonly url: URL;
  readonly sample: Sample;
  /** Fields of the record to be replaced, typed as the specification types them. */
  readonly replaced: Readonly<Partial<Record<FieldName, Json>>>;
  readonly count: number;
  readonly times: number;
  /** Milliseconds from one start to the next; 0 for none. */
  readonly interval: number;
  readonly tampering: Tampering | undefined;
}

/** Where `listen` listens when it is not told otherwise. */
const LISTENER = "http://127.0.0.1:4000/";

/** Throws one `usage` failure with every problem. */
export function triggerOptions(
  outcome: SampleOutcome,
  flags: TriggerFlags,
  settings: InForce,
): TriggerOptions {
  const problems: Problem[] = [];
  const take = <T>(at: string, parsed: Parsed<T>): T | undefined => {
    if (parsed.ok) return parsed.value;
    problems.push({ at, message: parsed.message });
    return undefined;
  };
  const to = flags.to ?? listenerOf(settings);
  const url = take(`--to ${to}`, parseEndpoint(to, flags.allowRemote ?? false));
  const currency =
    flags.currency === undefined ? undefined : take("--currency", parseCurrency(flags.currency));
  const amount = flags.amount === undefined ? undefined : take("--amount", parseAmount(flags.amount));
  const tooFine = amount === undefined ? undefined : decimalsProblem(amount, currency ?? "EUR");
  if (tooFine !== undefined) problems.push({ at: "--amount", message: tooFine });
  const replaced: Partial<Record<FieldName, Json>> = {};
  for (const text of flags.set ?? []) {
    const field = take(`--set ${text}`, parseField(text));
    if (field !== undefined) replaced[field.name] = field.value;
  }
  const options = {
    sample: { outcome, link: flags.link, amount: amount?.toString(), currency, reference: flags.reference },
    replaced,
    count: take("--count", parseCount(flags.count)) ?? 1,
    times: take("--times", parseCount(flags.times)) ?? 1,
    interval: flags.rate === undefined ? 0 : (take("--rate", parseRate(flags.rate)) ?? 0),
    tampering: flags.tamper === undefined ? undefined : take("--tamper", parseTampering(flags.tamper)),
  };
  if (url === undefined || problems.length > 0)
    throw new PaylinkError("usage", "Nothing was sent.", { problems });
  return { url, ...options };
}

/** The profile's own callback, where it is on this machine: nobody is to be posted to by surprise. */
function listenerOf(settings: InForce): string {
  const callback = settings.get("callbackUrl") ?? LISTENER;
  return parseEndpoint(callback, false).ok ? callback : LISTENER;
}

function parseCurrency(text: string): Parsed<string> {
  const parsed = currencyCode.safeParse(text);
  return parsed.success ? accepted(parsed.data) : refused(parsed.error.issues[0]?.message ?? "");
}

/** `field=value`, the value typed as the specification types the field. */
function parseField(text: string): Parsed<{ name: FieldName; value: Json }> {
  const [, name = "", value] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  if (value === undefined) return refused("must be a field and its value, such as cardScheme=VISA");
  const field = TRANSACTION_FIELDS.find((candidate) => candidate.name === name);
  if (field !== undefined) {
    const typed = typedValue(field, value);
    return typed.ok ? accepted({ name: field.name, value: typed.value }) : typed;
  }
  const near = nearest(
    name,
    TRANSACTION_FIELDS.map((candidate) => candidate.name),
  );
  return refused(`is no field of a transaction record${near === undefined ? "" : `; did you mean ${near}?`}`);
}

/** By its JSON type alone: a value that breaks another rule is what some tests are about. */
function typedValue({ type }: TransactionField, value: string): Parsed<Json> {
  if (type.test(true)) return parseFlag(value);
  if (!type.test(new JsonNumber("1"))) return accepted(value);
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)
    ? accepted(new JsonNumber(value))
    : refused("must be a number, such as 10.50");
}

function parseFlag(value: string): Parsed<boolean> {
  return value === "true" || value === "false"
    ? accepted(value === "true")
    : refused("must be true or false");
}

function parseCount(text: string): Parsed<number> {
  return /^[1-9]\d{0,6}$/.test(text) ? accepted(Number(text)) : refused("must be a whole number from 1");
}

function parseRate(text: string): Parsed<number> {
  const [, number] = /^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(text) ?? [];
  const rate = Number(number ?? 0);
  return rate > 0 ? accepted(1000 / rate) : refused("must be a number a second, such as 10/s");
}

function parseTampering(text: string): Parsed<Tampering> {
  const found = TAMPERINGS.find(({ name }) => name === text);
  if (found !== undefined) return accepted(found);
  const near = nearest(
    text,
    TAMPERINGS.map(({ name }) => name),
  );
  const meant = near === undefined ? "paylink trigger --help lists them" : `did you mean ${near}?`;
  return refused(`is no kind of tampering; ${meant}`);
}
