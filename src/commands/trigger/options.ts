/** Turns the flags of `trigger` and the settings into the sample webhooks that it sends. */
import { decimalsProblem, parseAmount, parseCurrency } from "../../domain/money.ts";
import { LISTENER_URL } from "../../domain/addresses.ts";
import type { Json } from "../../domain/json.ts";
import { nearest } from "../../domain/nearest.ts";
import { accepted, refused, type Parsed } from "../../domain/parse-result.ts";
import type { FieldName } from "../../domain/transaction-fields.ts";
import { parseTarget } from "../../receiver/forward.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { allowEndpoint, parseEndpoint } from "../../check/endpoint.ts";
import { LINK_KINDS, OUTCOMES, type Sample } from "../../check/samples.ts";
import { SERVICE_COVER, type CoveredComponents, type SignatureForm } from "../../check/signature-form.ts";
import { TAMPERINGS } from "../../check/tamperings.ts";
import { coverToTamper, type Tampering } from "../../check/tamperings.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseChoice, parseCount, parseCover, parseRate } from "../flag-values.ts";
import type { TriggerFlags } from "./flags.ts";
import { parseField } from "./record-field.ts";

export interface TriggerOptions {
  readonly url: URL;
  /** The file of the private key; undefined is the sandbox's own. */
  readonly keyPath: string | undefined;
  readonly sample: Sample;
  /** Fields of the record that replace the sample's. */
  readonly replaced: Readonly<Partial<Record<FieldName, Json>>>;
  readonly count: number;
  readonly times: number;
  /** Milliseconds from one start to the next; 0 for none. */
  readonly interval: number;
  readonly tampering: Tampering | undefined;
  readonly form: SignatureForm;
  readonly dryRun: boolean;
}

const MAX_COUNT = 9_999_999;

/** Throws one `usage` error with every problem. */
export function triggerOptions(
  outcome: string,
  flags: TriggerFlags,
  settings: ResolvedSettings,
): TriggerOptions {
  const reader = createFlagReader();
  const result = reader.read("<outcome>", outcome, parseChoice(OUTCOMES));
  const url = reader.read(
    "--to",
    flags.to ?? listenerOf(settings),
    parseLocalTarget(flags.allowRemote ?? false),
  );
  const link = reader.read("--link", flags.link, parseChoice(LINK_KINDS));
  const currency = reader.read("--currency", flags.currency, parseCurrency);
  const amount = reader.read("--amount", flags.amount, parseAmountIn(flags.currency ?? "EUR"));
  const fields = reader.readAll("--set", flags.set, parseField);
  const count = reader.read("--count", flags.count, parseCount(1, MAX_COUNT));
  const times = reader.read("--times", flags.times, parseCount(1, MAX_COUNT));
  const rate = reader.read("--rate", flags.rate, parseRate);
  const tampering = reader.read("--tamper", flags.tamper, parseTampering);
  const cover = reader.read("--cover", flags.cover, parseCoverFor(flags.tamper));
  reader.finish("Nothing was sent.");
  return {
    url: url.value,
    keyPath: flags.key,
    sample: {
      outcome: result.value,
      link: link.value,
      amount: amount.value,
      currency: currency.value,
      reference: flags.reference,
    },
    replaced: Object.fromEntries(fields.value.map(({ name, value }) => [name, value])),
    count: count.value,
    times: times.value,
    interval: rate.value === undefined ? 0 : 1000 / rate.value,
    tampering: tampering.value,
    form: {
      cover: cover.value ?? defaultCover(tampering.value),
      created: flags.created,
    },
    dryRun: flags.dryRun ?? false,
  };
}

/** The profile's own callback if it is on this machine: a sample must not reach a live endpoint by accident. */
function listenerOf(settings: ResolvedSettings): string {
  const callback = settings.get("callbackUrl") ?? LISTENER_URL;
  return parseEndpoint(callback, false).ok ? callback : LISTENER_URL;
}

const parseLocalTarget =
  (allowRemote: boolean) =>
  (text: string): Parsed<URL> => {
    const target = parseTarget(text);
    return target.ok ? allowEndpoint(target.value, allowRemote) : target;
  };

/** An amount with no more decimals than the currency has. */
const parseAmountIn =
  (currency: string) =>
  (text: string): Parsed<string> => {
    const amount = parseAmount(text);
    if (!amount.ok) return amount;
    const problem = decimalsProblem(amount.value, currency);
    return problem === undefined ? accepted(amount.value.toString()) : refused(problem);
  };

const defaultCover = (tampering: Tampering | undefined): CoveredComponents =>
  (tampering && coverToTamper(tampering, undefined)) ?? SERVICE_COVER;

/** A cover under which the tampering can be detected. */
const parseCoverFor =
  (tamper: string | undefined) =>
  (text: string): Parsed<CoveredComponents> => {
    const cover = parseCover(text);
    const tampering = TAMPERINGS.find(({ name }) => name === tamper);
    if (!cover.ok || tampering === undefined || coverToTamper(tampering, cover.value) !== undefined)
      return cover;
    return refused(
      `must include ${tampering.detectedBy.join(" or ")}; without it, --tamper ${tampering.name} cannot be detected`,
    );
  };

function parseTampering(text: string): Parsed<Tampering> {
  const found = TAMPERINGS.find(({ name }) => name === text);
  if (found !== undefined) return accepted(found);
  const near = nearest(
    text,
    TAMPERINGS.map(({ name }) => name),
  );
  const advice = near === undefined ? "paylink trigger --help lists them" : `did you mean ${near}?`;
  return refused(`is not a kind of tampering; ${advice}`, near);
}
