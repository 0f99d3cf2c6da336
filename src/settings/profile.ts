/** A profile: one account at one service, with the defaults of its links and its credentials. */
import { withoutPassword } from "../values/url-passwords.ts";
import { mayBeKeyText, REDACTED } from "../values/secrets.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey, type SettingValue } from "./setting-table.ts";

export type Profile = { readonly [Key in SettingKey]?: SettingValue<Key> | undefined };

export type Profiles = Readonly<Record<string, Profile>>;

/** A member of the settings file that is not a setting: mistyped, or from another version. It is kept. */
export interface UnknownMember {
  /** `profiles.shop.terminalID`. */
  readonly at: string;
  /** The name that was probably meant. */
  readonly nearest: string | undefined;
}

/** Not a member that every object inherits, such as `constructor`. */
export const profileNamed = (profiles: Profiles, name: string): Profile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;

interface SettingProblem {
  readonly key: SettingKey;
  readonly message: string;
  readonly mayBeSecret: boolean;
}

interface ReadProfile {
  readonly profile: Profile;
  readonly problems: readonly SettingProblem[];
}

/** Checks and normalises each value, from JSON or text. Other members are left out. */
export function readProfile(values: Readonly<Record<string, unknown>>): ReadProfile {
  const problems: SettingProblem[] = [];
  const read = SETTING_KEYS.flatMap((key) => {
    if (values[key] === undefined) return [];
    const value = SETTINGS[key].parse(values[key]);
    if (value.ok) return [[key, value.value] as const];
    problems.push({
      key,
      message: value.message,
      mayBeSecret: value.mayBeSecret === true || SETTINGS[key].secret === true,
    });
    return [];
  });
  return { profile: Object.fromEntries(read), problems };
}

/** A key that was stored unread, or stands in a variable: only what is known to be public is shown. */
const mayBePrivateKey = (value: string): boolean =>
  /PRIVATE KEY|"d"\s*:/.test(value) || (mayBeKeyText(value) && !/^\s*MI(?:IBI|ICI|IDI|GbM)/.test(value));

/** A value for people to read, without the password of a URL. */
export function shownSetting(value: SettingValue<SettingKey>): string {
  if (typeof value === "string") return mayBePrivateKey(value) ? REDACTED : withoutPassword(value);
  if (typeof value === "boolean") return String(value);
  return value.map(shownSetting).join(", ");
}

export function withoutSettings(full: Profile, keys: readonly SettingKey[]): Profile {
  return Object.fromEntries(Object.entries(full).filter(([key]) => !keys.some((left) => left === key)));
}

export const withoutCredentials = (full: Profile): Profile =>
  withoutSettings(
    full,
    SETTING_KEYS.filter((key) => SETTINGS[key].secret === true),
  );
