/** A profile: one account at one service, with the defaults of its links and its credentials. */
import * as z from "zod/mini";
import { accepted, refused, type Parsed } from "../../domain/parse-result.ts";
import { withoutPassword } from "../../domain/web-address.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey, type SettingValues } from "./setting-table.ts";

/** The profile that commands write if none is named and none is current. */
export const DEFAULT_PROFILE = "default";

export type Profile = { readonly [Key in SettingKey]?: SettingValues[Key] | undefined };

type ProfileShape = { [Key in SettingKey]: z.ZodMiniOptional<z.ZodMiniType<SettingValues[Key]>> };

/** Reads values from JSON or text, and checks and normalises each. */
export const profile = z.lazy(() =>
  z.object(
    Object.fromEntries(SETTING_KEYS.map((key) => [key, z.optional(SETTINGS[key].schema)])) as ProfileShape,
  ),
);

/** Checks and normalises one value, as typed or as stored. The message never quotes it. */
export const parseSetting =
  <Key extends SettingKey>(key: Key) =>
  (value: unknown): Parsed<SettingValues[Key]> => {
    const read = SETTINGS[key].schema.safeParse(value);
    return read.success ? accepted(read.data) : refused(read.error.issues[0]?.message ?? "is invalid");
  };

/** A value for people to read, without the password of a URL. */
export function shownSetting(value: SettingValues[SettingKey]): string {
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
