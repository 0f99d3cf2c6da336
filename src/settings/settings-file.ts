/** The settings file: the profiles and the name of the current one, written by conf and readable by its owner only. */
import { readFileSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { PaylinkError, type Problem } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { isPlainObject, joinPath, jsonOf } from "../values/json.ts";
import { nearest } from "../values/parse-result.ts";
import { codeOf, hasCode, systemReason } from "../values/system-reason.ts";
import { makeFolder, syncFolder } from "../store/folders.ts";
import { type Profile, profileNamed, type Profiles, readProfile, type UnknownMember } from "./profile.ts";
import { parseProfileName } from "./profile-names.ts";
import { withFileLock } from "./file-lock.ts";
import { SETTING_KEYS } from "./setting-table.ts";

interface StoredProfiles {
  readonly current?: string | undefined;
  readonly profiles: Profiles;
}

type JsonMembers = Readonly<Record<string, unknown>>;

/** What the file holds: what is understood, and the members that it has besides. */
interface ParsedSettings {
  readonly stored: StoredProfiles;
  readonly members: JsonMembers;
}

export interface SettingsFile {
  readonly path: string;
  /** The profile that is used unless another is named. */
  current(): string | undefined;
  profiles(): Profiles;
  unknown(): readonly UnknownMember[];
  /** Whether it has a secret, and others on this machine may read it; false on Windows, which has no such modes. */
  exposesSecret(): boolean;
  /**
   * Changes a profile as it is in the file at that moment; creates it if it does not exist. It becomes the current one if
   * no profile is. Throws `file_unwritable`, as the other changes do.
   */
  change(name: string, change: (value: Profile) => Profile): Promise<void>;
  use(name: string): Promise<void>;
  /** If it is the current profile, no profile is current afterwards. */
  remove(name: string): Promise<void>;
}

const FILE_NAME = "settings";

const OPTIONS = {
  // By default conf lets everybody read the file, and splits profile names at their dots.
  configFileMode: 0o600,
  accessPropertiesByDotNotation: false,
  // The file was read and checked before. conf does not know the byte order mark of some editors.
  clearInvalidConfig: true,
} as const;

/** Reading creates no file. */
export function openSettingsFile(folder: string): SettingsFile {
  const path = join(folder, `${FILE_NAME}.json`);
  let last: { readonly text: string | undefined; readonly parsed: ParsedSettings } | undefined;
  // The file is read each time, since other processes write it too, and parsed only when it has changed.
  const readAll = (): ParsedSettings => {
    const text = readSettingsText(path);
    if (last === undefined || last.text !== text) last = { text, parsed: parseSettings(path, text) };
    return last.parsed;
  };
  const read = (): StoredProfiles => readAll().stored;
  const write = async (change: (now: StoredProfiles) => StoredProfiles): Promise<void> => {
    // Only writing needs conf, which is slow to load.
    const { default: Store } = await import("conf");
    try {
      makeFolder(folder);
      await withFileLock(path, () => {
        const { stored, members } = readAll();
        const next = withOthers(members, change(stored));
        new Store<JsonMembers>({ cwd: folder, configName: FILE_NAME, ...OPTIONS }).store = next;
        syncFolder(folder);
      });
    } catch (error) {
      throw unwritableSettings(path, error);
    }
  };
  return {
    path,
    current: () => read().current,
    profiles: () => read().profiles,
    unknown: () => unknownIn(readAll().members),
    exposesSecret: () =>
      Object.values(read().profiles).some(
        ({ token, clientSecret }) => token !== undefined || clientSecret !== undefined,
      ) && isReadByOthers(path),
    change: (name, make) =>
      write(({ current, profiles }) => ({
        current: current ?? name,
        profiles: { ...profiles, [name]: make(profileNamed(profiles, name) ?? {}) },
      })),
    use: (name) => write((now) => ({ ...now, current: name })),
    remove: (name) =>
      write(({ current, profiles }) => {
        const { [name]: _, ...others } = profiles;
        return { ...withCurrent(current === name ? undefined : current), profiles: others };
      }),
  };
}

function isReadByOthers(path: string): boolean {
  if (sep === "\\") return false;
  const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return (mode & 0o077) !== 0;
}

/** conf stores no member that is undefined. */
const withCurrent = (current: string | undefined) => (current === undefined ? {} : { current });

/** Throws `file_unreadable` for a file that is damaged, or holds an invalid value, such as a typing error. */
function parseSettings(path: string, text: string | undefined): ParsedSettings {
  if (text === undefined) return { stored: { profiles: {} }, members: {} };
  const json = jsonOf(text);
  const { current, profiles = {} } = isPlainObject(json) ? json : {};
  if (
    !isPlainObject(json) ||
    !isPlainObject(profiles) ||
    !(current === undefined || typeof current === "string")
  )
    throw invalidFile(path, "is damaged: it is not the JSON that paylink writes");
  const problems: Problem[] = [];
  const read = Object.entries(profiles).map(([name, values]): [string, Profile] => {
    const at = joinPath("profiles", name);
    // Files of the profile have its name.
    const named = parseProfileName(name);
    if (!named.ok) problems.push({ at, message: `the name ${named.message}` });
    if (!isPlainObject(values)) {
      problems.push({ at, message: "must be an object" });
      return [name, {}];
    }
    const { profile, problems: found } = readProfile(values);
    problems.push(...found.map(({ key, message }) => ({ at: joinPath(at, key), message })));
    return [name, profile];
  });
  if (problems.length > 0) throw invalidFile(path, "holds invalid values", problems);
  return { stored: { ...withCurrent(current), profiles: Object.fromEntries(read) }, members: json };
}

const OWN_MEMBERS = ["current", "profiles"];

const profilesIn = ({ profiles }: JsonMembers): readonly (readonly [name: string, values: JsonMembers])[] =>
  Object.entries(isPlainObject(profiles) ? profiles : {}).map(([name, values]) => [
    name,
    isPlainObject(values) ? values : {},
  ]);

/** The members that are none of these. */
const besides = (members: JsonMembers, known: readonly string[]): JsonMembers =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !known.includes(name)));

