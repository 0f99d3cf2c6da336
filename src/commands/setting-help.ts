/** Explains settings to people: what each is for, where else it may come from, and a good value. */
import { SETTINGS, type SettingKey } from "../store/settings/setting-table.ts";
import { shownSetting } from "../store/settings/profile.ts";

export function explainSetting(key: SettingKey): string {
  const { means, variable, default: usual, example } = SETTINGS[key];
  return [
    `  ${key}: ${means}`,
    ...(usual === undefined ? [] : [`      default: ${shownSetting(usual)}`]),
    ...(variable === undefined ? [] : [`      variable: ${variable}`]),
    example === undefined
      ? "      a secret: paylink login stores it, and no command prints it"
      : `      paylink config set ${key} ${example}`,
  ].join("\n");
}
