/** `paylink login`: asks for what the account lacks and stores it in a profile, which becomes the current one. */
import type { Ask, Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { safeText } from "../../render/safe-text.ts";
import { withoutSecrets, type Profile } from "../../store/settings/profile.ts";
import {
  ACCOUNT_FLAGS,
  parseAccountValue,
  usesCredentials,
  type Account,
  type AccountKey,
} from "./account-values.ts";
import type { LoginOptions } from "./options.ts";

export async function login(
  { out, ask, profiles }: Context,
  { profile, known, account: given }: LoginOptions,
): Promise<number> {
  const account: Account = { ...given, ...(ask === undefined ? {} : await askForRest(ask, given, known)) };
  const stored = Object.fromEntries(Object.entries(account).filter(([, value]) => value !== undefined));
  const settings = await profiles();
  // A profile holds one account: the secrets of the former one are deleted.
  await settings.change(profile, (before) => ({ ...withoutSecrets(before), ...stored }));
  await settings.use(profile);
  const { baseUrl = "", terminalId = "" } = account;
  if (out.json) out.data(JSON.stringify({ profile, baseUrl, terminalId }));
  else
    out.data(
      `Logged in: profile ${safeText(profile)}, ${safeText(baseUrl)}, terminal ${safeText(terminalId)}.`,
    );
  out.note("It is the current profile now. Next: paylink status, then paylink create");
  return 0;
}

async function askForRest(ask: Ask, given: Account, known: Profile): Promise<Account> {
  const answer = async (
    key: Exclude<AccountKey, "webhookKey">,
    message: string,
    isSecret = false,
  ): Promise<Account> => {
    if (given[key] !== undefined) return {};
    const parse = (text: string) => parseAccountValue(key)(text.trim());
    const check = (text: string): string | undefined => {
      const parsed = parse(text);
      return parsed.ok ? undefined : parsed.message;
    };
    const parsed = parse(
      await (isSecret ? ask.secret({ message, check }) : ask.text({ message, check, initial: known[key] })),
    );
    if (parsed.ok) return { [key]: parsed.value };
    throw new PaylinkError("usage", "Nothing was stored.", {
      problems: [{ at: ACCOUNT_FLAGS[key], message: parsed.message }],
    });
  };
  const place = {
    ...(await answer("baseUrl", "The service's base URL (https://…)")),
    ...(await answer("terminalId", "Terminal")),
  };
  const byCredentials =
    usesCredentials(given) ??
    (await ask.choose("How do you want to authenticate?", [
      { name: "An access token", value: false },
      { name: "Client credentials (OAuth 2.0)", value: true },
    ]));
  if (!byCredentials) return { ...place, ...(await answer("token", "Access token", true)) };
  return {
    ...place,
    ...(await answer("tokenUrl", "Token URL")),
    ...(await answer("clientId", "Client id")),
    ...(await answer("clientSecret", "Client secret", true)),
  };
}
