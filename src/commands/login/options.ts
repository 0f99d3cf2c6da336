/** From the flags of `login`, standard input and the settings to the account that is to be stored. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { DEFAULT_PROFILE, SANDBOX_PROFILE, type Profile } from "../../store/settings/profile.ts";
import { createFlagReader, type FlagReader } from "../flag-reader.ts";
import {
  ACCOUNT_FLAGS,
  parseAccountValue,
  usesCredentials,
  type Account,
  type AccountKey,
  type GivenAccount,
} from "./account-values.ts";
import type { LoginFlags } from "./flags.ts";

export interface LoginOptions {
  /** The name of the profile. */
  readonly profile: string;
  /** What the profile holds so far. */
  readonly known: Profile;
  /** Complete, unless the user can be asked for the rest. */
  readonly account: Account;
}

/** Throws one `usage` error with every problem. */
export async function loginOptions(
  flags: LoginFlags,
  context: Pick<Context, "readFile" | "profiles" | "profile" | "env" | "ask">,
): Promise<LoginOptions> {
  const settings = await context.profiles();
  const profile = profileName(context, settings.current());
  const reader = createFlagReader();
  const read = <Key extends "baseUrl" | "terminalId" | "clientId" | "tokenUrl" | "webhookKey">(key: Key) =>
    reader.read(ACCOUNT_FLAGS[key], flags[key], parseAccountValue(key));
  const [baseUrl, terminalId] = [read("baseUrl"), read("terminalId")];
  const [clientId, tokenUrl] = [read("clientId"), read("tokenUrl")];
  const webhookKey = read("webhookKey");
  const secret = await readSecret(reader, flags, context);
  if (context.ask === undefined) requireAll(reader, { ...flags, ...secret });
  reader.finish("Nothing was stored.");
  const account = {
    baseUrl: baseUrl.value,
    terminalId: terminalId.value,
    clientId: clientId.value,
    tokenUrl: tokenUrl.value,
    webhookKey: webhookKey.value,
    ...secret,
  };
  return { profile, known: settings.profiles()[profile] ?? {}, account };
}

/** `--profile`, `PAYLINK_PROFILE`, else the current one, unless `paylink sandbox` wrote that. */
function profileName(
  { profile, env }: Pick<Context, "profile" | "env">,
  current: string | undefined,
): string {
  const named = profile ?? (env["PAYLINK_PROFILE"] || undefined);
  if (named === SANDBOX_PROFILE)
    throw new PaylinkError(
      "usage",
      `The profile ${SANDBOX_PROFILE} belongs to the sandbox. Nothing was stored.`,
      {
        hint: "Give the account another name: paylink login -p shop",
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
  if (tokenStdin === true && clientSecretStdin === true) {
    reader.problem("--token-stdin", "cannot be used with --client-secret-stdin");
    return {};
  }
  if (tokenStdin !== true && clientSecretStdin !== true) return {};
  const key = tokenStdin === true ? "token" : "clientSecret";
  const secret = new TextDecoder().decode(await readFile("-")).trim();
  const parsed = parseAccountValue(key)(secret);
  if (!parsed.ok) reader.problem(ACCOUNT_FLAGS[key], parsed.message);
  return { [key]: secret };
}

const ALWAYS = ["baseUrl", "terminalId"] as const satisfies readonly AccountKey[];
const WITH_CREDENTIALS = ["clientId", "clientSecret", "tokenUrl"] as const satisfies readonly AccountKey[];

function requireAll(reader: FlagReader, account: GivenAccount): void {
  const needed = [
    ...ALWAYS,
    ...(usesCredentials(account) === true ? WITH_CREDENTIALS : (["token"] as const)),
  ];
  for (const key of needed) if (account[key] === undefined) reader.problem(ACCOUNT_FLAGS[key], "is required");
}
