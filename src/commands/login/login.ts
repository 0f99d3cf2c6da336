/** `paylink login`: asks for what the account lacks, checks it, and stores it in a profile, which becomes the current one. */
import type { Context } from "../../context.ts";
import { SANDBOX_PROFILE, SANDBOX_URL } from "../../domain/addresses.ts";
import { hint, paylink, PaylinkError, type Hint } from "../../domain/errors.ts";
import { SERVICE_NAMES } from "../../domain/known-services.ts";
import { renderHint } from "../../render/hint.ts";
import { safeText } from "../../render/safe-text.ts";
import { DEFAULT_PROFILE, namedProfile, parseOwnProfileName } from "../../settings/profile-names.ts";
import type { Profile, SettingValue } from "../../settings/profile.ts";
import type { ResolvedSettings } from "../../settings/resolved-settings.ts";
import { isAccountKey, loginFlagOf, SETTINGS, type AccountKey } from "../../settings/setting-table.ts";
import { command, excludes, flag, group, toggle, type Flag, type Usage } from "../command.ts";
import type { Account } from "./account.ts";

type AccountFlags<Key extends AccountKey> = { readonly [One in Key]: Flag<SettingValue<One> | undefined> };

/** Flags as the table of settings describes them. */
function accountFlags<Key extends AccountKey>(...keys: readonly Key[]): AccountFlags<Key> {
  const flags = keys.map((key) => {
    const { login: how, means, example } = SETTINGS[key];
    const parse = async (typed: string) => (await import("./account.ts")).parseAccountValue(key)(typed);
    return [key, flag(how.flag, means, parse, { example })];
  });
  return Object.fromEntries(flags) as AccountFlags<Key>;
}

/** A secret is never an argument, which other users see. */
const secretFlag = (key: "token" | "clientSecret"): Flag<boolean> =>
  toggle(SETTINGS[key].login.flag, `read ${SETTINGS[key].means} from standard input`);

/** In place of a token; a known service has the token URL. */
const CREDENTIALS = ["clientId", "clientSecret", "tokenUrl"] as const;

interface LoginOptions {
  /** The name of the profile. */
  readonly profile: string;
  /** What the profile holds so far. */
  readonly known: Profile;
  /** Complete, unless the user can be asked for the rest. */
  readonly account: Account;
  /** Whether the account is checked before it is stored. */
  readonly check: boolean;
}

export const login = command({
  summary: "check an account at a service, and store it in a profile",
  examples: [
    `echo "$TOKEN" | paylink login -p shop --base-url ${SANDBOX_URL} --terminal-id 1234567890 --currency EUR --customer-name "Ada Lovelace" --token-stdin`,
    `echo "$SECRET" | paylink login -p shop --base-url ${SANDBOX_URL} --terminal-id 1234567890 --client-id sandbox --client-secret-stdin --token-url ${SANDBOX_URL}/oauth/token`,
  ],
  flags: {
    ...group(
      "The account:",
      accountFlags(
        "service",
        "baseUrl",
        "terminalId",
        "currency",
        "customerName",
        "callbackUrl",
        "webhookKey",
      ),
    ),
    ...group("An access token:", { tokenStdin: secretFlag("token") }),
    ...group("Client credentials (OAuth 2.0):", {
      ...accountFlags("clientId"),
      clientSecretStdin: secretFlag("clientSecret"),
      ...accountFlags("tokenUrl", "tokenScope", "tokenAuth"),
    }),
    ...group("Checks:", { check: toggle("--no-check", "store the account without asking the service") }),
  },
  rules: [excludes(["tokenStdin"], ["clientSecretStdin", "clientId", "tokenUrl"])],
  consequence: "Nothing was stored.",
  prepare: async (values, usage, context): Promise<LoginOptions> => {
    const { missingValues } = await import("./account.ts");
    const { profileNamed } = await import("../../settings/profile.ts");
    const settings = await context.profiles();
    const profile = profileToWrite(context, settings.current(), usage);
    const known = profileNamed(settings.profiles(), profile) ?? {};
    const { tokenStdin, clientSecretStdin } = values;
    const secret = tokenStdin === clientSecretStdin ? undefined : tokenStdin ? "token" : "clientSecret";
    // A value that could not be read is not missing too.
    const wrong = usage.problems.map(({ at }) => at);
    const given: Account = values;
    const readable = Object.keys(values)
      .filter(isAccountKey)
      .filter((key) => !wrong.includes(loginFlagOf(key)));
    const account: Account = {
      ...Object.fromEntries(readable.map((key) => [key, given[key]])),
      ...(secret === undefined ? {} : { [secret]: await readSecret(secret, usage, context) }),
    };
    if (context.ask === undefined)
      for (const key of missingValues(account, known)) {
        const at = loginFlagOf(key);
        if (!wrong.includes(at) && !wrong.includes(INSTEAD_OF[key]?.flag ?? at))
          usage.problems.push({ at, message: ["is required", INSTEAD_OF[key]?.words ?? ""].join("") });
      }
    return { profile, known, account, check: values.check };
  },
  run: async (context, { profile, known, account: given, check }) => {
    const { out, ask, profiles } = context;
    const { askForAccount, profileWith, settingsWith } = await import("./account.ts");
    const account = ask === undefined ? given : await askForAccount(ask, given, known);
    const settings = settingsWith(profile, profileWith(known, account));
    if (check) await requireWorking(context, settings);
    const stored = await profiles();
    await stored.change(profile, (before) => profileWith(before, account));
    await stored.use(profile);
    const [baseUrl, terminalId] = [settings.get("baseUrl") ?? "", settings.get("terminalId") ?? ""];
    if (out.json) out.data(JSON.stringify({ profile, baseUrl, terminalId }));
    else
      out.data(
        `Logged in: profile ${safeText(profile)}, ${safeText(baseUrl)}, terminal ${safeText(terminalId)}.`,
      );
    const missing = (["currency", "customerName"] as const).filter((key) => settings.get(key) === undefined);
    if (missing.length > 0)
      out.warn(
        `Each paylink create needs ${missing.map(loginFlagOf).join(" and ")}. To store a default, run paylink login again.`,
      );
    out.note("It is the current profile now. Next: paylink status, then paylink create");
    return 0;
  },
});

