/** Asks for what an account lacks: the service first, then only what the service leaves open. */
import type { Ask } from "../../ask.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { SERVICE_NAMES, SERVICES } from "../../domain/known-services.ts";
import { accepted, type Parsed } from "../../domain/parse-result.ts";
import type { Profile } from "../../settings/profile.ts";
import {
  ACCOUNT_FLAGS,
  parseAccountValue,
  profileWith,
  type Account,
  type AccountKey,
} from "./account-values.ts";
import { candidate, usesCredentials } from "./options.ts";

/** The answers; values of flags are not asked for. */
export async function askForAccount(ask: Ask, given: Account, known: Profile): Promise<Account> {
  const service = given.service ?? (given.baseUrl === undefined ? await askForService(ask) : undefined);
  const answer = answersOf(ask, given, known);
  const chosen: Account = service === undefined ? {} : { service };
  const place = {
    ...chosen,
    ...(service === undefined
      ? await withoutVersion(ask, await answer("baseUrl", "The service's base URL (https://…)"), given)
      : {}),
    ...(await answer("terminalId", "Terminal")),
    ...(await answer("currency", "Currency (the default of your links, such as EUR)")),
    ...(await answer("customerName", "Customer's name (the default of your links)")),
    ...(await answer("callbackUrl", "Callback URL for webhooks, or Enter to skip", { mayBeEmpty: true })),
    ...(await answer("webhookKey", "The service's webhook key (a file or a URL), or Enter to skip", {
      mayBeEmpty: true,
    })),
  };
  const atService = candidate("new", profileWith({}, chosen));
  const byCredentials =
    usesCredentials(given, atService) ??
    (await ask.choose("How do you want to authenticate?", [
      { name: "An access token", value: false },
      { name: "Client credentials (OAuth 2.0)", value: true },
    ]));
  if (!byCredentials) return { ...place, ...(await answer("token", "Access token", { isSecret: true })) };
  return {
    ...place,
    ...(atService.get("tokenUrl") === undefined ? await answer("tokenUrl", "Token URL") : {}),
    ...(await answer("clientId", "Client id")),
    ...(await answer("clientSecret", "Client secret", { isSecret: true })),
  };
}

const askForService = (ask: Ask): Promise<Account["service"]> =>
  ask.choose<Account["service"]>("Which service do you use?", [
    ...SERVICE_NAMES.map((name) => ({ name, value: name, description: SERVICES[name].title })),
    { name: "another service", value: undefined },
  ]);

/** paylink adds the path of an operation, which begins with the version. */
async function withoutVersion(ask: Ask, answered: Account, given: Account): Promise<Account> {
  const baseUrl = answered.baseUrl ?? given.baseUrl ?? "";
  const shorter = baseUrl.replace(/\/v\d+$/, "");
  if (shorter === baseUrl) return answered;
  const agreed = await ask.confirm(`paylink adds /v1 itself. Use ${shorter} as the base URL?`);
  return agreed ? { baseUrl: shorter } : answered;
}

interface Answering {
  readonly isSecret?: boolean;
  readonly mayBeEmpty?: boolean;
}

const answersOf =
  (ask: Ask, given: Account, known: Profile) =>
  async (
    key: AccountKey,
    message: string,
    { isSecret = false, mayBeEmpty = false }: Answering = {},
  ): Promise<Account> => {
    if (given[key] !== undefined) return {};
    const parse = (text: string): Parsed<Account[AccountKey]> =>
      mayBeEmpty && text.trim() === "" ? accepted(undefined) : parseAccountValue(key)(text.trim());
    const check = (text: string): string | undefined => {
      const parsed = parse(text);
      return parsed.ok ? undefined : parsed.message;
    };
    const initial = key === "webhookKey" ? known.webhookKey?.[0] : known[key];
    const parsed = parse(
      await (isSecret ? ask.secret({ message, check }) : ask.text({ message, check, initial })),
    );
    if (parsed.ok) return { [key]: parsed.value };
    throw new PaylinkError("usage", "Nothing was stored.", {
      problems: [{ at: ACCOUNT_FLAGS[key], message: parsed.message }],
    });
  };
