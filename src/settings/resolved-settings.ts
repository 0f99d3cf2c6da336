/**
 * The settings of a run. An account is whole: its addresses and secrets belong together, and a stored secret goes only where it was
 * stored for. Every other value is from the environment, else the profile, the service or the built-in default. A profile that
 * `--profile` names comes before the environment.
 */
import type { Environment } from "../values/typed-text.ts";
import { PaylinkError } from "../domain/errors.ts";
import { hint, paylink } from "../domain/hint.ts";
import {
  isForTests,
  serviceLabel,
  SERVICES,
  type ServiceLabel,
  SANDBOX_PROFILE,
} from "../domain/known-services.ts";
import { isLoopback, parseWebAddress } from "../values/addresses.ts";
import { nearest } from "../values/parse-result.ts";
import { withoutPassword } from "../values/url-passwords.ts";
import { readProfile, withoutSettings, type Profile } from "./profile.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey, type SettingValue } from "./setting-table.ts";

export type SettingSource = "environment" | "profile" | "service" | "default";

export interface ResolvedSetting<Key extends SettingKey = SettingKey> {
  readonly value: SettingValue<Key>;
  readonly source: SettingSource;
}

/** What authenticates at the service. */
export type Login =
  | { readonly kind: "token"; readonly token: string }
  | {
      readonly kind: "credentials";
      readonly clientId: string;
      readonly clientSecret: string;
      readonly tokenUrl: string;
      /** Whether all of them are stored, so that the tokens they obtain may be stored too. */
      readonly isStored: boolean;
    };

/** A stored secret that is not used, because the environment names an address that it was not stored for. */
export interface WithheldSecret {
  readonly secret: "token" | "client secret";
  /** What names the other address: `PAYLINK_BASE_URL`. */
  readonly variable: string;
  readonly address: string;
  /** The address that it was stored for; undefined where the profile has none. */
  readonly stored: string | undefined;
}

/** A variable that is set and not used: it is empty, or its name is nearly that of another one, which is meant. */
export interface UnreadVariable {
  readonly name: string;
  readonly meant?: string | undefined;
}

export interface ResolvedSettings {
  /** The name of the profile; undefined without a profile: all values then come from the environment. */
  readonly profile: string | undefined;
  /** Whether real money may move. Only the profile that `paylink sandbox` wrote is the sandbox, at its own address. */
  readonly label: ServiceLabel;
  /** Undefined without a token and without complete credentials. Where one source has both, the credentials are used. */
  readonly login: Login | undefined;
  readonly withheld: WithheldSecret | undefined;
  /** The parts of the account that replace those of the profile: `token from PAYLINK_TOKEN`. */
  readonly replaced: readonly string[];
  /**
   * The variables of an account that say nothing, where the current profile would be used in their place although it is not known to be for
   * tests: empty, as a job without its secrets has them, or misspelled.
   */
  readonly unread: readonly UnreadVariable[];
  /** The value in force with its source; undefined if nothing sets it, or if what sets it does not count here. */
  find<Key extends SettingKey>(key: Key): ResolvedSetting<Key> | undefined;
  /** The value alone. */
  get<Key extends SettingKey>(key: Key): SettingValue<Key> | undefined;
}

interface SettingSources {
  /** The name of the profile, and what it holds; without them, having no profile. */
  readonly name?: string | undefined;
  readonly profile?: Profile | undefined;
  /** Whether `--profile` names it. */
  readonly isNamed?: boolean;
  readonly env: Environment;
}

