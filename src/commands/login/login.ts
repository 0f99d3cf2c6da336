/** Runs `paylink login`: asks for what the account lacks, checks it, and stores it in a profile. */
import { isUtf8 } from "node:buffer";
import type { Ask, Context } from "../../context.ts";
import { isExposed, parseWebAddress } from "../../values/addresses.ts";
import { SANDBOX_PROFILE, SERVICE_NAMES, SERVICES } from "../../domain/known-services.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint, paylink, type Hint } from "../../domain/hint.ts";
import { accepted, refused, type Parsed } from "../../values/parse-result.ts";
import { renderCheck } from "../../render/account.ts";
import { renderHint } from "../../render/hint.ts";
import { safeText } from "../../render/safe-text.ts";
import { callbackWarning, checkService } from "../../service/checks.ts";
import { CREDENTIALS } from "../../service/open-client.ts";
import { profileNamed, withoutSettings, withoutCredentials, type Profile } from "../../settings/profile.ts";
import { DEFAULT_PROFILE, parseOwnProfileName } from "../../settings/profile-names.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import {
  isAccountKey,
  loginFlagOf,
  SETTING_KEYS,
  SETTINGS,
  type AccountKey,
  type SettingValue,
} from "../../settings/setting-table.ts";
import { isToken } from "../../settings/token-files.ts";
import { checkKeys, requirePassed, secretKeyProblem, settingsWith } from "../account-checks.ts";
import { isConfirmed, saidNo } from "../shared-flags.ts";
import type { ReadValues, Usage } from "../command.ts";

type AccountValues = { readonly [Key in AccountKey]?: SettingValue<Key> | undefined };

/** No flag has a secret as its value, which others on the machine could see. */
const isSecretKey = (key: AccountKey): key is "token" | "clientSecret" => SETTINGS[key].secret === true;

/** The values of the flags. */
interface LoginValues extends Omit<AccountValues, "token" | "clientSecret"> {
  readonly tokenStdin: boolean;
  readonly clientSecretStdin: boolean;
  readonly check: boolean;
}

interface LoginOptions {
  /** The name of the profile. */
  readonly profile: string;
  /** What the profile holds so far. */
  readonly known: Profile;
  /** Complete, unless the user can be asked for the rest. */
  readonly account: AccountValues;
  /** Whether the account is checked before it is stored. */
  readonly check: boolean;
}

/** What the command line gives, with the secret of standard input, and with what is missing if nobody can be asked. */
export async function loginOptions(
  { all, ifRead }: ReadValues<LoginValues>,
  usage: Usage,
  context: Context,
): Promise<LoginOptions | undefined> {
  const { profile, known } = await profileToWrite(context, usage);
  // What the account needs depends on the service.
  const secret = await ifRead(
    ["service", "tokenStdin", "clientSecretStdin"],
    async ({ service, ...flags }) => {
      const key = secretOf(flags);
      // Nobody can be asked once the secret has been read from standard input.
      const read = key === undefined ? {} : { [key]: await readSecret(key, usage, context) };
      const baseUrl = ifRead(["baseUrl"], (values) => values.baseUrl);
      // A value that could not be read is not missing too.
      const isGiven = (one: AccountKey): boolean =>
        isSecretKey(one) ? one === key : ifRead([one], (values) => values[one] !== undefined) !== false;
      const missing = context.ask() === undefined ? missingValues(isGiven, { service, baseUrl }, known) : [];
      for (const one of missing)
        usage.problems.push({
          at: loginFlagOf(one),
          message: ["is required", INSTEAD_OF[one] ?? ""].join(""),
        });
      return read;
    },
  );
  if (hasAccount(known) && context.ask() === undefined && !context.yes)
    usage.problems.push({
      at: "--yes",
      message: `is required to replace the account of ${profile} (${accountAddress(known) ?? "no address"})`,
    });
  if (all === undefined) return undefined;
  const { tokenStdin: _token, clientSecretStdin: _secret, check, ...account } = all;
  return { profile, known, account: { ...account, ...secret }, check };
}

/** What standard input holds. */
const secretOf = ({ tokenStdin, clientSecretStdin }: Pick<LoginValues, "tokenStdin" | "clientSecretStdin">) =>
  tokenStdin === clientSecretStdin ? undefined : tokenStdin ? "token" : "clientSecret";

