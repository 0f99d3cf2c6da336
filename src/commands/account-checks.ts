/** The checks of an account's webhook keys, each read as `listen` reads it, and what follows from checks that fail. */
import type { Context } from "../context.ts";
import type { Profile, UnknownMember } from "../settings/profile.ts";
import { resolveSettings, type ResolvedSettings } from "../settings/resolved-settings.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink, type Hint } from "../domain/hint.ts";
import { isKeyText } from "../domain/key-text.ts";
import { withoutPassword } from "../domain/url-passwords.ts";
import { refusedUnseen, type Parsed } from "../domain/parse-result.ts";
import { shownPath } from "../domain/secrets.ts";
import { formatRelative } from "../domain/time.ts";
import { SandboxNotRunning } from "../http/exchange.ts";
import { loadKeys } from "../receiver/key-sources.ts";
import { safeText } from "../render/safe-text.ts";
import { keyProblem } from "../signatures/key-rules.ts";
import { holdsSecretKey, type VerificationKey } from "../signatures/keys.ts";
import {
  orFailure,
  failedCheck,
  passedCheck,
  skippedCheck,
  warnedCheck,
  type AccountCheck,
} from "../service/checks.ts";

type KeyContext = Pick<Context, "readFile" | "send" | "signal" | "now">;

/** The settings with this profile, without the environment, which is not stored. */
export const settingsWith = (name: string, profile: Profile): ResolvedSettings =>
  resolveSettings({ name, profile, env: {} });

export const KEY_CHECK = "webhook key";
const SET_KEY = paylink`config set webhookKey <file or URL>`;

/** One check for each source; one for an account without a key. `place` is where they were given. */
export async function checkKeys(
  settings: ResolvedSettings,
  reading: KeyContext,
  place: string,
): Promise<AccountCheck[]> {
  const sources = settings.get("webhookKey");
  if (sources !== undefined) return Promise.all(sources.map((source) => checkSource(source, reading, place)));
  const advice = hint`${paylink`listen`} needs it: ${SET_KEY}`;
  return settings.get("callbackUrl") === undefined
    ? [skippedCheck(KEY_CHECK, "not set", advice)]
    : [warnedCheck(KEY_CHECK, "not set, so no webhook can be verified", advice)];
}

async function checkSource(source: string, reading: KeyContext, place: string): Promise<AccountCheck> {
  const { readFile, send, signal } = reading;
  const now = reading.now();
  const name = isKeyText(source) ? "the key's text" : shownPath(withoutPassword(source));
  const loaded = await orFailure(loadKeys([source], { readFile, send, signal, place, effect: "verify" }));
  const remedy = hint`Get the public key from the service: ${SET_KEY}`;
  if (loaded instanceof PaylinkError && loaded.cause instanceof SandboxNotRunning)
    return failedCheck(KEY_CHECK, loaded, hint`Start it: ${paylink`sandbox`}`);
  if (loaded instanceof PaylinkError) return failedCheck(KEY_CHECK, loaded, remedy);
  const { keys } = loaded;
  const warnings = loaded.warningsAt(now);
  const usable = keys.filter((key) => keyProblem(key) === undefined);
  if (usable.length === 0) {
    const problems = keys.map((key) => `${describeKey(key, now)}: ${keyProblem(key)?.message}`);
    return failedCheck(
      KEY_CHECK,
      new PaylinkError("key_invalid", `${name} has no usable key. ${problems.join("; ")}`),
      remedy,
    );
  }
  const detail = `${name}: ${usable.map((key) => describeKey(key, now)).join("; ")}`;
  return warnings.length > 0
    ? warnedCheck(KEY_CHECK, `${detail}. ${warnings.join("; ")}`, remedy)
    : passedCheck(KEY_CHECK, detail);
}

function describeKey({ kind, bits, keyid, validity }: VerificationKey, now: Date): string {
  const end = validity === null ? undefined : new Date(validity.to * 1000);
  return [
    bits === 0 ? kind : `${kind} ${bits} bits`,
    ...(keyid === null ? [] : [`id ${keyid}`]),
    ...(end === undefined
      ? []
      : [
          `certificate ${end < now ? "expired" : "valid until"} ${end.toISOString().slice(0, 10)} (${formatRelative(end, now)})`,
        ]),
  ].join(", ");
}

/** What is wrong with webhook keys that are stored as text: a private key would stand in the settings, and verify nothing. */
export const secretKeyProblem = (sources: readonly string[]): Parsed<never> | undefined =>
  sources.some(holdsSecretKey)
    ? refusedUnseen("is a private key or a secret: give the public key, which openssl pkey -pubout prints")
    : undefined;

/** Throws the failures as one error. `otherwise` names how to go on without the checks, `place` what all of them are about. */
export function requirePassed(
  checks: readonly AccountCheck[],
  message: string,
  otherwise: Hint,
  place?: string,
): void {
  const failures = checks.filter(({ state }) => state === "failed");
  const [first] = failures;
  if (first === undefined) return;
  throw new PaylinkError(first.failure?.code ?? "usage", message, {
    problems: failures.map(({ check, detail }) => ({ at: place ?? check, message: detail })),
    hints: [...failures.flatMap(({ remedies }) => remedies), otherwise],
    details: first.failure?.details ?? {},
  });
}

/** What the settings file has besides settings, for people: `profiles.shop.terminalID (did you mean terminalId?)`. */
export const unknownSettings = (unknown: readonly UnknownMember[]): string =>
  unknown
    .map(({ at, nearest }) => `${safeText(at)}${nearest === undefined ? "" : ` (did you mean ${nearest}?)`}`)
    .join(", ");

export const unknownWarning = (unknown: readonly UnknownMember[]): string =>
  `The settings file has members that are not settings: ${unknownSettings(unknown)}`;
