/** Which value is in force: the flag, then the environment, then the profile, then the built-in default. */
import { PaylinkError } from "../../domain/errors.ts";
import type { Profile, SettingKey } from "./profile.ts";

/** The environment variables that paylink reads, by the setting each stands for. */
export const VARIABLES = {
  baseUrl: "PAYLINK_BASE_URL",
  token: "PAYLINK_TOKEN",
  terminalId: "PAYLINK_TERMINAL_ID",
  webhookKey: "PAYLINK_WEBHOOK_KEY",
  callbackUrl: "PAYLINK_CALLBACK_URL",
  clientId: "PAYLINK_CLIENT_ID",
  clientSecret: "PAYLINK_CLIENT_SECRET",
  tokenUrl: "PAYLINK_TOKEN_URL",
} as const satisfies Partial<Record<SettingKey, string>>;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a transaction is read unless the profile names another path: the specification does not say. */
export const TRANSACTION_PATH = "/v1/transactions/{uti}";

const DEFAULTS: Profile = { expires: "7d", transactionPath: TRANSACTION_PATH };

export type Source = "flag" | "environment" | "profile" | "default";

export interface Setting {
  readonly value: string;
  readonly source: Source;
}

export interface InForce {
  /** The profile's name; undefined if there is none and all values come from flags and environment. */
  readonly profile: string | undefined;
  /** The value in force with its source; undefined if there is none. */
  find(key: SettingKey, flag?: string): Setting | undefined;
  /** The value alone. */
  get(key: SettingKey, flag?: string): string | undefined;
}

interface Sources {
  /** The profile that `--profile` names; it wins over PAYLINK_PROFILE. */
  readonly named: string | undefined;
  readonly env: Environment;
  readonly current: string | undefined;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Throws `no_profile` if the named profile does not exist. Without a name, having no profile is allowed. */
export function inForce({ named, env, current, profiles }: Sources): InForce {
  const asked = named ?? (env["PAYLINK_PROFILE"] || undefined);
  const name = asked ?? current;
  const chosen = name !== undefined && Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (asked !== undefined && chosen === undefined) throw noSuchProfile(asked, Object.keys(profiles));
  const variables: Readonly<Partial<Record<SettingKey, string>>> = VARIABLES;
  const find = (key: SettingKey, flag?: string): Setting | undefined => {
    const variable = variables[key];
    const candidates: [Source, string | undefined][] = [
      ["flag", flag],
      ["environment", variable === undefined ? undefined : env[variable] || undefined],
      ["profile", chosen?.[key]],
      ["default", DEFAULTS[key]],
    ];
    for (const [source, value] of candidates) if (value !== undefined) return { value, source };
    return undefined;
  };
  return {
    profile: chosen === undefined ? undefined : name,
    find,
    get: (key, flag) => find(key, flag)?.value,
  };
}

function noSuchProfile(name: string, names: readonly string[]): PaylinkError {
  const known = names.length > 0 ? ` The profiles are ${names.join(", ")}.` : "";
  return new PaylinkError("no_profile", `There is no profile named ${name}.${known}`);
}
