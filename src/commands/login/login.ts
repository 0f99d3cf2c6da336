/** `paylink login`: stores an account in a profile, from flags, standard input and answers; secrets never as arguments. */
import { resolve } from "node:path";
import type { Ask, Context } from "../../context.ts";
import { PaylinkError, type Problem } from "../../domain/errors.ts";
import { isExposed, parseWebAddress } from "../../domain/web-address.ts";
import { safeText } from "../../render/safe-text.ts";
import { settingProblem, storedSetting } from "../../store/change.ts";
import { settingKeys, withoutSecrets, type Profile, type SettingKey } from "../../store/profile.ts";
import type { LoginFlags } from "./command.ts";

/** The profile that is made where nobody names one; the sandbox keeps its own. */
const DEFAULT_PROFILE = "default";
const SANDBOX_PROFILE = "sandbox";

export async function login(context: Context, flags: LoginFlags): Promise<void> {
  const { out, ask } = context;
  const settings = await context.settings();
  const name = profileName(context, settings.current());
  const known = settings.profiles()[name] ?? {};
  const given = { ...pickFlags(flags), ...(await readSecret(context, flags)) };
  refuse(problemsOf(given));
  const account = { ...given, ...(ask === undefined ? {} : await askRest(ask, given, known)) };
  refuse([...problemsOf(account), ...missingFrom(account)]);
  const stored = Object.fromEntries(
    entriesOf(account).map(([key, value]) => [key, storedSetting(key, value)]),
  );
  // One account at a time: what opened the former one does not stay beside what opens this one.
  await settings.change(name, (before) => ({ ...withoutSecrets(before), ...stored }));
  await settings.use(name);
  const { baseUrl = "", terminalId = "" } = account;
  if (out.json) out.data(JSON.stringify({ profile: name, baseUrl, terminalId }));
  else out.data(`Logged in: profile ${name}, ${safeText(baseUrl)}, terminal ${safeText(terminalId)}.`);
  out.note("It is the current profile now. Next: paylink status, then paylink create");
}

/** `--profile`, `PAYLINK_PROFILE`, else the current one, unless that is the sandbox's own. */
function profileName({ profile, env }: Context, current: string | undefined): string {
  const named = profile ?? (env["PAYLINK_PROFILE"] || undefined);
  if (named === SANDBOX_PROFILE)
    throw new PaylinkError("usage", `The profile ${SANDBOX_PROFILE} is the sandbox's own.`, {
      hint: "Give the account another name: paylink login -p shop",
    });
  return named ?? (current === undefined || current === SANDBOX_PROFILE ? DEFAULT_PROFILE : current);
}

function pickFlags({ baseUrl, terminalId, clientId, tokenUrl, webhookKey }: LoginFlags): Profile {
  const key = webhookKey === undefined || /^https?:|^\s*(?:-----|\{)/i.test(webhookKey);
  // A file is found from wherever paylink runs later.
  const webhookKeyPlace = key ? webhookKey : resolve(webhookKey);
  const picked = { baseUrl, terminalId, clientId, tokenUrl, webhookKey: webhookKeyPlace };
  return Object.fromEntries(Object.entries(picked).filter(([, value]) => value !== undefined));
}

async function readSecret(
  { readFile }: Context,
  { tokenStdin, clientSecretStdin }: LoginFlags,
): Promise<Profile> {
  if (tokenStdin === true && clientSecretStdin === true)
    throw new PaylinkError("usage", "--token-stdin and --client-secret-stdin exclude each other.");
  if (tokenStdin !== true && clientSecretStdin !== true) return {};
  const secret = new TextDecoder().decode(await readFile("-")).trim();
  return tokenStdin === true ? { token: secret } : { clientSecret: secret };
}

const FLAG_OF: Partial<Record<SettingKey, string>> = {
  baseUrl: "--base-url",
  terminalId: "--terminal-id",
  clientId: "--client-id",
  tokenUrl: "--token-url",
  webhookKey: "--webhook-key",
  token: "--token-stdin",
  clientSecret: "--client-secret-stdin",
};

function problemsOf(account: Profile): Problem[] {
  return entriesOf(account).flatMap(([key, value]) => {
    const message = accountProblem(key, value);
    return message === undefined ? [] : [{ at: FLAG_OF[key] ?? key, message }];
  });
}

function entriesOf(account: Profile): [SettingKey, string][] {
  return settingKeys().flatMap((key): [SettingKey, string][] => {
    const value = account[key];
    return value === undefined ? [] : [[key, value]];
  });
}

/** Besides what a setting must be: a token goes nowhere in the open, and consists of what a header line can hold. */
function accountProblem(key: SettingKey, value: string): string | undefined {
  const problem = settingProblem(key, value);
  if (problem !== undefined) return problem;
  const url = key === "baseUrl" || key === "tokenUrl" ? parseWebAddress(value) : undefined;
  if (url !== undefined && isExposed(url)) return "must be https: a secret is never sent in the open";
  if (key === "token" && !/^[\x21-\x7e]+$/.test(value)) return "must be a token, without spaces";
  return undefined;
}

function missingFrom(account: Profile): Problem[] {
  const byCredentials =
    account.token === undefined && (account.clientId ?? account.clientSecret) !== undefined;
  const needed: SettingKey[] = byCredentials
    ? ["baseUrl", "terminalId", "clientId", "clientSecret", "tokenUrl"]
    : ["baseUrl", "terminalId", "token"];
  return needed
    .filter((key) => account[key] === undefined)
    .map((key) => ({ at: FLAG_OF[key] ?? key, message: "is required" }));
}

function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new PaylinkError("usage", "Nothing was stored.", { problems });
}

async function askRest(ask: Ask, given: Profile, known: Profile): Promise<Profile> {
  const text = async (key: SettingKey, message: string): Promise<Profile> => {
    if (given[key] !== undefined) return {};
    const check = (answer: string): string | undefined => accountProblem(key, answer);
    return { [key]: await ask.text({ message, initial: known[key], check }) };
  };
  const secret = async (key: SettingKey, message: string): Promise<Profile> => {
    if (given[key] !== undefined) return {};
    return { [key]: await ask.secret({ message, check: (answer) => accountProblem(key, answer.trim()) }) };
  };
  const place = {
    ...(await text("baseUrl", "The service's base URL (https://…)")),
    ...(await text("terminalId", "Terminal")),
  };
  const decided = given.token !== undefined || (given.clientId ?? given.clientSecret) !== undefined;
  const credentials = decided
    ? given.token === undefined
    : await ask.choose("How do you want to authenticate?", [
        { name: "An access token", value: false },
        { name: "Client credentials (OAuth 2.0)", value: true },
      ]);
  if (!credentials) return { ...place, ...(await secret("token", "Access token")) };
  return {
    ...place,
    ...(await text("tokenUrl", "Token URL")),
    ...(await text("clientId", "Client id")),
    ...(await secret("clientSecret", "Client secret")),
  };
}
