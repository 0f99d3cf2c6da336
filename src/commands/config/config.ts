/** Shows and changes settings: those in force, and those of one profile. */
import type { Context } from "../../context.ts";
import { PaylinkError } from "../../domain/errors.ts";
import { hint, paylink } from "../../domain/hint.ts";
import { nearest, refused, type Parsed } from "../../values/parse-result.ts";
import { parseExpiry } from "../../values/time.ts";
import { safeText } from "../../render/safe-text.ts";
import { wrap, NO_VALUE } from "../../render/layout.ts";
import { clip, widthOf } from "../../render/width.ts";
import { DEFAULT_PROFILE } from "../../settings/profile-names.ts";
import {
  profileNamed,
  shownSetting,
  withoutSettings,
  withoutCredentials,
  type Profile,
} from "../../settings/profile.ts";
import { newOrigins, type ResolvedSetting } from "../../settings/resolved-settings.ts";
import {
  CONFIG_KEYS,
  isConfigKey,
  SETTING_KEYS,
  SETTINGS,
  type ConfigKey,
  type SettingKey,
  type SettingValue,
} from "../../settings/setting-table.ts";
import {
  checkKeys,
  requirePassed,
  secretKeyProblem,
  settingsWith,
  unknownWarning,
} from "../account-checks.ts";
import { parseMappings } from "../../lists/columns.ts";
import { parseEventStoreFlag } from "../flag-values.ts";
import { isConfirmed, saidNo } from "../shared-flags.ts";

/** Throws `usage` for a name that is not a setting, or is a secret. */
export function settingName(text: string): ConfigKey {
  if (isConfigKey(text)) return text;
  const near = nearest(text, SETTING_KEYS);
  if (near !== undefined && !isConfigKey(near)) {
    const isSecret = `${near} is a secret. paylink config does not show or set secrets.`;
    throw new PaylinkError(
      "usage",
      near === text ? isSecret : `There is no setting named ${text}. ${isSecret}`,
      {
        hints: [hint`To store it: ${paylink`login`}`, hint`To delete it: ${paylink`logout`}`],
      },
    );
  }
  if (near !== undefined)
    throw new PaylinkError("usage", `There is no setting named ${text}. Did you mean ${near}?`);
  throw new PaylinkError("usage", `There is no setting named ${text}.`, {
    hints: [hint`To see each setting with an example: ${paylink`help settings`}`],
  });
}

/** A webhook key may be stored as its whole text; `get` prints all of it. */
const LONGEST_VALUE = 100;
/** The column of the values in the list. */
const COLUMN = 20;

export async function listSettings(context: Context): Promise<number> {
  const { out } = context;
  const settings = await context.settings();
  const profile = resolvedProfile(context, settings.profile);
  const unknown = (await context.profiles()).unknown();
  const row = (label: string, value = NO_VALUE, source = ""): string => {
    const shown = clip(safeText(value), LONGEST_VALUE);
    const from = source === "" ? "" : `(${source})`;
    const isLong = COLUMN + widthOf(`${shown}  ${from}`) > out.lineWidth;
    const gap = from !== "" && isLong ? `\n${" ".repeat(COLUMN)}` : "  ";
    const text = wrap(shown, out.lineWidth - COLUMN, COLUMN);
    return `${out.paint.bold(label.padEnd(COLUMN))}${text}${from && gap + out.paint.dim(from)}`;
  };
  const found = CONFIG_KEYS.map((key) => [key, settings.find(key)] as const);
  out.line(
    () => {
      const values = found.map(([key, setting]) => [key, settingDocument(setting)] as const);
      return { profile, settings: Object.fromEntries(values), unknown };
    },
    () =>
      [
        row("profile", profile?.name, profile?.source),
        ...found.map(([key, setting]) => row(key, setting && shownSetting(setting.value), setting?.source)),
      ].join("\n"),
  );
  if (!out.json && unknown.length > 0) out.warn(unknownWarning(unknown));
  return 0;
}

