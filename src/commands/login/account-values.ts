/** The values of an account as `login` accepts them: how each is checked, whether typed as a flag or as an answer. */
import { SERVICES } from "../../domain/known-services.ts";
import { refused, type Parsed } from "../../domain/parse-result.ts";
import { isExposed, parseWebAddress } from "../../domain/addresses.ts";
import {
  parseSetting,
  type Profile,
  type SettingValue,
  without,
  withoutSecrets,
} from "../../settings/profile.ts";
import { isSettingKey } from "../../settings/setting-table.ts";

export const ACCOUNT_FLAGS = {
  service: "--service",
  baseUrl: "--base-url",
  terminalId: "--terminal-id",
  currency: "--currency",
  customerName: "--customer-name",
  callbackUrl: "--callback-url",
  webhookKey: "--webhook-key",
  token: "--token-stdin",
  clientId: "--client-id",
  clientSecret: "--client-secret-stdin",
  tokenUrl: "--token-url",
  tokenScope: "--token-scope",
  tokenAuth: "--token-auth",
} as const satisfies Partial<Record<keyof Profile, string>>;
export type AccountKey = keyof typeof ACCOUNT_FLAGS;
export type Account = { readonly [Key in AccountKey]?: SettingValue<Key> | undefined };

export const isAccountKey = (key: string): key is AccountKey => Object.hasOwn(ACCOUNT_FLAGS, key);

/** Checks a value as a setting, and that no secret is sent unencrypted or breaks a header line. */
export const parseAccountValue =
  <Key extends AccountKey>(key: Key) =>
  (text: string): Parsed<SettingValue<Key>> => {
    const parsed = parseSetting(key)(text);
    if (!parsed.ok) return parsed;
    const url = key === "baseUrl" || key === "tokenUrl" ? parseWebAddress(text) : undefined;
    if (url !== undefined && isExposed(url))
      return refused("must be https: a secret is never sent unencrypted");
    if (key === "token" && !/^[\x21-\x7e]+$/.test(text)) return refused("must be a token, without spaces");
    return parsed;
  };

/**
 * The profile with the account. A profile has one account, so the secrets of the former one are removed, and also the
 * settings of its service if the account is at another one. Defaults of links stay.
 */
export function profileWith(before: Profile, account: Account): Profile {
  const { service } = account;
  const given = Object.fromEntries(Object.entries(account).filter(([, value]) => value !== undefined));
  const atOther = account.baseUrl !== undefined && account.baseUrl !== before.baseUrl;
  const replaced =
    service !== undefined
      ? Object.keys(SERVICES[service].settings).filter(isSettingKey)
      : atOther
        ? (["service"] as const)
        : [];
  return { ...without(withoutSecrets(before), replaced), ...given };
}
