/** `paylink config`: the profile's defaults, with refusals by name; secrets are neither shown nor set here. */
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { nearest } from "../../domain/nearest.ts";
import { parseWhen } from "../../domain/when.ts";
import { clip, safeText } from "../../render/safe-text.ts";
import { settingProblem, storedSetting } from "../../store/change.ts";
import { settingsInForce, type InForce } from "../../store/in-force.ts";
import {
  defaultKeys,
  isDefaultKey,
  isSecretKey,
  without,
  withoutAccessToken,
  type DefaultKey,
} from "../../store/profile.ts";

/** The profile that is made where a value is set and there is none. */
const DEFAULT_PROFILE = "default";

/** A key may stand here as its whole text; `get` prints all of it. */
const LONGEST_VALUE = 100;

export async function list(context: Context): Promise<void> {
  const { out } = context;
  const settings = await settingsInForce(context);
  const profile = profileInForce(context, settings);
  if (out.json) {
    const values = Object.fromEntries(defaultKeys().map((key) => [key, settings.find(key) ?? null]));
    return out.data(JSON.stringify({ profile, settings: values }));
  }
  const rows = defaultKeys().map((key) => [key, settings.find(key)] as const);
  out.data(row("profile", profile?.name ?? "-", profile?.source ?? ""));
  for (const [key, found] of rows) out.data(row(key, found?.value ?? "-", found?.source ?? ""));

  function row(label: string, value: string, source: string): string {
    return `${out.paint.bold(label.padEnd(20))}${clip(safeText(value), LONGEST_VALUE)}${source === "" ? "" : `  ${out.paint.dim(`(${source})`)}`}`;
  }
}

function profileInForce(
  { profile, env }: Context,
  settings: InForce,
): { readonly name: string; readonly source: string } | null {
  if (settings.profile === undefined) return null;
  const source = profile !== undefined ? "flag" : env["PAYLINK_PROFILE"] ? "environment" : "current";
  return { name: settings.profile, source };
}

export async function get(context: Context, key: string): Promise<void> {
  const { out } = context;
  const known = knownKey(key);
  const found = (await settingsInForce(context)).find(known);
  if (out.json) return out.data(JSON.stringify({ key: known, ...(found ?? { value: null, source: null }) }));
  if (found === undefined)
    throw new PaylinkError("usage", `${known} is not set.`, { hint: "Try: paylink config list" });
  out.data(safeText(found.value));
}

export async function set(context: Context, key: string, value: string): Promise<void> {
  const { out, now } = context;
  const known = knownKey(key);
  const problem =
    settingProblem(known, value) ?? (known === "expires" ? expiryProblem(value, now()) : undefined);
  if (problem !== undefined)
    throw new PaylinkError("usage", "Nothing was stored.", { problems: [{ at: known, message: problem }] });
  const settings = await context.settings();
  const name = nameToChange(context, settings.current());
  const stored = storedSetting(known, known === "webhookKey" ? lasting(value) : value);
  await settings.change(name, (profile) => ({
    ...(opensAccount(known) ? withoutAccessToken(profile) : profile),
    [known]: stored,
  }));
  if (out.json) out.data(JSON.stringify({ profile: name, key: known, value: stored }));
  else out.data(`${known} of profile ${safeText(name)} is now ${safeText(stored)}.`);
}

function expiryProblem(text: string, now: Date): string | undefined {
  const expiry = parseWhen(text, now);
  if (!expiry.ok) return expiry.message;
  return expiry.value > now ? undefined : "must be in the future";
}

/** A token that other credentials obtained must not outlive them. */
const opensAccount = (key: DefaultKey): boolean =>
  key === "clientId" || key === "tokenUrl" || key === "baseUrl";

/** A file is found from wherever paylink runs later; a URL, and a key's own text, stay as they are. */
const lasting = (source: string): string =>
  /^https?:|^\s*(?:-----|\{)/i.test(source) ? source : resolve(source);

export async function unset(context: Context, key: string): Promise<void> {
  const { out } = context;
  const known = knownKey(key);
  const { profile } = await settingsInForce(context);
  if (profile === undefined) throw new PaylinkError("no_profile", "There is no profile to change.");
  await (
    await context.settings()
  ).change(profile, (before) => {
    const rest = without(before, [known]);
    return opensAccount(known) ? withoutAccessToken(rest) : rest;
  });
  if (out.json) out.data(JSON.stringify({ profile, key: known, value: null }));
  else out.data(`${known} of profile ${safeText(profile)} is unset.`);
}

export async function use(context: Context, name: string): Promise<void> {
  const { out } = context;
  const settings = await context.settings();
  const names = Object.keys(settings.profiles());
  if (!names.includes(name))
    throw new PaylinkError("no_profile", `There is no profile named ${name}.`, {
      hint: names.length === 0 ? undefined : `There is ${names.join(", ")}.`,
    });
  await settings.use(name);
  if (out.json) out.data(JSON.stringify({ current: name }));
  else out.data(`${safeText(name)} is the current profile now.`);
}

export async function path(context: Context): Promise<void> {
  const { out } = context;
  const settings = await context.settings();
  out.data(out.json ? JSON.stringify({ path: settings.path }) : settings.path);
}

function nameToChange({ profile, env }: Context, current: string | undefined): string {
  return profile ?? (env["PAYLINK_PROFILE"] || undefined) ?? current ?? DEFAULT_PROFILE;
}

function knownKey(key: string): DefaultKey {
  if (isDefaultKey(key)) return key;
  if (isSecretKey(key))
    throw new PaylinkError("usage", `${key} is a secret: it is neither shown nor set here.`, {
      hint: "paylink login   stores it; paylink logout forgets it",
    });
  const near = nearest(key, defaultKeys());
  const meant = near === undefined ? `There is ${defaultKeys().join(", ")}.` : `Did you mean ${near}?`;
  throw new PaylinkError("usage", `There is no setting named ${key}. ${meant}`);
}
