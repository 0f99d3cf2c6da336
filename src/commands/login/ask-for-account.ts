/** Asks for what an account lacks: the service first, then only what the service leaves open. */
import type { Ask } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { SERVICE_NAMES, SERVICES } from "../../domain/known-services.ts";
import { accepted, type Parsed } from "../../domain/parse-result.ts";
import type { Profile } from "../../settings/profile.ts";
import { loginFlagOf, SETTINGS, type AccountKey } from "../../settings/setting-table.ts";
import { parseAccountValue, profileWith, settingsWith, usesCredentials, type Account } from "./account.ts";

/** The whole account; values of flags are not asked for. */
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
