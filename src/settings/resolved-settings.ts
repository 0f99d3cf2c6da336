/**
 * The settings of a run: each value from the environment, else the profile, the service or the built-in default. A profile that
 * `--profile` names comes before the environment.
 */
import { hint, paylink, PaylinkError } from "../domain/errors.ts";
import { serviceLabel, SERVICES, type ServiceLabel } from "../domain/known-services.ts";
import { SANDBOX_PROFILE, isLoopback, parseWebAddress, withoutPassword } from "../domain/addresses.ts";
import { readProfile, type Profile } from "./profile.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey, type SettingValue } from "./setting-table.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export type Source = "environment" | "profile" | "service" | "default";

export interface Setting<Key extends SettingKey = SettingKey> {
  readonly value: SettingValue<Key>;
  readonly source: Source;
}

export interface ResolvedSettings {
  /** The name of the profile; undefined without a profile: all values then come from the environment. */
  readonly profile: string | undefined;
  /** Whether real money may move. Only the profile that `paylink sandbox` wrote is the sandbox, at its own address. */
  readonly label: ServiceLabel;
  /** The value in force with its source; undefined if nothing sets it. */
  find<Key extends SettingKey>(key: Key): Setting<Key> | undefined;
  /** The value alone. */
  get<Key extends SettingKey>(key: Key): SettingValue<Key> | undefined;
}

interface Sources {
  /** The name of the profile, and what it holds; without them, having no profile. */
  readonly name?: string | undefined;
  readonly profile?: Profile | undefined;
  /** Whether `--profile` names it. */
  readonly isNamed?: boolean;
  readonly env: Environment;
}

/** Throws `usage` with every variable that has an invalid value. */
export function resolveSettings({ name, profile, isNamed = false, env }: Sources): ResolvedSettings {
  const variables = settingsFrom(env);
  const service: Profile | undefined = profile?.service && SERVICES[profile.service].settings;
  const find = <Key extends SettingKey>(key: Key): Setting<Key> | undefined => {
    // A built-in service without this address must not be asked at the default one.
    const byService = service !== undefined && Object.hasOwn(service, key);
    type Candidate = [Source, SettingValue<Key> | undefined];
    const variable: Candidate = ["environment", variables[key]];
    const account: Candidate[] = [
      ["profile", profile?.[key]],
      ["service", service?.[key]],
    ];
    const candidates: Candidate[] = [
      // A command for the sandbox must not reach the account of a shell that is set up for a live one.
      ...(isNamed ? [...account, variable] : [variable, ...account]),
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
    profile: profile === undefined ? undefined : name,
    label: isSandbox ? "sandbox" : serviceLabel(address?.value ?? ""),
    find,
    get: (key) => find(key)?.value,
  };
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