/** What can be given in place of a value that is missing. */
const INSTEAD_OF: { readonly [Key in AccountKey]?: { readonly flag: string; readonly words: string } } = {
  baseUrl: {
    flag: loginFlagOf("service"),
    words: `, or ${loginFlagOf("service")} for a service that paylink knows: ${SERVICE_NAMES.join(", ")}`,
  },
  token: {
    flag: loginFlagOf("clientId"),
    words: `, or client credentials: ${CREDENTIALS.map(loginFlagOf).join(", ")}`,
  },
};

/** `--profile`, `PAYLINK_PROFILE`, else the current one, unless `paylink sandbox` wrote that. */
function profileToWrite(
  { profile, env }: Pick<Context, "profile" | "env">,
  current: string | undefined,
  { problems }: Usage,
): string {
  const named = namedProfile(profile, env);
  if (named === undefined)
    return current === undefined || current === SANDBOX_PROFILE ? DEFAULT_PROFILE : current;
  const parsed = parseOwnProfileName(named);
  if (!parsed.ok)
    problems.push({ at: profile === undefined ? "PAYLINK_PROFILE" : "--profile", message: parsed.message });
  return named;
}

/** A problem of a secret never quotes it. */
async function readSecret(
  key: "token" | "clientSecret",
  { problems }: Usage,
  { readFile }: Pick<Context, "readFile">,
): Promise<string> {
  const { parseAccountValue } = await import("./account.ts");
  const secret = new TextDecoder().decode(await readFile("-")).trim();
  const parsed = parseAccountValue(key)(secret);
  if (!parsed.ok) problems.push({ at: loginFlagOf(key), message: parsed.message });
  return secret;
}

/** Shows the checks, or throws every failure as one error. */
async function requireWorking(context: Context, settings: ResolvedSettings): Promise<void> {
  const { checkService } = await import("../../service/checks.ts");
  const { checkKeys } = await import("../account-keys.ts");
  const { renderCheck } = await import("../../render/account.ts");
  const { out, readFile, send, signal } = context;
  const account = { settings, now: context.now() };
  const found = [
    ...(await checkService({ ...account, api: () => context.api({ settings }) })),
    ...(await checkKeys({
      ...account,
      keyReading: { readFile, send, signal, place: loginFlagOf("webhookKey") },
    })),
  ];
  const checks = found
    .filter(({ state }) => state !== "skipped")
    .map((check) => ({ ...check, remedies: check.remedies.map(asFlags) }));
  const failures = checks.filter(({ state }) => state === "failed");
  const [first] = failures;
  if (first !== undefined)
    throw new PaylinkError(first.failure?.code ?? "usage", "The account does not work. Nothing was stored.", {
      problems: failures.map(({ check, detail }) => ({ at: check, message: detail })),
      hints: [
        ...failures.flatMap(({ remedies }) => remedies),
        hint`To store the account without these checks: ${paylink("login", "--no-check")}`,
      ],
      details: first.failure?.details ?? {},
    });
  for (const { state, ...check } of checks)
    if (state === "ok")
      out.note(
        renderCheck({ state, ...check }, { paint: out.notePaint, lineWidth: out.lineWidth }, undefined),
      );
    else
      out.warn(
        [
          safeText(`${check.check}: ${check.detail}`),
          ...check.remedies.map((remedy) => renderHint(remedy, undefined)),
        ].join(" "),
      );
}

/** `login` takes the values of an account as flags: no profile holds them yet. */
const asFlags = (remedy: Hint): Hint =>
  remedy.map((part) => {
    if (typeof part === "string") return part;
    const [name, action, key = "", value = ""] = part.words;
    return name === "config" && action === "set" && isAccountKey(key)
      ? paylink("login", loginFlagOf(key), value)
      : part;
  });
