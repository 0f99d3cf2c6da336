/** The account that `login` stores: how its values are checked, what it lacks, and the profile that it becomes. */
import { isExposed, parseWebAddress } from "../../domain/addresses.ts";
import { SERVICES } from "../../domain/known-services.ts";
import { refused, type Parsed } from "../../domain/parse-result.ts";
import {
  parseSetting,
  without,
  withoutSecrets,
  type Profile,
  type SettingValue,
} from "../../settings/profile.ts";
import { resolveSettings, type ResolvedSettings } from "../../settings/resolved-settings.ts";
import { isSettingKey, type AccountKey } from "../../settings/setting-table.ts";

export type Account = { readonly [Key in AccountKey]?: SettingValue<Key> | undefined };

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

/** The settings with the new profile, without the environment, which is not stored. */
export const settingsWith = (name: string, profile: Profile): ResolvedSettings =>
  resolveSettings({ named: name, env: {}, current: name, profiles: { [name]: profile } });

/** Whether the account authenticates with client credentials; undefined if that is open. */
export function usesCredentials(given: Account, stored: ResolvedSettings): boolean | undefined {
  if (given.token !== undefined) return false;
  const isGiven = given.clientId !== undefined || given.clientSecret !== undefined;
  return isGiven || stored.find("tokenUrl")?.source === "service" ? true : undefined;
}

const CREDENTIALS = ["clientId", "clientSecret", "tokenUrl"] as const;

/** The values that the account needs, and that neither the user nor the service nor the profile gives. */
export function missingValues(given: Account, known: Profile): readonly AccountKey[] {
  const stored = settingsWith("stored", profileWith(known, { service: given.service }));
  const needed = usesCredentials(given, stored) === true ? CREDENTIALS : (["token"] as const);
  return (["baseUrl", "terminalId", ...needed] as const).filter(
    (key) => given[key] === undefined && stored.get(key) === undefined,
  );
}
