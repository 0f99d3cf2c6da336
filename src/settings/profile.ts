/** A profile: one account at one service, with the defaults of its links and its credentials. */
import type { Parsed } from "../domain/parse-result.ts";
import { withoutPassword } from "../domain/addresses.ts";
import { kindOf, SETTING_KEYS, SETTINGS, type KindOf, type SettingKey } from "./setting-table.ts";
import { KINDS, type KindValues } from "./setting-values.ts";

export type SettingValue<Key extends SettingKey> = KindValues[KindOf<Key>];
export type Profile = { readonly [Key in SettingKey]?: SettingValue<Key> | undefined };

export type Profiles = Readonly<Record<string, Profile>>;

/** Not a member that every object inherits, such as `constructor`. */
export const profileNamed = (profiles: Profiles, name: string): Profile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;

/** Checks and normalises one value, as typed or as stored. The message never quotes it. */
export const parseSetting = <Key extends SettingKey>(
  key: Key,
): ((value: unknown) => Parsed<SettingValue<Key>>) => KINDS[kindOf(key)];

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
  return value.map(shownSetting).join(", ");
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