function resolvedProfile({ profile, named }: Context, name: string | undefined) {
  if (name === undefined) return null;
  if (named.profile === undefined) return { name, source: "current" };
  return { name, source: profile === undefined ? "environment" : "flag" };
}

/** A value in a JSON document, without the password of a URL. */
function settingDocument(found: ResolvedSetting | undefined): object | null {
  if (found === undefined) return null;
  return { ...found, value: jsonOfSetting(found.value) };
}

const jsonOfSetting = (value: SettingValue<SettingKey>): string | boolean | readonly string[] => {
  if (typeof value === "boolean") return value;
  return typeof value === "string" ? shownSetting(value) : value.map(shownSetting);
};

export async function printSetting({ out, settings }: Context, key: ConfigKey): Promise<number> {
  const found = (await settings()).find(key);
  if (!out.json && found === undefined)
    throw new PaylinkError("usage", `${key} is not set.`, {
      hints: [hint`For example: ${paylink`config list`}`],
    });
  out.result(
    () => ({ key, ...(settingDocument(found) ?? { value: null, source: null }) }),
    found && safeText(shownSetting(found.value)),
  );
  return 0;
}

/** Throws `usage` for a value that the setting cannot have. */
export async function storeSetting(
  context: Context,
  { key, values: texts, check }: { key: ConfigKey; values: readonly string[]; check: boolean },
): Promise<number> {
  const { out, named } = context;
  const stored = await context.profiles();
  const target = named.profile ?? stored.current() ?? DEFAULT_PROFILE;
  const read = readValue(key, texts, context.now());
  if (!read.ok) {
    const got = read.mayBeSecret === true ? "" : ` (got "${texts.map(shownSetting).join(" ")}")`;
    const message = `${read.message}${got}`;
    throw new PaylinkError("usage", "Nothing was stored.", {
      problems: [{ at: key, message }],
      hints: [
        hint`For example: ${paylink`config set ${key} ${read.instead ?? SETTINGS[key].example ?? []}`}`,
      ],
    });
  }
  const { value } = read;
  if (key === "webhookKey" && check) await requireReadable(target, texts, context);
  const also = followers(key, profileNamed(stored.profiles(), target) ?? {});
  const changed = await changeProfile(context, target, (before) => ({
    ...before,
    ...Object.fromEntries([key, ...also].map((one) => [one, value])),
  }));
  if (changed === undefined) return saidNo(context);
  const words = [
    `${key} of profile ${safeText(target)} is now ${safeText(shownSetting(value))}.`,
    ...also.map((other) => `${other} had the same value, and changed with it.`),
    ...changed.words,
  ];
  out.result(
    { profile: target, key, value: jsonOfSetting(value), ...(also.length > 0 && { also }), ...changed.json },
    words.join("\n"),
  );
  return 0;
}

interface ChangedProfile {
  /** What else became of the profile, for people and for programs. */
  readonly words: readonly string[];
  readonly json: { readonly forgotten?: readonly SettingKey[] };
}

/**
 * Stores a change. A secret goes only where it was stored for: a change by which it would go to another address deletes it, once
 * the user agrees. Undefined for a no. Throws `usage` where nobody can be asked.
 */
