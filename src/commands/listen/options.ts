/** From the flags of `listen` and the values in force to what the receiver needs, with every problem by its flag. */
import { parseDuration } from "../../domain/duration.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import type { Outcome } from "../../domain/transaction.ts";
import { isLoopback, parseWebAddress } from "../../domain/web-address.ts";
import type { HeaderLine } from "../../http/message.ts";
import { acceptance } from "../../receiver/acceptance.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import { mayAdd } from "../../receiver/forward.ts";
import { parseTarget } from "../../receiver/forward-target.ts";
import type { Policy } from "../../signatures/policy.ts";
import type { InForce } from "../../store/in-force.ts";
import type { ListenFlags } from "./command.ts";
import { parseExpectation, parseOutcome, type Expectation } from "./expect.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly publicAddress: ReceiverAddress | undefined;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly maxBody: number;
  readonly policy: Policy;
  readonly strict: boolean;
  readonly unverified: boolean;
  /** Where the service's keys are: files, URLs or the text itself. */
  readonly keySources: readonly string[];
  readonly passOn: {
    readonly to: URL | undefined;
    readonly failedTo: URL | undefined;
    readonly headers: readonly HeaderLine[];
    readonly insecure: boolean;
  };
  /** What is shown and passed on. */
  readonly filter: { readonly outcome: Outcome | undefined; readonly reference: string | undefined };
  readonly compact: boolean;
  readonly expectations: readonly Expectation[];
  /** Milliseconds. */
  readonly timeout: number | undefined;
  /** The file that events are kept in; null to keep none, undefined for the usual place. */
  readonly database: string | null | undefined;
}

/** Notes what is wrong with a flag; what it gives stands in for the value, which is never used. */
type Complain = (at: string, message: string) => undefined;

/** Throws one `usage` failure with every problem, or `key_required`. */
export function listenOptions(flags: ListenFlags, settings: InForce): ListenOptions {
  const problems: Problem[] = [];
  const complain: Complain = (at, message) => void problems.push({ at, message });
  const options = {
    ...whereOptions(flags, settings, complain),
    ...beliefOptions(flags, settings, complain),
    passOn: passOnOptions(flags, complain),
    filter: { outcome: outcomeOption(flags, complain), reference: flags.reference },
    compact: flags.compact ?? false,
    expectations: (flags.expect ?? []).flatMap(
      (text) => parseExpectation(text) ?? complain(`--expect ${text}`, EXPECTATION) ?? [],
    ),
    timeout: durationOption("--timeout", flags.timeout, complain),
    database: flags.store ? flags.db : null,
  };
  if (problems.length > 0) throw new PaylinkError("usage", "The receiver did not start.", { problems });
  if (options.keySources.length === 0 && !options.unverified) throw keyRequired();
  return options;
}

const EXPECTATION = "must be a number or an outcome with a number, such as 2 or approved:2";

function whereOptions(flags: ListenFlags, settings: InForce, complain: Complain) {
  const publicUrl = settings.get("publicUrl", flags.publicUrl);
  const address = publicUrl === undefined ? undefined : parseWebAddress(publicUrl);
  if (publicUrl !== undefined && address === undefined)
    complain("--public-url", "must be an absolute http or https URL, such as https://shop.example/webhooks");
  if (flags.path !== undefined && !/^\/[^?#\s]*$/.test(flags.path))
    complain("--path", "must start with / and hold no query, as /webhooks does");
  const { tlsCert: cert, tlsKey: key } = flags;
  if ((cert === undefined) !== (key === undefined))
    complain(cert === undefined ? "--tls-cert" : "--tls-key", "must be given too: https takes both files");
  return {
    host: flags.host,
    port: parsePort(flags.port) ?? complain("--port", "must be a whole number from 0 to 65535") ?? 0,
    path: flags.path ?? address?.pathname ?? "/",
    publicAddress: address === undefined ? undefined : publicAddress(address),
    tls: cert === undefined || key === undefined ? undefined : { cert, key },
  };
}

function beliefOptions(flags: ListenFlags, settings: InForce, complain: Complain) {
  if (!flags.verify && !isLoopback(flags.host.includes(":") ? `[${flags.host}]` : flags.host))
    complain("--no-verify", `must stay on loopback: it cannot be used with --host ${flags.host}`);
  const { policy, problems } = acceptance(flags);
  for (const { at, message } of problems) complain(at, message);
  const inForce = settings.get("webhookKey");
  return {
    maxBody: parseSize(flags.maxBody) ?? complain("--max-body", "must be a size, such as 64kb or 1mb") ?? 0,
    policy,
    strict: flags.strict ?? false,
    unverified: !flags.verify,
    keySources: flags.key ?? (inForce === undefined ? [] : [inForce]),
  };
}

function passOnOptions(flags: ListenFlags, complain: Complain): ListenOptions["passOn"] {
  const target = (at: string, text: string | undefined): URL | undefined => {
    const parsed = text === undefined ? undefined : parseTarget(text);
    if (parsed === undefined) return undefined;
    return parsed.ok ? parsed.value : complain(at, parsed.message);
  };
  return {
    to: target("--forward-to", flags.forwardTo),
    failedTo: target("--forward-failed-to", flags.forwardFailedTo),
    headers: (flags.forwardHeader ?? []).flatMap((text) => headerOption(text, complain) ?? []),
    insecure: flags.insecure ?? false,
  };
}

/** RFC 9110 5.1, 5.5: a token, and visible ASCII with inner white space. */
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?[ \t]*$/;

function headerOption(text: string, complain: Complain): [HeaderLine] | undefined {
  const at = `-H ${text}`;
  const [, name, value = ""] = HEADER.exec(text) ?? [];
  if (name === undefined) return complain(at, 'must be "Name: value"');
  if (!mayAdd(name)) return complain(at, "must not touch what the message is signed or framed with");
  return [[name, value]];
}

function outcomeOption({ outcome }: ListenFlags, complain: Complain): Outcome | undefined {
  if (outcome === undefined) return undefined;
  return parseOutcome(outcome) ?? complain("--outcome", "must be approved, declined, cancelled or unclear");
}

function durationOption(at: string, text: string | undefined, complain: Complain): number | undefined {
  const parsed = text === undefined ? undefined : parseDuration(text);
  if (parsed === undefined) return undefined;
  return parsed.ok ? parsed.value.milliseconds : complain(at, parsed.message);
}

const keyRequired = (): PaylinkError =>
  new PaylinkError("key_required", "There is no key to verify webhooks with, so nothing could be believed.", {
    hint: [
      "paylink listen --key service.pem   takes the service's public key from a file or an https URL",
      "paylink sandbox                    registers a profile that has one",
      "paylink login                      stores a real account, and its key with --webhook-key",
    ].join("\n"),
  });

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65535 ? Number(text) : undefined;
}

const SIZE_UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;

function parseSize(text: string): number | undefined {
  const [, digits = "", unit = "b"] = /^(\d+)(b|kb|mb|gb)?$/i.exec(text.trim()) ?? [];
  const size = SIZE_UNITS[unit.toLowerCase() as keyof typeof SIZE_UNITS];
  return digits === "" ? undefined : Number(digits) * size;
}
