/** From the flags of `verify` and the values in force to what a capture is held to. */
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { accepted, refused, type Parsed } from "../../domain/parse-result.ts";
import { parseWebAddress } from "../../domain/web-address.ts";
import { parseWhen } from "../../domain/when.ts";
import { acceptance } from "../../receiver/acceptance.ts";
import type { Policy } from "../../signatures/policy.ts";
import type { InForce, Setting } from "../../store/in-force.ts";
import type { VerifyFlags } from "./command.ts";

export interface VerifyOptions {
  readonly policy: Policy;
  readonly at: Date;
  readonly publicUrl: { readonly url: URL; readonly source: Setting["source"] } | undefined;
  /** Where the service's keys are: files, URLs or the text itself. */
  readonly keySources: readonly string[];
}

/** Throws one `usage` failure with every problem, or `key_required`. */
export function verifyOptions(
  flags: VerifyFlags,
  file: string | undefined,
  settings: InForce,
  now: Date,
): VerifyOptions {
  const { policy, problems: unacceptable } = acceptance(flags);
  const problems: Problem[] = [...unacceptable];
  const at = flags.at === undefined ? accepted(now) : parseAt(flags.at, now);
  if (!at.ok) problems.push({ at: "--at", message: at.message });
  const setting = settings.find("publicUrl", flags.publicUrl);
  const url = setting === undefined ? undefined : parseWebAddress(setting.value);
  if (setting !== undefined && url === undefined)
    problems.push({
      at: "--public-url",
      message: "must be an absolute http or https URL, such as https://shop.example/webhooks",
    });
  if (flags.event !== undefined && file !== undefined)
    problems.push({ at: "--event", message: "names an event that is stored: give it or a file, not both" });
  if (problems.length > 0) throw new PaylinkError("usage", "Nothing was verified.", { problems });
  const webhookKey = settings.get("webhookKey");
  const keySources = flags.key ?? (webhookKey === undefined ? [] : [webhookKey]);
  if (keySources.length === 0) throw keyRequired();
  return {
    policy,
    at: at.ok ? at.value : now,
    publicUrl: setting === undefined || url === undefined ? undefined : { url, source: setting.source },
    keySources,
  };
}

/** Unix seconds, or what every other time is: ISO 8601, or a duration that counts back from now. */
function parseAt(text: string, now: Date): Parsed<Date> {
  if (!/^\d+$/.test(text.trim())) return parseWhen(text, now, -1);
  const seconds = Number(text);
  if (seconds >= MILLISECONDS) return refused("must be in seconds: these look like milliseconds");
  return accepted(new Date(seconds * 1000));
}

/** As seconds this would be the year 5138. */
const MILLISECONDS = 100_000_000_000;

const keyRequired = (): PaylinkError =>
  new PaylinkError("key_required", "There is no key to verify the webhook with.", {
    hint: "paylink verify webhook.http --key service.pem   takes the service's public key from a file or an https URL\npaylink sandbox                                registers a profile that has one",
  });
