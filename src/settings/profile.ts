/** A profile: one account at one service, with the defaults of its links and its credentials. */
import { hint, PaylinkError } from "../domain/errors.ts";
import { SANDBOX_PROFILE } from "../domain/addresses.ts";
import { nearest } from "../domain/nearest.ts";
import { accepted, refused, type Parsed } from "../domain/parse-result.ts";
import { withoutPassword } from "../domain/addresses.ts";
import { SETTING_KEYS, SETTINGS, type KindOf, type SettingKey } from "./setting-table.ts";
import { KINDS, type KindValues } from "./setting-values.ts";

export type SettingValue<Key extends SettingKey> = KindValues[KindOf<Key>];
export type Profile = { readonly [Key in SettingKey]?: SettingValue<Key> | undefined };

export type Profiles = Readonly<Record<string, Profile>>;

/** The profile that commands write if none is named and none is current. */
export const DEFAULT_PROFILE = "default";

/** Not a member that every object inherits, such as `constructor`. */
export const profileNamed = (profiles: Profiles, name: string): Profile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;

/** The error for a name that no profile has. */
export function noSuchProfile(name: string, names: readonly string[]): PaylinkError {
  const near = nearest(name, names);
  return new PaylinkError(
    "no_profile",
    `There is no profile named ${name}.${near === undefined ? "" : ` Did you mean ${near}?`}`,
    { hints: names.length === 0 ? undefined : [hint`Profiles: ${names.join(", ")}`] },
  );
}

/** The name of a profile. `__proto__` cannot be the name of a member of a JavaScript object. */
export const parseProfileName = (text: string): Parsed<string> =>
  /^(?!-)[A-Za-z0-9._-]+$/.test(text) && text !== "__proto__"
    ? accepted(text)
    : refused("must consist of letters, digits, dots, underscores and hyphens, and not start with a hyphen");

/** The name of a profile that is not the sandbox's. */
export const parseOwnProfileName = (text: string): Parsed<string> =>
  text === SANDBOX_PROFILE
    ? refused("must be another name: this one belongs to the sandbox")
    : parseProfileName(text);

/** Checks and normalises one value, as typed or as stored. The message never quotes it. */
export const parseSetting = <Key extends SettingKey>(
  key: Key,
): ((value: unknown) => Parsed<SettingValue<Key>>) => KINDS[SETTINGS[key].kind];

interface ReadProfile {
  readonly profile: Profile;
  readonly problems: readonly { readonly key: SettingKey; readonly message: string }[];
}

/** Checks and normalises each value, from JSON or text. Other members are left out. */
export function readProfile(values: Readonly<Record<string, unknown>>): ReadProfile {
  const problems: { key: SettingKey; message: string }[] = [];
  const read = SETTING_KEYS.flatMap((key) => {
    if (values[key] === undefined) return [];
    const value = parseSetting(key)(values[key]);
    if (value.ok) return [[key, value.value] as const];
    problems.push({ key, message: value.message });
    return [];
  });
  return { profile: Object.fromEntries(read), problems };
}

/** A value for people to read, without the password of a URL. */
export function shownSetting(value: SettingValue<SettingKey>): string {
  if (typeof value === "string") return withoutPassword(value);
  if (typeof value === "boolean") return String(value);
  return Array.isArray(value) ? value.map(shownSetting).join(", ") : JSON.stringify(value);
}

/** The profile without some of its values. */
export function without(full: Profile, keys: readonly SettingKey[]): Profile {
  return Object.fromEntries(Object.entries(full).filter(([key]) => !keys.some((left) => left === key)));
}

/** The profile without its credentials. */
export const withoutSecrets = (full: Profile): Profile =>
  without(
    full,
    SETTING_KEYS.filter((key) => SETTINGS[key].secret === true),
  );

/** The profile without the token that earlier credentials obtained. */
export const withoutAccessToken = (full: Profile): Profile =>
  without(full, ["accessToken", "accessTokenExpires"]);
