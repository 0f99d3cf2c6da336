/** The checks of an account's webhook keys, each read as `listen` reads it, and what follows from checks that fail. */
import type { Context } from "../context.ts";
import type { Profile, UnknownMember } from "../settings/profile.ts";
import { resolveSettings, type ResolvedSettings } from "../settings/resolved-settings.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink, type Hint } from "../domain/hint.ts";
import { refusedUnseen, type Parsed } from "../values/parse-result.ts";
import { formatRelative } from "../values/time.ts";
import { SandboxNotRunning } from "../http/exchange.ts";
import { isFailedSource, isLoaded, readSources, type SourceReading } from "../receiver/key-sources.ts";
import { safeText } from "../render/safe-text.ts";
import { keyProblem, untriedWarning } from "../signatures/key-rules.ts";
import { holdsSecretKey, type VerificationKey } from "../signatures/keys.ts";
import { failedCheck, passedCheck, skippedCheck, warnedCheck, type AccountCheck } from "../service/checks.ts";

type KeyContext = Pick<Context, "readFile" | "send" | "signal" | "now">;

/** The settings with this profile, without the environment, which is not stored. */
export const settingsWith = (name: string, profile: Profile): ResolvedSettings =>
  resolveSettings({ name, profile, env: {} });

export const KEY_CHECK = "webhook key";
const SET_KEY = paylink`config set webhookKey <file or URL>`;

/** One check for each source; one for an account without a key. `place` is where they were given. */
export async function checkKeys(
  settings: ResolvedSettings,
  { readFile, send, signal, now }: KeyContext,
  place: string,
): Promise<AccountCheck[]> {
  const sources = settings.get("webhookKey");
  if (sources !== undefined) {
    const readings = await readSources(sources, { readFile, send, signal, place, effect: "verify" });
    const untried = untriedWarning(readings.filter(isLoaded).flatMap(({ keys }) => keys));
    const checks = readings.map((reading) => checkSource(reading, now()));
    return untried === undefined ? checks : [...checks, warnedCheck(KEY_CHECK, untried)];
  }
  const advice = hint`${paylink`listen`} needs it: ${SET_KEY}`;
  return settings.get("callbackUrl") === undefined
    ? [skippedCheck(KEY_CHECK, "not set", advice)]
    : [warnedCheck(KEY_CHECK, "not set, so no webhook can be verified", advice)];
}

/** As `listen` takes them: while one of them has a key, a source that cannot be read is a warning. */
export const whileOneWorks = (checks: readonly AccountCheck[]): readonly AccountCheck[] =>
  checks.some(({ state }) => state !== "failed")
    ? checks.map(({ check, state, detail, remedies }) =>
        state === "failed"
          ? warnedCheck(
              check,
              `${detail} Until it can be read, listen answers what no other key verifies with 503.`,
              ...remedies,
            )
          : { check, state, detail, remedies },
      )
    : checks;

function checkSource(reading: SourceReading, now: Date): AccountCheck {
  const remedy = hint`Get the public key from the service: ${SET_KEY}`;
  if (isFailedSource(reading)) {
    const isSandbox = reading.error.cause instanceof SandboxNotRunning;
    return failedCheck(KEY_CHECK, reading.error, isSandbox ? hint`Start it: ${paylink`sandbox`}` : remedy);
  }
  const { name, keys, warningsAt } = reading;
  const usable = keys.filter((key) => keyProblem(key) === undefined);
  if (usable.length === 0) {
    const problems = keys.map((key) => `${describeKey(key, now)}: ${keyProblem(key)?.message}`);
    return failedCheck(
      KEY_CHECK,
      new PaylinkError("key_invalid", `${name} has no usable key. ${problems.join("; ")}`),
      remedy,
    );
  }
  const warnings = warningsAt(now);
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
