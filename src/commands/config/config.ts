/** `paylink config`: shows and changes the settings of a profile. */
import type { Context } from "../../context.ts";
import { hint, paylink, PaylinkError } from "../../domain/errors.ts";
import { clip, safeText } from "../../render/safe-text.ts";
import { namedProfile, type ResolvedSettings, type Setting } from "../../settings/resolved-settings.ts";
import {
  profileNamed,
  type Profile,
  type SettingValue,
  shownSetting,
  without,
  withoutAccessToken,
} from "../../settings/profile.ts";
import { DEFAULT_PROFILE } from "../../settings/profile-names.ts";
import { CONFIG_KEYS, SETTINGS, type ConfigKey } from "../../settings/setting-table.ts";
import { newValue, settingName, withoutHeader, type SettingName } from "./options.ts";

/** A webhook key may be stored as its whole text; `get` prints all of it. */
const LONGEST_VALUE = 100;

export async function listSettings(context: Context): Promise<number> {
  const { out } = context;
  const settings = await context.settings();
  const profile = profileInForce(context, settings);
  if (out.json) {
    const values = Object.fromEntries(CONFIG_KEYS.map((key) => [key, documentOf(settings.find(key))]));
    out.data(JSON.stringify({ profile, settings: values }));
    return 0;
  }
  const row = (label: string, value = "-", source = ""): void =>
    out.lines([
      `${out.paint.bold(label.padEnd(20))}${clip(safeText(value), LONGEST_VALUE)}${source === "" ? "" : `  ${out.paint.dim(`(${source})`)}`}`,
    ]);
  row("profile", profile?.name, profile?.source);
  for (const key of CONFIG_KEYS) {
    const found = settings.find(key);
    row(key, found && shownSetting(found.value), found?.source);
  }
  return 0;
}

function profileInForce(
  { profile }: Context,
  settings: ResolvedSettings,
): { readonly name: string; readonly source: string } | null {
  if (settings.profile === undefined) return null;
  if (settings.named === undefined) return { name: settings.profile, source: "current" };
  return { name: settings.profile, source: profile === undefined ? "environment" : "flag" };
}

/** A value in a JSON document, without the password of a URL. */
const documentOf = (found: Setting | undefined): object | null =>
  found === undefined ? null : { ...found, value: safeValue(found.value) };

const safeValue = (value: SettingValue<ConfigKey>): SettingValue<ConfigKey> =>
  typeof value === "string" ? shownSetting(value) : value;

export async function printSetting({ out, settings }: Context, text: string): Promise<number> {
  const name = settingName(text);
  const found = valueInForce(await settings(), name);
  if (out.json)
    out.data(JSON.stringify({ key: text, ...(documentOf(found) ?? { value: null, source: null }) }));
  else if (found === undefined)
    throw new PaylinkError("usage", `${text} is not set.`, {
      hints: [hint`Try: ${paylink("config", "list")}`],
    });
  else out.data(safeText(shownSetting(found.value)));
  return 0;
}

function valueInForce(settings: ResolvedSettings, { key, header }: SettingName): Setting | undefined {
  if (header === undefined) return settings.find(key);
  const all = settings.find("headers");
  const one = Object.entries(all?.value ?? {}).find(([name]) => name.toLowerCase() === header.toLowerCase());
  return all === undefined || one === undefined ? undefined : { value: one[1], source: all.source };
}

export async function storeSetting(
  context: Context,
  text: string,
  values: readonly string[],
): Promise<number> {
  const { out, profile, env } = context;
  const name = settingName(text);
  const stored = await context.profiles();
  const target = namedProfile(profile, env) ?? stored.current() ?? DEFAULT_PROFILE;
  const { value, storedIn } = newValue(
    name,
    values,
    context.now(),
    profileNamed(stored.profiles(), target) ?? {},
  );
  await stored.change(target, (before) => storedIn(withoutOldToken(name, before)));
  if (out.json) out.data(JSON.stringify({ profile: target, key: text, value }));
  else out.data(`${text} of profile ${safeText(target)} is now ${safeText(shownSetting(value))}.`);
  return 0;
}

const withoutOldToken = ({ key }: SettingName, before: Profile): Profile =>
  SETTINGS[key].ofToken === true ? withoutAccessToken(before) : before;

export async function removeSetting({ out, settings, profiles }: Context, text: string): Promise<number> {
  const name = settingName(text);
  const { profile } = await settings();
  if (profile === undefined) throw new PaylinkError("no_profile", "There is no profile to change.");
  const stored = await profiles();
  refuseKeyInUse(name, profileNamed(stored.profiles(), profile) ?? {});
  await stored.change(profile, (before) => {
    const rest = withoutOldToken(name, before);
    return name.header === undefined ? without(rest, [name.key]) : withoutHeader(rest, name.header);
  });
  if (out.json) out.data(JSON.stringify({ profile, key: text, value: null }));
  else out.data(`Removed ${text} from profile ${safeText(profile)}.`);
  return 0;
}

function refuseKeyInUse({ key }: SettingName, { clientCert }: Profile): void {
  if (key === "clientKey" && clientCert !== undefined)
    throw new PaylinkError("usage", "clientCert needs clientKey. Nothing was changed.", {
      hints: [hint`Try: ${paylink("config", "unset", "clientCert")}`],
    });
}

export async function printPath({ out, profiles }: Context): Promise<number> {
  const { path } = await profiles();
  out.data(out.json ? JSON.stringify({ path }) : path);
  return 0;
}