/** Throws `usage` with every variable that has an invalid value. */
export function resolveSettings({ name, profile, isNamed = false, env }: SettingSources): ResolvedSettings {
  const variables = settingsFrom(env);
  const sides = { account: storedAccount(profile), variables, isNamed };
  const elsewhere = addressesElsewhere(sides);
  const left = settingsLeftOut(sides, elsewhere);
  const stored = [
    { source: "profile", values: withoutSettings(profile ?? {}, left) },
    { source: "service", values: withoutSettings(serviceOf(profile), left) },
  ] as const;
  const variable = { source: "environment", values: variables } as const;
  // A command for the sandbox must not reach the account of a shell that is set up for a live one.
  const layers = isNamed ? [...stored, variable] : [variable, ...stored];
  const find: Find = (key) => {
    for (const { source, values } of layers) {
      const value = values[key];
      if (value !== undefined) return { value, source };
    }
    // A built-in service without this address must not be asked at the default one.
    const value = Object.hasOwn(stored[1].values, key) ? undefined : defaultOf(key);
    return value === undefined ? undefined : { value, source: "default" };
  };
  const get = <Key extends SettingKey>(key: Key): SettingValue<Key> | undefined => find(key)?.value;
  const address = find("baseUrl");
  const isSandbox =
    name === SANDBOX_PROFILE &&
    address?.source === "profile" &&
    isLoopback(parseWebAddress(address.value)?.hostname ?? "");
  const login = resolveLogin(find, isNamed ? ["profile", "environment"] : ["environment", "profile"]);
  const label = isSandbox ? "sandbox" : serviceLabel(address?.value ?? "");
  const isUnnamed = profile !== undefined && !isNamed && !env[PROFILE_VARIABLE]?.trim();
  return {
    profile: profile === undefined ? undefined : name,
    label,
    login,
    unread:
      isUnnamed && login !== undefined && !isForTests(label)
        ? [...emptyVariables(env, find, login), ...misspelledVariables(env)]
        : [],
    withheld: login === undefined ? withheldSecret(sides, left, elsewhere) : undefined,
    replaced: profile === undefined ? [] : replacedParts(find, login),
    find,
    get,
  };
}

type Find = ResolvedSettings["find"];

const serviceOf = (profile: Profile | undefined): Profile =>
  (profile?.service && SERVICES[profile.service].settings) ?? {};

/** The profile with what its service gives. */
const storedAccount = (profile: Profile = {}): Profile => ({
  ...serviceOf(profile),
  ...Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined)),
});

/** What is stored, and what the environment says beside it. */
interface AccountSides {
  readonly account: Profile;
  readonly variables: Profile;
  readonly isNamed: boolean;
}

/** Whether the environment says what this is, and not the account. */
const isOfVariable = (key: SettingKey, { account, variables, isNamed }: AccountSides): boolean =>
  variables[key] !== undefined && !(isNamed && account[key] !== undefined);

type SecretAddress = "baseUrl" | "tokenUrl";

/** The addresses in the environment that the stored secrets were not stored for. */
function addressesElsewhere(sides: AccountSides): readonly SecretAddress[] {
  const origins = originsOf(sides.account);
  return (["baseUrl", "tokenUrl"] as const).filter(
    (key) => isOfVariable(key, sides) && !origins.has(originOf(sides.variables[key] ?? "")),
  );
}

/** What is stored, and is no part of the account that the environment describes. */
function settingsLeftOut(sides: AccountSides, elsewhere: readonly SecretAddress[]): readonly SettingKey[] {
  const ofService: SettingKey[] = ["token", "tokenUrl"];
  // A path of the profile holds at another address too.
  if (!sides.account.transactionUrl?.startsWith("/")) ofService.push("transactionUrl");
  return [
    ...(elsewhere.includes("baseUrl") ? ofService : []),
    ...(elsewhere.length > 0 ? (["clientSecret"] as const) : []),
    // It would take failed payments away from the address for the others that the environment gives.
    ...(isOfVariable("callbackUrl", sides) ? (["failureCallbackUrl"] as const) : []),
  ];
}

/** Where secrets of an account go: the base URL, the token URL, and a whole URL of transactions. */
export const originsOf = ({ baseUrl, tokenUrl, transactionUrl }: Profile): ReadonlySet<string> =>
  new Set(
    [baseUrl, tokenUrl, transactionUrl].map((address = "") => originOf(address)).filter((one) => one !== ""),
  );

/** Where the stored secrets of the account would go after a change, and do not go before it. None without secrets. */
export function newOrigins(before: Profile, after: Profile): readonly string[] {
  if (after.token === undefined && after.clientSecret === undefined) return [];
  const known = originsOf(storedAccount(before));
  return [...originsOf(storedAccount(after))].filter((origin) => !known.has(origin));
}

/** Empty for a path. */
const originOf = (address: string): string => parseWebAddress(address)?.origin ?? "";

/** The first source that has a token, or a secret with all that it needs. */
function resolveLogin(find: Find, sources: readonly SettingSource[]): Login | undefined {
  for (const source of sources) {
    const [secret, id, url, token] = [
      find("clientSecret"),
      find("clientId"),
      find("tokenUrl"),
      find("token"),
    ];
    if (secret?.source === source && id !== undefined && url !== undefined)
      return {
        kind: "credentials",
        clientId: id.value,
        clientSecret: secret.value,
        tokenUrl: url.value,
        isStored: [secret, id, url].every((one) => one.source === "profile" || one.source === "service"),
      };
    if (token?.source === source) return { kind: "token", token: token.value };
  }
  return undefined;
}

