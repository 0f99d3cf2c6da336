/** The values of an account as `login` takes them: how each is checked, whether typed as a flag or as an answer. */
import { refused, type Parsed } from "../../domain/parse-result.ts";
import { isExposed, parseWebAddress } from "../../domain/web-address.ts";
import { parseSetting, type Profile } from "../../store/settings/profile.ts";
import type { SettingValues } from "../../store/settings/setting-table.ts";

export const ACCOUNT_FLAGS = {
  baseUrl: "--base-url",
  terminalId: "--terminal-id",
  token: "--token-stdin",
  clientId: "--client-id",
  clientSecret: "--client-secret-stdin",
  tokenUrl: "--token-url",
  webhookKey: "--webhook-key",
} as const satisfies Partial<Record<keyof Profile, string>>;
export type AccountKey = keyof typeof ACCOUNT_FLAGS;
export type Account = { readonly [Key in AccountKey]?: SettingValues[Key] | undefined };
/** Which values of an account are there, read or not. */
export type GivenAccount = { readonly [Key in AccountKey]?: unknown };

/** Checks a value as a setting, and that no secret is sent unencrypted or breaks a header line. */
export const parseAccountValue =
  <Key extends AccountKey>(key: Key) =>
  (text: string): Parsed<SettingValues[Key]> => {
    const parsed = parseSetting(key)(text);
    if (!parsed.ok) return parsed;
    const url = key === "baseUrl" || key === "tokenUrl" ? parseWebAddress(text) : undefined;
    if (url !== undefined && isExposed(url))
      return refused("must be https: a secret is never sent unencrypted");
    if (key === "token" && !/^[\x21-\x7e]+$/.test(text)) return refused("must be a token, without spaces");
    return parsed;
  };

/** Whether the account authenticates with client credentials; undefined if it has neither these nor a token. */
export function usesCredentials({ token, clientId, clientSecret }: GivenAccount): boolean | undefined {
  if (token !== undefined) return false;
  return clientId !== undefined || clientSecret !== undefined ? true : undefined;
}
