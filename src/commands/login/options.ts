/** Turns the flags of `login`, standard input and the settings into the account to store. */
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { SANDBOX_PROFILE } from "../../domain/addresses.ts";
import { namedProfile, resolveSettings, type ResolvedSettings } from "../../settings/resolved-settings.ts";
import { DEFAULT_PROFILE } from "../../settings/profile-names.ts";
import { profileNamed, type Profile } from "../../settings/profile.ts";
import { createFlagReader, type FlagReader } from "../flag-reader.ts";
import {
  ACCOUNT_FLAGS,
  parseAccountValue,
  profileWith,
  type Account,
  type AccountKey,
} from "./account-values.ts";
import type { LoginFlags } from "./flags.ts";

export interface LoginOptions {
  /** The name of the profile. */
  readonly profile: string;
  /** What the profile holds so far. */
  readonly known: Profile;
  /** Complete, unless the user can be asked for the rest. */
  readonly account: Account;
  /** Whether the account is checked before it is stored. */
  readonly check: boolean;
}

/** Throws one `usage` error with every problem. */
export async function loginOptions(
  flags: LoginFlags,
  context: Pick<Context, "readFile" | "profiles" | "profile" | "env" | "ask">,
): Promise<LoginOptions> {
  const settings = await context.profiles();
  const profile = profileName(context, settings.current());
  const known = profileNamed(settings.profiles(), profile) ?? {};
  const reader = createFlagReader();
  const read = <Key extends Exclude<AccountKey, "token" | "clientSecret">>(key: Key) =>
    reader.read(ACCOUNT_FLAGS[key], flags[key], parseAccountValue(key));
  const [service, baseUrl, terminalId] = [read("service"), read("baseUrl"), read("terminalId")];
  const [currency, customerName, callbackUrl] = [read("currency"), read("customerName"), read("callbackUrl")];
  const [clientId, tokenUrl, webhookKey] = [read("clientId"), read("tokenUrl"), read("webhookKey")];
  const [tokenScope, tokenAuth] = [read("tokenScope"), read("tokenAuth")];
  reader.exclude("--token-stdin", flags.tokenStdin, {
    "--client-secret-stdin": flags.clientSecretStdin,
    "--client-id": flags.clientId,
    "--token-url": flags.tokenUrl,
  });
  const secret = await readSecret(reader, flags, context);
  if (context.ask === undefined) requireAll(reader, { ...flags, ...secret }, known);
  reader.finish("Nothing was stored.");
  const account = {
    service: service.value,
    baseUrl: baseUrl.value,
    terminalId: terminalId.value,
    currency: currency.value,
    customerName: customerName.value,
    callbackUrl: callbackUrl.value,
    webhookKey: webhookKey.value,
    clientId: clientId.value,
    tokenUrl: tokenUrl.value,
    tokenScope: tokenScope.value,
    tokenAuth: tokenAuth.value,
    ...secret,
  };
  return { profile, known, account, check: flags.check };
}

/** The settings with the new profile, without the environment, which is not stored. */
export const candidate = (name: string, profile: Profile): ResolvedSettings =>
  resolveSettings({ named: name, env: {}, current: name, profiles: { [name]: profile } });

/** `--profile`, `PAYLINK_PROFILE`, else the current one, unless `paylink sandbox` wrote that. */
function profileName(
  { profile, env }: Pick<Context, "profile" | "env">,
  current: string | undefined,
): string {
  const named = namedProfile(profile, env);
  if (named === SANDBOX_PROFILE)
    throw new PaylinkError(
      "usage",
      `The profile ${SANDBOX_PROFILE} belongs to the sandbox. Nothing was stored.`,
      {
        hints: [hint`Give the account another name: ${paylink("login", "-p", "shop")}`],
      },
    );
  return named ?? (current === undefined || current === SANDBOX_PROFILE ? DEFAULT_PROFILE : current);
}

/** A problem of a secret never quotes it. */
async function readSecret(
  reader: FlagReader,
  { tokenStdin, clientSecretStdin }: LoginFlags,
  { readFile }: Pick<Context, "readFile">,
): Promise<Account> {
  if ((tokenStdin === true) === (clientSecretStdin === true)) return {};
  const key = tokenStdin === true ? "token" : "clientSecret";
  const secret = new TextDecoder().decode(await readFile("-")).trim();
  const parsed = parseAccountValue(key)(secret);
  if (!parsed.ok) reader.problem(ACCOUNT_FLAGS[key], parsed.message);
  return { [key]: secret };
}

const CREDENTIALS = ["clientId", "clientSecret", "tokenUrl"] as const satisfies readonly AccountKey[];

/** Which values of an account are given, valid or not. */
type GivenAccount = { readonly [Key in AccountKey]?: unknown };

/** Reports the values that neither the flags nor the service nor the profile give. */
function requireAll(reader: FlagReader, given: GivenAccount, known: Profile): void {
  const service = parseAccountValue("service")(String(given.service));
  const kept = candidate("kept", profileWith(known, service.ok ? { service: service.value } : {}));
  const isThere = (key: AccountKey): boolean => given[key] !== undefined || kept.get(key) !== undefined;
  const needed: readonly AccountKey[] = usesCredentials(given, kept) === true ? CREDENTIALS : ["token"];
  for (const key of ["baseUrl", "terminalId", ...needed] as const)
    if (!isThere(key)) reader.problem(ACCOUNT_FLAGS[key], "is required");
}

/** Whether the account authenticates with client credentials; undefined if that is open. */
export function usesCredentials(given: GivenAccount, kept: ResolvedSettings): boolean | undefined {
  if (given.token !== undefined) return false;
  const isGiven = given.clientId !== undefined || given.clientSecret !== undefined;
  return isGiven || kept.find("tokenUrl")?.source === "service" ? true : undefined;
}
