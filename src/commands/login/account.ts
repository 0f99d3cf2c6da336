/** The account that `login` stores: how its values are checked, asked for, and made a profile. */
import type { Ask } from "../../context.ts";
import { isExposed, parseWebAddress } from "../../domain/addresses.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { SERVICE_NAMES, SERVICES } from "../../domain/known-services.ts";
import { accepted, refused, type Parsed } from "../../domain/parse-result.ts";
import {
  parseSetting,
  without,
  withoutSecrets,
  type Profile,
  type SettingValue,
} from "../../settings/profile.ts";
import { resolveSettings, type ResolvedSettings } from "../../settings/resolved-settings.ts";
import { isSettingKey, loginFlagOf, SETTINGS, type AccountKey } from "../../settings/setting-table.ts";

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
function usesCredentials(given: Account, stored: ResolvedSettings): boolean | undefined {
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

/** Asks for what the account lacks: the service first, then only what the service leaves open. */
export async function askForAccount(ask: Ask, given: Account, known: Profile): Promise<Account> {
  let account = given;
  const answer = async (...keys: readonly AccountKey[]): Promise<void> => {
    for (const key of keys)
      if (account[key] === undefined) account = { ...account, [key]: await askFor(key, ask, known) };
  };
  if (given.service === undefined && given.baseUrl === undefined)
    account = { ...account, service: await askForService(ask) };
  const atService = settingsWith("new", profileWith({}, { service: account.service }));
  if (account.service === undefined) {
    await answer("baseUrl");
    account = { ...account, baseUrl: await withoutVersion(ask, account.baseUrl ?? "") };
  }
  await answer("terminalId", "currency", "customerName", "callbackUrl", "webhookKey");
  const byCredentials =
    usesCredentials(given, atService) ??
    (await ask.choose("How do you want to authenticate?", [
      { name: "An access token", value: false },
      { name: "Client credentials (OAuth 2.0)", value: true },
    ]));
  if (!byCredentials) await answer("token");
  else {
    if (atService.get("tokenUrl") === undefined) await answer("tokenUrl");
    await answer("clientId", "clientSecret");
  }
  return account;
}

const askForService = (ask: Ask): Promise<Account["service"]> =>
  ask.choose<Account["service"]>("Which service do you use?", [
    ...SERVICE_NAMES.map((name) => ({ name, value: name, description: SERVICES[name].title })),
    { name: "another service", value: undefined },
  ]);

/** paylink adds the path of an operation, which begins with the version. */
async function withoutVersion(ask: Ask, baseUrl: string): Promise<string> {
  const shorter = baseUrl.replace(/\/v\d+$/, "");
  if (shorter === baseUrl) return baseUrl;
  const agreed = await ask.confirm(`paylink adds /v1 itself. Use ${shorter} as the base URL?`);
  return agreed ? shorter : baseUrl;
}

async function askFor(key: AccountKey, ask: Ask, known: Profile): Promise<Account[AccountKey]> {
  const { secret, login } = SETTINGS[key];
  const { prompt: message = key, optional } = login;
  const parse = (text: string): Parsed<Account[AccountKey]> =>
    optional === true && text.trim() === "" ? accepted(undefined) : parseAccountValue(key)(text.trim());
  const check = (text: string): string | undefined => {
    const parsed = parse(text);
    return parsed.ok ? undefined : parsed.message;
  };
  const initial = key === "webhookKey" ? known.webhookKey?.[0] : known[key];
  const parsed = parse(
    await (secret === true ? ask.secret({ message, check }) : ask.text({ message, check, initial })),
  );
  if (parsed.ok) return parsed.value;
  throw new PaylinkError("usage", "Nothing was stored.", {
    problems: [{ at: loginFlagOf(key), message: parsed.message }],
  });
}
