/** Single settings as people give them: whether a value may stand, and what is kept of it. */
import { profileShape, type SettingKey } from "./profile.ts";

/** What is wrong with a value: "must be …"; undefined where nothing is. */
export function settingProblem(key: SettingKey, value: string): string | undefined {
  return profileShape()[key].safeParse(value).error?.issues[0]?.message;
}

/** The value as it is stored: an address without its last slash, a currency in upper case. */
export function storedSetting(key: SettingKey, value: string): string {
  return profileShape()[key].parse(value) ?? value;
}