async function changeProfile(
  context: Context,
  name: string,
  make: (before: Profile) => Profile,
): Promise<ChangedProfile | undefined> {
  const { ask, yes, forgetToken } = context;
  const stored = await context.profiles();
  const now = profileNamed(stored.profiles(), name) ?? {};
  const [origin] = newOrigins(now, make(now));
  if (origin !== undefined) {
    const secrets = wordsFor(secretsIn(now));
    if (!yes && ask() === undefined)
      throw new PaylinkError("usage", "Nothing was stored.", {
        problems: [
          {
            at: "--yes",
            message: `is required, because the change deletes ${secrets} of profile ${name}, so that ${origin} does not get it`,
          },
        ],
        hints: [hint`To store the account of another address with its secrets: ${paylink`login`}`],
      });
    const question = `Delete ${secrets} of profile ${safeText(name)}, so that ${safeText(origin)} does not get it?`;
    if (!(await isConfirmed(context, question))) return undefined;
  }
  // Another command may have stored a secret meanwhile.
  let forgotten: readonly SettingKey[] = [];
  await stored.change(name, (before) => {
    const after = make(before);
    if (newOrigins(before, after).length === 0) return after;
    forgotten = secretsIn(before);
    return withoutCredentials(after);
  });
  if (forgotten.length === 0) return { words: [], json: {} };
  forgetToken(name);
  return {
    words: [
      `Deleted ${wordsFor(forgotten)}, which belonged to another address. To store one for this address: paylink login`,
    ],
    json: { forgotten },
  };
}

const secretsIn = (profile: Profile): readonly SettingKey[] =>
  SETTING_KEYS.filter((key) => SETTINGS[key].secret === true && profile[key] !== undefined);

/** `the access token`. */
const wordsFor = (secrets: readonly SettingKey[]): string =>
  secrets.map((key) => SETTINGS[key].means).join(" and ");

/** The settings that change with this one: failed payments follow the others until they have an address of their own. */
const followers = (key: ConfigKey, { callbackUrl, failureCallbackUrl }: Profile): readonly ConfigKey[] =>
  key === "callbackUrl" && callbackUrl !== undefined && callbackUrl === failureCallbackUrl
    ? ["failureCallbackUrl"]
    : [];

/** Throws if a key cannot be read or used: `listen` would not start with it. */
async function requireReadable(name: string, texts: readonly string[], context: Context): Promise<void> {
  const read = SETTINGS.webhookKey.parse(texts);
  if (!read.ok) return;
  const found = await checkKeys(settingsWith(name, { webhookKey: read.value }), context, "webhookKey");
  for (const { state, detail } of found) if (state === "warning") context.out.warn(safeText(detail));
  const unread = hint`To store it without reading it: ${paylink`config set webhookKey <file or URL> --no-check`}`;
  requirePassed(found, "Nothing was stored.", unread, "webhookKey");
}

function readValue(key: ConfigKey, texts: readonly string[], now: Date): Parsed<SettingValue<ConfigKey>> {
  const [text = "", ...more] = texts;
  const read = SETTINGS[key].parse(more.length === 0 ? text : texts);
  const problem = read.ok ? problemNow(key, texts, now) : undefined;
  return problem ?? read;
}

/** What is wrong with a value that its setting allows, at this time. */
function problemNow(key: ConfigKey, texts: readonly string[], now: Date): Parsed<never> | undefined {
  const [text = ""] = texts;
  if (key === "webhookKey") return secretKeyProblem(texts);
  if (key === "expires") {
    const expiry = parseExpiry(text, now);
    if (!expiry.ok) return expiry;
    return expiry.value <= now ? refused("must be in the future") : undefined;
  }
  if (key === "columns") {
    const mappings = parseMappings(text);
    return mappings.ok ? undefined : mappings;
  }
  if (key === "eventStore") {
    const place = parseEventStoreFlag(text.trim());
    return place.ok ? undefined : place;
  }
  return undefined;
}

export async function removeSetting(context: Context, key: ConfigKey): Promise<number> {
  const { out, settings, profiles } = context;
  const { profile } = await settings();
  if (profile === undefined) throw new PaylinkError("no_profile", "There is no profile to change.");
  const stored = await profiles();
  const also = followers(key, profileNamed(stored.profiles(), profile) ?? {});
  const changed = await changeProfile(context, profile, (before) => withoutSettings(before, [key, ...also]));
  if (changed === undefined) return saidNo(context);
  const words = `Removed ${[key, ...also].join(" and ")} from profile ${safeText(profile)}.`;
  const document = { profile, key, value: null, ...(also.length > 0 && { also }), ...changed.json };
  out.result(document, [words, ...changed.words].join("\n"));
  return 0;
}
