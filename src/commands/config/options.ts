/** Turns the arguments of `config` into a setting and the value that is stored for it. */
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { parseHeaderName } from "../../domain/header-field.ts";
import { nearest } from "../../domain/nearest.ts";
import { accepted, refused, type Parsed } from "../../domain/parse-result.ts";
import { withoutPassword } from "../../domain/addresses.ts";
import { parseWhen } from "../../domain/time.ts";
import { parseSetting, type Profile, type SettingValue } from "../../settings/profile.ts";
import {
  CONFIG_KEYS,
  type ConfigKey,
  isConfigKey,
  isSettingKey,
  SETTINGS,
} from "../../settings/setting-table.ts";
import type { Headers } from "../../settings/setting-values.ts";

/** A setting, or one header of `headers`. */
export interface SettingName {
  readonly key: ConfigKey;
  readonly header: string | undefined;
  /** As typed. */
  readonly text: string;
}

/** Throws `usage` for a name that is not a setting, or is a secret. */
export function settingName(text: string): SettingName {
  const [, header] = /^headers\.(.*)$/.exec(text) ?? [];
  if (header !== undefined) return { key: "headers", header: headerOf(text, header), text };
  if (isConfigKey(text)) return { key: text, header: undefined, text };
  if (isSettingKey(text))
    throw new PaylinkError("usage", `${text} is a secret. paylink config does not show or set secrets.`, {
      hints: [hint`To store it: ${paylink("login")}`, hint`To delete it: ${paylink("logout")}`],
    });
  const near = nearest(text, CONFIG_KEYS);
  const meant = near === undefined ? `The settings are ${CONFIG_KEYS.join(", ")}.` : `Did you mean ${near}?`;
  throw new PaylinkError("usage", `There is no setting named ${text}. ${meant}`, {
    hints:
      near === undefined ? [hint`To see each setting with an example: ${paylink("help", "settings")}`] : [],
    corrections: near === undefined ? undefined : [{ typed: text, instead: near }],
  });
}

function headerOf(text: string, header: string): string {
  const name = parseHeaderName(header);
  if (name.ok) return name.value;
  throw new PaylinkError("usage", "Nothing was stored.", { problems: [{ at: text, message: name.message }] });
}

/** A value that was checked, and how it is stored. */
interface NewValue {
  readonly value: SettingValue<ConfigKey>;
  readonly storedIn: (before: Profile) => Profile;
}

/** Throws `usage` for a value that the setting cannot have. */
export function newValue(name: SettingName, texts: readonly string[], now: Date, before: Profile): NewValue {
  const read = readValue(name, texts, now, before);
  if (read.ok) return read.value;
  const message = `${read.message} (got "${texts.map(withoutPassword).join(" ")}")`;
  throw new PaylinkError("usage", "Nothing was stored.", {
    problems: [{ at: name.text, message }],
    hints: [hint`Try: ${paylink("config", "set", ...exampleOf(name))}`],
  });
}

/** What may follow `paylink config set`. */
const exampleOf = ({ key, header, text }: SettingName): readonly string[] => [
  text,
  header === undefined ? (SETTINGS[key].example ?? "<value>") : "7",
];

function readValue(
  { key, header }: SettingName,
  texts: readonly string[],
  now: Date,
  before: Profile,
): Parsed<NewValue> {
  const [text = "", ...more] = texts;
  const given = more.length === 0 ? text : texts;
  if (header !== undefined) {
    const one = parseSetting("headers")({ [header]: given });
    if (!one.ok) return one;
    return accepted({ value: text.trim(), storedIn: (before) => withHeader(before, header, one.value) });
  }
  const read = parseSetting(key)(given);
  if (!read.ok) return read;
  const problem = problemNow(key, text, now, before);
  if (problem !== undefined) return refused(problem);
  return accepted({ value: read.value, storedIn: (before) => ({ ...before, [key]: read.value }) });
}

/** What is wrong with a value that its setting allows, at this time or with this profile. */
function problemNow(key: ConfigKey, text: string, now: Date, { clientKey }: Profile): string | undefined {
  if (key === "expires") {
    const expiry = parseWhen(text, now);
    if (!expiry.ok) return expiry.message;
    return expiry.value <= now ? "must be in the future" : undefined;
  }
  if (key === "eventStore" && withoutPassword(text) !== text)
    return "must not have a password: use PAYLINK_DB, PGPASSWORD or .pgpass";
  if (key === "clientCert" && clientKey === undefined) return "needs a key: set clientKey first";
  return undefined;
}

/** The names of headers are compared in any case. */
export const withoutHeader = ({ headers, ...others }: Profile, header: string): Profile => {
  const left = Object.entries(headers ?? {}).filter(([name]) => name.toLowerCase() !== header.toLowerCase());
  return left.length === 0 ? others : { ...others, headers: Object.fromEntries(left) };
};

function withHeader(before: Profile, header: string, value: Headers): Profile {
  return { ...before, headers: { ...withoutHeader(before, header).headers, ...value } };
}
