/** Explains a setting: what it is for, its default and variable, and a good value. */
import { paylink } from "../domain/errors.ts";
import { renderCommand } from "../render/hint.ts";
import { type SettingKey, SETTINGS } from "../settings/setting-table.ts";

export function explainSetting(key: SettingKey): string {
  const { means, variable, default: usual, example } = SETTINGS[key];
  return [
    `  ${key}: ${means}`,
    ...(usual === undefined ? [] : [`      default: ${usual}`]),
    ...(variable === undefined ? [] : [`      variable: ${variable}`]),
    example === undefined
      ? "      a secret: paylink login stores it, and no command prints it"
      : `      ${renderCommand(paylink("config", "set", key, example), undefined)}`,
  ].join("\n");
}
