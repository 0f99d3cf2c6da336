/**
 * The settings of a run: each value from its flag, else the environment, the profile, the service or the built-in default. A profile
 * that `--profile` names comes before the environment.
 */
import { hint, paylink, PaylinkError } from "../domain/errors.ts";
import { serviceLabel, SERVICES, type ServiceLabel } from "../domain/known-services.ts";
import { SANDBOX_PROFILE, isLoopback, parseWebAddress, withoutPassword } from "../domain/addresses.ts";
import {
  parseSetting,
  profileNamed,
  readProfile,
  type Profile,
  type Profiles,
  type SettingValue,
} from "./profile.ts";
import { namedProfile, noSuchProfile } from "./profile-names.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey } from "./setting-table.ts";
import type { SettingsFile } from "./settings-file.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Source = "flag" | "environment" | "profile" | "service" | "default";

export interface Setting<Key extends SettingKey = SettingKey> {
  readonly value: SettingValue<Key>;
  readonly source: Source;
}

export interface ResolvedSettings {
  /** The name of the profile; undefined without a profile: all values then come from flags and environment. */
  readonly profile: string | undefined;
  /** The name again if `--profile` or PAYLINK_PROFILE gave it; undefined for the current profile. */
  readonly named: string | undefined;
  /** Whether real money may move. Only the profile that `paylink sandbox` wrote is the sandbox, at its own address. */
  readonly label: ServiceLabel;
  /** The value in force with its source; undefined if nothing sets it. `flag` is the value of the flag. */
  find<Key extends SettingKey>(key: Key, flag?: SettingValue<Key>): Setting<Key> | undefined;
  /** The value alone. */
  get<Key extends SettingKey>(key: Key, flag?: SettingValue<Key>): SettingValue<Key> | undefined;
}

interface Sources {
  /** The profile that `--profile` names. */
  readonly named: string | undefined;
  readonly env: Environment;
  readonly current: string | undefined;
  readonly profiles: Profiles;
}

/**
 * Throws `no_profile` if the named profile does not exist, and `usage` with every variable that has an invalid value.
 * Without a name, having no profile is allowed.
 */
export function resolveSettings({ named, env, current, profiles }: Sources): ResolvedSettings {
  const asked = namedProfile(named, env);
  const name = asked ?? current;
  const chosen = name === undefined ? undefined : profileNamed(profiles, name);
  if (asked !== undefined && chosen === undefined) throw noSuchProfile(asked, Object.keys(profiles));
  const variables = settingsFrom(env);
  const service: Profile | undefined = chosen?.service && SERVICES[chosen.service].settings;
  const find = <Key extends SettingKey>(key: Key, flag?: SettingValue<Key>): Setting<Key> | undefined => {
    // A built-in service without this address must not be asked at the default one.
    const byService = service !== undefined && Object.hasOwn(service, key);
    type Candidate = [Source, SettingValue<Key> | undefined];
    const variable: Candidate = ["environment", variables[key]];
    const account: Candidate[] = [
      ["profile", chosen?.[key]],
      ["service", service?.[key]],
    ];
    const candidates: Candidate[] = [
      ["flag", flag],
      // A command for the sandbox must not reach the account of a shell that is set up for a live one.
      ...(named === undefined ? [variable, ...account] : [...account, variable]),
      ["default", byService ? undefined : defaultOf(key)],
    ];
    for (const [source, value] of candidates) if (value !== undefined) return { value, source };
    return undefined;
  };
  const address = find("baseUrl");
  const isSandbox =
    name === SANDBOX_PROFILE &&
    address?.source === "profile" &&
    isLoopback(parseWebAddress(address.value)?.hostname ?? "");
  return {
    profile: chosen === undefined ? undefined : name,
    named: asked,
    label: isSandbox ? "sandbox" : serviceLabel(address?.value ?? ""),
    find,
    get: (key, flag) => find(key, flag)?.value,
  };
}

function defaultOf<Key extends SettingKey>(key: Key): SettingValue<Key> | undefined {
  const read = parseSetting(key)(SETTINGS[key].default);
  return read.ok ? read.value : undefined;
}

/** The settings in the environment. An empty variable counts as absent. */
function settingsFrom(env: Environment): Profile {
  const texts: Partial<Record<SettingKey, string>> = {};
  for (const key of SETTING_KEYS) {
    const { variable = "" } = SETTINGS[key];
    const text = env[variable];
    if (text) texts[key] = text;
  }
  if (Object.keys(texts).length === 0) return {};
  const { profile, problems } = readProfile(texts);
  if (problems.length === 0) return profile;
  throw new PaylinkError("usage", "The environment has invalid settings. Nothing was sent.", {
    problems: problems.map(({ key, message }) => {
      const { variable = key, secret } = SETTINGS[key];
      const quoted = secret === true ? "" : ` (got "${withoutPassword(texts[key] ?? "")}")`;
      return { at: variable, message: `${message}${quoted}` };
    }),
    hints: [hint`To see each setting with an example: ${paylink("help", "settings")}`],
  });
}

export interface SandboxAddress {
  readonly baseUrl: URL;
  readonly token: string;
}

interface SandboxSources {
  readonly profile: string | undefined;
  readonly env: Environment;
  readonly profiles: () => Promise<SettingsFile>;
}

/**
 * The sandbox for a command: the one that `paylink sandbox` registered. Throws `no_profile` if none is, and `usage` if the
 * command line or PAYLINK_PROFILE names another profile.
 */
export async function findSandbox({ profile, env, profiles }: SandboxSources): Promise<SandboxAddress> {
  const stored = (await profiles()).profiles();
  const named = namedProfile(profile, env) ?? SANDBOX_PROFILE;
  if (named !== SANDBOX_PROFILE) {
    if (profileNamed(stored, named) === undefined) throw noSuchProfile(named, Object.keys(stored));
    throw new PaylinkError("usage", `Profile ${named} is not the sandbox. Nothing was sent.`, {
      hints: [hint`Name the sandbox: --profile ${SANDBOX_PROFILE}`],
    });
  }
  const { baseUrl = "", token = "" } = profileNamed(stored, SANDBOX_PROFILE) ?? {};
  const address = parseWebAddress(baseUrl);
  if (address === undefined)
    throw new PaylinkError("no_profile", "No sandbox is registered.", {
      hints: [hint`To start one in another terminal: ${paylink("sandbox")}`],
    });
  if (!isLoopback(address.hostname))
    throw new PaylinkError(
      "usage",
      `${address.host} is not on this machine, so it is not a sandbox. Nothing was sent.`,
      { hints: [hint`To start one in another terminal: ${paylink("sandbox")}`] },
    );
  return { baseUrl: address, token };
}