function withheldSecret(
  { account, variables }: AccountSides,
  left: readonly SettingKey[],
  [elsewhere]: readonly SecretAddress[],
): WithheldSecret | undefined {
  const secrets = { clientSecret: "client secret", token: "token" } as const;
  const key = (["clientSecret", "token"] as const).find(
    (one) => left.includes(one) && account[one] !== undefined && variables[one] === undefined,
  );
  if (key === undefined || elsewhere === undefined) return undefined;
  return {
    secret: secrets[key],
    variable: SETTINGS[elsewhere].variable,
    address: variables[elsewhere] ?? "",
    stored: account[elsewhere] ?? account.baseUrl,
  };
}

/** In the order in which people read them. */
const ACCOUNT_PARTS = [
  ["baseUrl", "address"],
  ["token", "token"],
  ["clientId", "client id"],
  ["clientSecret", "client secret"],
  ["tokenUrl", "token URL"],
] as const;

function replacedParts(find: Find, login: Login | undefined): string[] {
  const unused: readonly string[] =
    login?.kind === "token" ? ["clientId", "clientSecret", "tokenUrl"] : ["token"];
  return ACCOUNT_PARTS.flatMap(([key, words]) =>
    find(key)?.source === "environment" && !unused.includes(key)
      ? [`${words} from ${SETTINGS[key].variable}`]
      : [],
  );
}

function emptyVariables(env: Environment, find: Find, { kind }: Login): UnreadVariable[] {
  const isEmpty = (variable: string): boolean => env[variable]?.trim() === "";
  const isStored = (key: SettingKey): boolean =>
    ["profile", "service"].some((source) => find(key)?.source === source);
  const secret = kind === "token" ? "token" : "clientSecret";
  const ofAccount = ACCOUNT_PARTS.flatMap(([key]) => {
    const { variable } = SETTINGS[key];
    // One secret takes the place of the other.
    const inPlace = SETTINGS[key].secret === true ? secret : key;
    return isEmpty(variable) && isStored(inPlace) ? [variable] : [];
  });
  return [...[PROFILE_VARIABLE].filter(isEmpty), ...ofAccount].map((name) => ({ name }));
}

const PROFILE_VARIABLE = "PAYLINK_PROFILE";

const isOneLetterOff = (edits: number): boolean => edits <= 1;

/** Other programs may have variables of their own that begin with PAYLINK_: only a name that is nearly one of these is taken for it. */
function misspelledVariables(env: Environment): UnreadVariable[] {
  const known = [PROFILE_VARIABLE, ...ACCOUNT_PARTS.map(([key]) => SETTINGS[key].variable)];
  return Object.keys(env).flatMap((name) => {
    const isOther = /^PAYLINK_/i.test(name) && !known.includes(name) && env[name]?.trim() !== "";
    const meant = isOther ? nearest(name, known, isOneLetterOff) : undefined;
    return meant === undefined ? [] : [{ name, meant }];
  });
}

function defaultOf<Key extends SettingKey>(key: Key): SettingValue<Key> | undefined {
  const read = SETTINGS[key].parse(SETTINGS[key].default);
  return read.ok ? read.value : undefined;
}

/** The settings in the environment. An empty variable counts as absent. */
function settingsFrom(env: Environment): Profile {
  const texts: Partial<Record<SettingKey, string>> = {};
  for (const key of SETTING_KEYS) {
    const { variable = "" } = SETTINGS[key];
    const text = env[variable];
    if (text !== undefined && text.trim() !== "") texts[key] = text;
  }
  if (Object.keys(texts).length === 0) return {};
  const { profile, problems } = readProfile(texts);
  if (problems.length === 0) return profile;
  throw new PaylinkError("usage", "The environment has invalid settings.", {
    consequence: "Nothing was sent.",
    problems: problems.map(({ key, message, mayBeSecret }) => {
      const { variable = key } = SETTINGS[key];
      const quoted = mayBeSecret ? "" : ` (got "${withoutPassword(texts[key] ?? "")}")`;
      return { at: variable, message: `${message}${quoted}` };
    }),
    hints: [hint`To see each setting with an example: ${paylink`help settings`}`],
  });
}