export async function storeAccount(
  context: Context,
  { profile, known, account: given, check }: LoginOptions,
): Promise<number> {
  const { out, profiles, forgetToken } = context;
  const ask = context.ask();
  const question = `Replace the account of profile ${safeText(profile)} (${safeText(accountAddress(known) ?? "no address")})?`;
  if (hasAccount(known) && !(await isConfirmed(context, question))) return saidNo(context);
  const account = ask === undefined ? given : await askForAccount(ask, given, known);
  const settings = settingsWith(profile, profileWith(known, account));
  if (check) await requireWorking(context, settings);
  const stored = await profiles();
  await stored.change(profile, (before) => profileWith(before, account));
  const current = await currentAfter(profile, settings, context);
  if (current === profile) await stored.use(profile);
  forgetToken(profile);
  const [baseUrl, terminalId] = [settings.get("baseUrl") ?? "", settings.get("terminalId") ?? ""];
  const words = `Logged in: profile ${safeText(profile)}, ${safeText(baseUrl)}, terminal ${safeText(terminalId)}.`;
  out.result({ profile, baseUrl, terminalId, current }, words);
  const missing = (["currency", "customerName"] as const).filter((key) => settings.get(key) === undefined);
  if (missing.length > 0) {
    const commands = missing.flatMap((key, at) => [
      at === 0 ? "" : ", ",
      paylink`config set ${key} ${SETTINGS[key].example}`,
    ]);
    const needed = missing.map(loginFlagOf).join(" and ");
    out.warn(renderHint(hint`Each paylink create needs ${needed}. To store a default: ${commands}`));
  }
  const warning = callbackWarning(
    { callbackUrl: settings.get("callbackUrl"), failureCallbackUrl: settings.get("failureCallbackUrl") },
    settings,
  );
  if (warning !== undefined) out.warn(renderHint(warning));
  const next: Hint =
    current === profile
      ? hint`The current profile is ${safeText(profile)}. Next: ${paylink`status`}, then ${paylink`create`}`
      : hint`The current profile is still ${safeText(current)}. To use this account: ${paylink`status -p ${profile}`}; to make it the current one: ${paylink`profiles use ${profile}`}`;
  out.note(renderHint(next));
  return 0;
}

/** Commands that name no profile must not reach another account than before unless the user says so. */
async function currentAfter(
  profile: string,
  settings: ResolvedSettings,
  { profiles, ask, yes }: Pick<Context, "profiles" | "ask" | "yes">,
): Promise<string> {
  const current = (await profiles()).current();
  if (current === undefined || current === profile) return profile;
  const asked = yes ? undefined : ask();
  const question = `Make ${safeText(profile)} (${settings.label}) the current profile? Commands without -p then use it, not ${safeText(current)}`;
  return (await asked?.confirm(question, { initial: false })) === true ? profile : current;
}

/** Whether the profile has credentials, which the new ones take the place of. */
const hasAccount = ({ token, clientSecret }: Profile): boolean =>
  token !== undefined || clientSecret !== undefined;

const accountAddress = (known: Profile): string | undefined => settingsWith("known", known).get("baseUrl");

/** What can be given in place of a value that is missing. */
const INSTEAD_OF: { readonly [Key in AccountKey]?: string } = {
  baseUrl: `, or ${loginFlagOf("service")} for a service that paylink knows: ${SERVICE_NAMES.join(", ")}`,
  token: `, or client credentials: ${CREDENTIALS.map(loginFlagOf).join(", ")}`,
};

/** `--profile`, `PAYLINK_PROFILE`, else the current one, unless `paylink sandbox` wrote that; and what it holds so far. */
async function profileToWrite(
  { profile: typed, named, profiles }: Pick<Context, "profile" | "named" | "profiles">,
  { problems }: Usage,
): Promise<Pick<LoginOptions, "profile" | "known">> {
  const settings = await profiles();
  const current = settings.current();
  const own = current === undefined || current === SANDBOX_PROFILE ? DEFAULT_PROFILE : current;
  const { profile = own } = named;
  const parsed = named.profile === undefined ? undefined : parseOwnProfileName(profile);
  if (parsed?.ok === false)
    problems.push({ at: typed === undefined ? "PAYLINK_PROFILE" : "--profile", message: parsed.message });
  return { profile, known: profileNamed(settings.profiles(), profile) ?? {} };
}

/** A problem of a secret never quotes it. */
async function readSecret(
  key: "token" | "clientSecret",
  { problems }: Usage,
  { readFile }: Pick<Context, "readFile">,
): Promise<string> {
  const at = loginFlagOf(key);
  const bytes = await readFile("-");
  if (!isUtf8(bytes)) {
    problems.push({ at, message: "must be UTF-8 text: stdin has another encoding, such as UTF-16" });
    return "";
  }
  const secret = new TextDecoder().decode(bytes).trim();
  const parsed = parseAccountValue(key)(secret);
  if (!parsed.ok) problems.push({ at, message: parsed.message });
  return secret;
}

/** Shows the checks, or throws every failure as one error. */
async function requireWorking(context: Context, settings: ResolvedSettings): Promise<void> {
  const { out, named, now } = context;
  const found = [
    ...(await checkService({ settings, now: now(), api: () => context.api({ settings }) })),
    ...(await checkKeys(settings, context, loginFlagOf("webhookKey"))),
  ];
  const checks = found
    .filter(({ state }) => state !== "skipped")
    .map((check) => ({ ...check, remedies: check.remedies.map(asFlags) }));
  const unchecked = hint`To store the account without these checks: ${paylink`login --no-check`}`;
  requirePassed(checks, "The account does not work. Nothing was stored.", unchecked);
  for (const check of checks)
    if (check.state === "ok")
      out.note(renderCheck(check, { paint: out.notePaint, lineWidth: out.lineWidth }, named));
    else
      out.warn(
        [`${check.check}: ${check.detail}`, ...check.remedies.map((one) => renderHint(one, named))].join(" "),
      );
}

