/** `paylink config`: shows and changes the defaults of a profile, and which profile is current. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { clip, safeText } from "../../render/safe-text.ts";
import type { InForce } from "../../store/settings/in-force.ts";
import {
  DEFAULT_PROFILE,
  defaultKeys,
  without,
  withoutAccessToken,
  type DefaultKey,
} from "../../store/settings/profile.ts";
import { settingKey, settingValue } from "./options.ts";

/** A webhook key may be stored as its whole text; `get` prints all of it. */
const LONGEST_VALUE = 100;

export async function listSettings(context: Context): Promise<number> {
  const { out } = context;
  const settings = await context.settings();
  const profile = profileInForce(context, settings);
  if (out.json) {
    const values = Object.fromEntries(defaultKeys().map((key) => [key, settings.find(key) ?? null]));
    out.data(JSON.stringify({ profile, settings: values }));
    return 0;
  }
  const row = (label: string, value = "-", source = ""): void =>
    out.lines([
      `${out.paint.bold(label.padEnd(20))}${clip(safeText(value), LONGEST_VALUE)}${source === "" ? "" : `  ${out.paint.dim(`(${source})`)}`}`,
    ]);
  row("profile", profile?.name, profile?.source);
  for (const key of defaultKeys()) {
    const found = settings.find(key);
    row(key, found?.value, found?.source);
  }
  return 0;
}

function profileInForce(
  { profile, env }: Context,
  settings: InForce,
): { readonly name: string; readonly source: string } | null {
  if (settings.profile === undefined) return null;
  const source = profile !== undefined ? "flag" : env["PAYLINK_PROFILE"] ? "environment" : "current";
  return { name: settings.profile, source };
}

export async function printSetting({ out, settings }: Context, name: string): Promise<number> {
  const key = settingKey(name);
  const found = (await settings()).find(key);
  if (out.json) out.data(JSON.stringify({ key, ...(found ?? { value: null, source: null }) }));
  else if (found === undefined)
    throw new PaylinkError("usage", `${key} is not set.`, { hint: "Try: paylink config list" });
  else out.data(safeText(found.value));
  return 0;
}

export async function storeSetting(context: Context, name: string, text: string): Promise<number> {
  const { out, now, profile, env } = context;
  const key = settingKey(name);
  const value = settingValue(key, text, now());
  const settings = await context.profiles();
  const target = profile ?? (env["PAYLINK_PROFILE"] || undefined) ?? settings.current() ?? DEFAULT_PROFILE;
  await settings.change(target, (before) => ({
    ...(belongsToToken(key) ? withoutAccessToken(before) : before),
    [key]: value,
  }));
  if (out.json) out.data(JSON.stringify({ profile: target, key, value }));
  else out.data(`${key} of profile ${safeText(target)} is now ${safeText(value)}.`);
  return 0;
}

/** An access token that was obtained with the old value must not be used with the new one. */
const belongsToToken = (key: DefaultKey): boolean =>
  key === "clientId" || key === "tokenUrl" || key === "baseUrl";

export async function removeSetting({ out, settings, profiles }: Context, name: string): Promise<number> {
  const key = settingKey(name);
  const { profile } = await settings();
  if (profile === undefined) throw new PaylinkError("no_profile", "There is no profile to change.");
  await (
    await profiles()
  ).change(profile, (before) => {
    const rest = without(before, [key]);
    return belongsToToken(key) ? withoutAccessToken(rest) : rest;
  });
  if (out.json) out.data(JSON.stringify({ profile, key, value: null }));
  else out.data(`${key} of profile ${safeText(profile)} is unset.`);
  return 0;
}

export async function useProfile({ out, profiles }: Context, name: string): Promise<number> {
  const settings = await profiles();
  const names = Object.keys(settings.profiles());
  if (!names.includes(name))
    throw new PaylinkError("no_profile", `There is no profile named ${name}.`, {
      hint: names.length === 0 ? undefined : `Profiles: ${names.join(", ")}`,
    });
  await settings.use(name);
  if (out.json) out.data(JSON.stringify({ current: name }));
  else out.data(`${safeText(name)} is the current profile now.`);
  return 0;
}

export async function printPath({ out, profiles }: Context): Promise<number> {
  const { path } = await profiles();
  out.data(out.json ? JSON.stringify({ path }) : path);
  return 0;
}
