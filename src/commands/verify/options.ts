/** Turns the flags of `verify` and the settings into a webhook and what it is verified against. */
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { accepted, refused, type Parsed } from "../../domain/parse-result.ts";
import { parseWhen } from "../../domain/time.ts";
import type { Policy } from "../../signatures/policy.ts";
import type { ResolvedSettings, Setting } from "../../settings/resolved-settings.ts";
import { createFlagReader } from "../flag-reader.ts";
import { parseEventStore, parseUrl } from "../flag-values.ts";
import { readPolicy } from "../policy-flags.ts";
import type { VerifyFlags } from "./flags.ts";

/** The webhook: a file (`-` for stdin), or an event of the event store. */
export type CaptureSource =
  { readonly file: string } | { readonly event: string; readonly database: string | undefined };

export interface VerifyOptions {
  readonly source: CaptureSource;
  readonly policy: Policy;
  /** The JSON Pointer to the record in the webhook. */
  readonly recordAt: string | undefined;
  readonly at: Date;
  readonly publicUrl: { readonly url: URL; readonly source: Setting["source"] } | undefined;
  /** The service's keys: files, URLs or the keys' own text. */
  readonly keySources: readonly string[];
  /** The flag or setting that names them. */
  readonly keyPlace: string;
}

/** Throws one `usage` error with every problem, or `key_required`. */
export function verifyOptions(
  file: string | undefined,
  flags: VerifyFlags,
  settings: ResolvedSettings,
  now: Date,
): VerifyOptions {
  const reader = createFlagReader();
  const policy = readPolicy(reader, flags, settings);
  const at = reader.read("--at", flags.at, parseAt(now));
  const setting = settings.find("publicUrl", flags.publicUrl);
  const publicUrl = reader.read("--public-url", setting?.value, parseUrl);
  if (flags.event !== undefined && file !== undefined)
    reader.problem("--event", "cannot be used with a file");
  if (flags.event === undefined && flags.db !== undefined) reader.problem("--db", "needs --event");
  const database = reader.read("--db", flags.db, parseEventStore);
  reader.finish("Nothing was verified.");
  const keySources = flags.key ?? settings.get("webhookKey") ?? [];
  if (keySources.length === 0) throw keyRequired();
  return {
    source:
      flags.event === undefined ? { file: file ?? "-" } : { event: flags.event, database: database.value },
    policy: policy.value,
    recordAt: settings.get("recordAt"),
    at: at.value ?? now,
    publicUrl: setting && publicUrl.value && { url: publicUrl.value, source: setting.source },
    keySources,
    keyPlace: flags.key === undefined ? "webhookKey" : "--key",
  };
}

/** In seconds this would be the year 5138. */
const MILLISECONDS = 100_000_000_000;

/** Unix seconds, ISO 8601, or a duration back from now. */
const parseAt =
  (now: Date) =>
  (text: string): Parsed<Date> => {
    if (!/^\d+$/.test(text.trim())) return parseWhen(text, now, -1);
    const seconds = Number(text);
    return seconds < MILLISECONDS
      ? accepted(new Date(seconds * 1000))
      : refused("must be in seconds, and this looks like milliseconds");
  };

const keyRequired = (): PaylinkError =>
  new PaylinkError("key_required", "No key is configured, so the webhook cannot be verified.", {
    hints: [
      hint`To use the service's public key from a file or an https URL: ${paylink("verify", "webhook.http", "--key", "service.pem")}`,
      hint`To register a profile that has one: ${paylink("sandbox")}`,
    ],
  });
