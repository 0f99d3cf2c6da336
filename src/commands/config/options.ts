/** From the arguments of `config` to a setting and the value that is stored for it. */
import { PaylinkError } from "../../domain/errors.ts";
import { nearest } from "../../domain/nearest.ts";
import { accepted, refused, type Parsed } from "../../domain/parse-result.ts";
import { parseWhen } from "../../domain/when.ts";
import { settingProblem, storedSetting } from "../../store/settings/profile.ts";
import { defaultKeys, isDefaultKey, isSecretKey, type DefaultKey } from "../../store/settings/profile.ts";
import { createFlagReader } from "../flag-reader.ts";
import { lastingKeySource } from "../flag-values.ts";

/** Throws `usage` for a name that is not a setting, or is a secret. */
export function settingKey(name: string): DefaultKey {
  if (isDefaultKey(name)) return name;
  if (isSecretKey(name))
    throw new PaylinkError("usage", `${name} is a secret. paylink config does not show or set secrets.`, {
      hint: "paylink login   stores it; paylink logout deletes it",
    });
  const near = nearest(name, defaultKeys());
  const meant =
    near === undefined ? `The settings are ${defaultKeys().join(", ")}.` : `Did you mean ${near}?`;
  throw new PaylinkError("usage", `There is no setting named ${name}. ${meant}`, {
    corrections: near === undefined ? undefined : [{ typed: name, instead: near }],
  });
}

/** Throws `usage` for a value that the setting cannot have. */
export function settingValue(key: DefaultKey, text: string, now: Date): string {
  const reader = createFlagReader();
  const value = reader.read(key, text, (given) => parseSetting(key, given, now));
  reader.finish("Nothing was stored.");
  return value.value;
}

function parseSetting(key: DefaultKey, text: string, now: Date): Parsed<string> {
  const problem = settingProblem(key, text);
  if (problem !== undefined) return refused(problem);
  if (key === "expires") {
    const expiry = parseWhen(text, now);
    if (!expiry.ok) return expiry;
    if (expiry.value <= now) return refused("must be in the future");
  }
  return accepted(storedSetting(key, key === "webhookKey" ? lastingKeySource(text) : text));
}