/** What is stored, with the members of the file that paylink does not know. */
function withOthers(members: JsonMembers, { profiles, ...stored }: StoredProfiles): JsonMembers {
  const before = new Map(profilesIn(members));
  const after = Object.entries(profiles).map(([name, profile]) => [
    name,
    { ...besides(before.get(name) ?? {}, SETTING_KEYS), ...profile },
  ]);
  return { ...besides(members, OWN_MEMBERS), ...stored, profiles: Object.fromEntries(after) };
}

const unknownIn = (members: JsonMembers): UnknownMember[] => [
  ...unknownAmong(members, OWN_MEMBERS, ""),
  ...profilesIn(members).flatMap(([name, values]) =>
    unknownAmong(values, SETTING_KEYS, joinPath("profiles", name)),
  ),
];

const unknownAmong = (members: JsonMembers, known: readonly string[], at: string): UnknownMember[] =>
  Object.keys(besides(members, known)).map((name) => ({
    at: at === "" ? name : joinPath(at, name),
    nearest: nearest(name, known),
  }));

const invalidFile = (path: string, what: string, problems: readonly Problem[] = []): PaylinkError =>
  new PaylinkError("file_unreadable", `${path} ${what}.`, {
    problems,
    hints: [hint`Fix the file, or move it away to start with new settings.`],
  });

/** A failure of the file system; any other error as it is. */
function unwritableSettings(path: string, error: unknown): unknown {
  if (error instanceof PaylinkError || codeOf(error) === "") return error;
  const message = `The settings in ${path} cannot be written: ${systemReason(error)}.`;
  return new PaylinkError("file_unwritable", message, { consequence: "Nothing was stored.", cause: error });
}

function readSettingsText(path: string): string | undefined {
  try {
    // Editors on Windows add a byte order mark.
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    const message = `The settings in ${path} cannot be read: ${systemReason(error)}.`;
    throw new PaylinkError("file_unreadable", message, { cause: error });
  }
}