/** `login` takes the values of an account as flags: no profile holds them yet, and no variable decides. */
const asFlags = (remedy: Hint): Hint =>
  remedy.map((part) => {
    if (typeof part === "string") return part;
    const [name, action, setting, value] = part.words;
    const key = setting?.text ?? "";
    if (name?.text !== "config" || action?.text !== "set" || !isAccountKey(key) || value === undefined)
      return { words: part.words };
    const flag = loginFlagOf(key);
    const given =
      value.from === "ours" ? [...paylink`${{ [flag]: true }}`.words, value] : [{ ...value, flag }];
    return { words: [...paylink`login`.words, ...given] };
  });

/** Checks a value as a setting, and that no secret is sent unencrypted or breaks a header line. */
export const parseAccountValue =
  <Key extends AccountKey>(key: Key) =>
  (text: string): Parsed<SettingValue<Key>> => {
    const parsed = SETTINGS[key].parse(text);
    if (!parsed.ok) return parsed;
    if (Array.isArray(parsed.value)) {
      const problem = secretKeyProblem(parsed.value);
      if (problem !== undefined) return problem;
    }
    const url = key === "baseUrl" || key === "tokenUrl" ? parseWebAddress(text.trim()) : undefined;
    if (url !== undefined && isExposed(url))
      return refused("must be https: a secret is never sent unencrypted");
    if (key === "token" && !isToken(text.trim())) return refused("must be a token, without spaces");
    return parsed;
  };

/**
 * The profile with the account. A profile has one account, so the secrets of the former one are removed. At another address,
 * nothing of the former service stays: a secret must not reach its token endpoint, and its key must not verify. Defaults of
 * links stay.
 */
function profileWith(before: Profile, account: AccountValues): Profile {
  const { service } = account;
  const given = Object.fromEntries(Object.entries(account).filter(([, value]) => value !== undefined));
  const former = accountAddress(before);
  const address = account.baseUrl ?? (service === undefined ? former : SERVICES[service].settings.baseUrl);
  const kept = withoutCredentials(before);
  return { ...(address === former ? kept : withoutSettings(kept, OF_SERVICE)), ...given };
}

const OF_SERVICE = SETTING_KEYS.filter((key) => SETTINGS[key].ofService === true);

/** Whether the account authenticates with client credentials; undefined if that is open. */
function usesCredentials(isGiven: IsGiven, stored: ResolvedSettings): boolean | undefined {
  if (isGiven("token")) return false;
  const hasSome = isGiven("clientId") || isGiven("clientSecret");
  return hasSome || stored.find("tokenUrl")?.source === "service" ? true : undefined;
}

type IsGiven = (key: AccountKey) => boolean;

const givenIn =
  (account: AccountValues): IsGiven =>
  (key) =>
    account[key] !== undefined;

/** The values that the account needs, and that neither the user nor the service nor the profile gives. */
function missingValues(
  isGiven: IsGiven,
  { service, baseUrl }: Pick<AccountValues, "service" | "baseUrl">,
  known: Profile,
): readonly AccountKey[] {
  const stored = settingsWith("stored", profileWith(known, { service, baseUrl }));
  const needed = usesCredentials(isGiven, stored) === true ? CREDENTIALS : (["token"] as const);
  return (["baseUrl", "terminalId", ...needed] as const).filter(
    (key) => !isGiven(key) && stored.get(key) === undefined,
  );
}

/** Asks for what the account lacks: the service first, then only what the service leaves open. */
async function askForAccount(ask: Ask, given: AccountValues, known: Profile): Promise<AccountValues> {
  let account = given;
  const answer = async (...keys: readonly AccountKey[]): Promise<void> => {
    for (const key of keys)
      if (account[key] === undefined) account = { ...account, [key]: await askForValue(key, ask, known) };
  };
  if (given.service === undefined && given.baseUrl === undefined)
    account = { ...account, service: await askForService(ask) };
  const atService = settingsWith("new", profileWith({}, { service: account.service }));
  if (account.service === undefined) await answer("baseUrl");
  await answer("terminalId", "currency", "customerName", "callbackUrl", "webhookKey");
  const byCredentials =
    usesCredentials(givenIn(given), atService) ??
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

const askForService = (ask: Ask): Promise<AccountValues["service"]> =>
  ask.choose<AccountValues["service"]>("Which service do you use?", [
    ...SERVICE_NAMES.map((name) => ({ name, value: name, description: SERVICES[name].title })),
    { name: "Another address", value: undefined },
  ]);

async function askForValue(key: AccountKey, ask: Ask, known: Profile): Promise<AccountValues[AccountKey]> {
  const { secret, login } = SETTINGS[key];
  const { prompt: message = key, optional } = login;
  const parse = (text: string): Parsed<AccountValues[AccountKey]> =>
    optional === true && text.trim() === "" ? accepted(undefined) : parseAccountValue(key)(text);
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
