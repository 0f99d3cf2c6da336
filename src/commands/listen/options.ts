/** From the flags of `listen` and the values in force to what the receiver needs, with every problem by its flag. */
import { parseDuration } from "../../domain/duration.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { isLoopback, parseWebAddress } from "../../domain/web-address.ts";
import { publicAddress, type ReceiverAddress } from "../../receiver/address.ts";
import { parseComponent, type Component } from "../../signatures/components.ts";
import { DEFAULT_POLICY, type Policy } from "../../signatures/policy.ts";
import type { InForce } from "../../store/in-force.ts";
import type { ListenFlags } from "./command.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly publicAddress: ReceiverAddress | undefined;
  readonly maxBody: number;
  readonly policy: Policy;
  readonly strict: boolean;
  readonly unverified: boolean;
  readonly compact: boolean;
  /** Where the service's keys are: files, URLs or the text itself. */
  readonly keySources: readonly string[];
}

/** Throws one `usage` failure with every problem, or `key_required`. */
export function listenOptions(flags: ListenFlags, settings: InForce): ListenOptions {
  const problems: Problem[] = [];
  const complain = (at: string, message: string): undefined => void problems.push({ at, message });
  const publicUrl = settings.get("publicUrl", flags.publicUrl);
  const address = publicUrl === undefined ? undefined : parseWebAddress(publicUrl);
  if (publicUrl !== undefined && address === undefined)
    complain("--public-url", "must be an absolute http or https URL, such as https://shop.example/webhooks");
  if (!flags.verify && !isLoopback(hostname(flags.host)))
    complain("--no-verify", `must stay on loopback: it cannot be used with --host ${flags.host}`);
  if (flags.path !== undefined && !flags.path.startsWith("/"))
    complain("--path", "must start with /, as /webhooks does");
  const tolerance = parseDuration(flags.tolerance);
  if (!tolerance.ok) complain("--tolerance", tolerance.message);
  const options = {
    host: flags.host,
    port: parsePort(flags.port) ?? complain("--port", "must be a whole number from 0 to 65535") ?? 0,
    path: flags.path ?? address?.pathname ?? "/",
    publicAddress: address === undefined ? undefined : publicAddress(address),
    maxBody: parseSize(flags.maxBody) ?? complain("--max-body", "must be a size, such as 64kb or 1mb") ?? 0,
    policy: {
      ...DEFAULT_POLICY,
      requireCreated: flags.requireCreated ?? false,
      maxAge: tolerance.ok ? tolerance.value.milliseconds / 1000 : 0,
      required: requiredComponents(flags.require ?? [], complain),
    },
    strict: flags.strict ?? false,
    unverified: !flags.verify,
    compact: flags.compact ?? false,
    keySources: keySources(flags, settings),
  };
  if (problems.length > 0) throw new PaylinkError("usage", "Nothing is listening yet:", { problems });
  if (options.keySources.length === 0 && !options.unverified) throw keyRequired();
  return options;
}

function requiredComponents(
  typed: readonly string[],
  complain: (at: string, message: string) => undefined,
): Component[] {
  return typed.flatMap((text) => {
    const parsed = parseComponent(text);
    return parsed.ok ? [parsed.component] : (complain(`--require ${text}`, parsed.reason) ?? []);
  });
}

function keySources({ key }: ListenFlags, settings: InForce): readonly string[] {
  const inForce = settings.get("webhookKey");
  return key ?? (inForce === undefined ? [] : [inForce]);
}

const keyRequired = (): PaylinkError =>
  new PaylinkError("key_required", "There is no key to verify webhooks with, so nothing could be believed.", {
    hint: "paylink listen --key service.pem   takes the service's public key from a file or an https URL\npaylink sandbox                    registers a profile that has one",
  });

const hostname = (host: string): string => (host.includes(":") ? `[${host}]` : host);

function parsePort(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65535 ? Number(text) : undefined;
}

const SIZE_UNITS = { b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 } as const;

function parseSize(text: string): number | undefined {
  const [, digits = "", unit = "b"] = /^(\d+)(b|kb|mb|gb)?$/i.exec(text.trim()) ?? [];
  const size = SIZE_UNITS[unit.toLowerCase() as keyof typeof SIZE_UNITS];
  return digits === "" ? undefined : Number(digits) * size;
}
