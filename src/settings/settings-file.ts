/** The settings file: the profiles and the name of the current one, written by conf and readable by its owner only. */
import type Conf from "conf";
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
} from "node:fs";
import { join, parse } from "node:path";
import { hint, PaylinkError, type Problem } from "../domain/errors.ts";
import { joinPath } from "../domain/json.ts";
import { hasCode, systemReason } from "../domain/system-reason.ts";
import { makeFolder } from "../store/folders.ts";
import { type Profile, profileNamed, type Profiles, readProfile } from "./profile.ts";
import { jsonOf } from "./setting-values.ts";

interface Stored {
  readonly current?: string | undefined;
  readonly profiles: Profiles;
}

export interface SettingsFile {
  readonly path: string;
  /** What a link names, if others than its owner can read it. */
  readableByOthers(): string | undefined;
  /** The profile that is used unless another is named. */
  current(): string | undefined;
  profiles(): Profiles;
  /**
   * Changes a profile as it is in the file at that moment; creates it if it does not exist. It becomes the current one if
   * no profile is.
   */
  change(name: string, change: (value: Profile) => Profile): Promise<void>;
  use(name: string): Promise<void>;
  /** If it is the current profile, it stays the current one. */
  rename(name: string, next: string): Promise<void>;
  /** If it is the current profile, no profile is current afterwards. */
  remove(name: string): Promise<void>;
}

const NAME = "settings";

/** Reading creates no file. `warn` is called if a damaged file had to be renamed. */
export function openSettingsFile(folder: string, warn: (warning: string) => void): SettingsFile {
  const path = join(folder, `${NAME}.json`);
  let last: { readonly text: string | undefined; readonly parsed: Stored } | undefined;
  // The file is read each time, since other processes write it too, and parsed only when it has changed.
  const read = (): Stored => {
    const text = readText(path);
    if (last === undefined || last.text !== text) last = { text, parsed: readStored(path, text, warn) };
    return last.parsed;
  };
  const write = async (change: (now: Stored) => Stored): Promise<void> => {
    const openConf = await loadConf(path);
    writing(path, () => {
      makeFolder(folder);
      setMode(folder, 0o700);
      withLock(`${path}.lock`, () => {
        const next = change(read());
        openConf().store = next;
      });
    });
    const open = readableByOthers(path);
    if (open !== undefined)
      warn(
        `Others can read ${open}, which holds the secrets of your profiles. To keep them out: chmod 600 ${open}`,
      );
  };
  return {
    path,
    readableByOthers: () => readableByOthers(path),
    current: () => read().current,
    profiles: () => read().profiles,
    change: (name, make) =>
      write(({ current, profiles }) => ({
        current: current ?? name,
        profiles: { ...profiles, [name]: make(profileNamed(profiles, name) ?? {}) },
      })),
    use: (name) => write((now) => ({ ...now, current: name })),
    rename: (name, next) =>
      write(({ current, profiles }) => {
        const { [name]: moved = {}, ...others } = profiles;
        return { ...withCurrent(current === name ? next : current), profiles: { ...others, [next]: moved } };
      }),
    remove: (name) =>
      write(({ current, profiles }) => {
        const { [name]: _, ...others } = profiles;
        return { ...withCurrent(current === name ? undefined : current), profiles: others };
      }),
  };
}

/** conf stores no member that is undefined. */
const withCurrent = (current: string | undefined) => (current === undefined ? {} : { current });

/**
 * Only writing needs conf, which is slow to load. If the file is a link, the file that it names is replaced, in its folder and
 * with its mode: it is the user's, and so is the decision who may read it.
 */
async function loadConf(path: string): Promise<() => Conf<Stored>> {
  const { default: Store } = await import("conf");
  return () => {
    const real = isLink(path) ? realpathSync(path) : path;
    const { dir, name, ext } = parse(real);
    return new Store<Stored>({
      cwd: dir,
      configName: name,
      fileExtension: ext.slice(1),
      // By default conf lets everybody read the file, and splits profile names at their dots.
      configFileMode: real === path ? 0o600 : statSync(real).mode & 0o777,
      accessPropertiesByDotNotation: false,
    });
  };
}

const isLink = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;

function readableByOthers(path: string): string | undefined {
  if (!isLink(path)) return undefined;
  const real = realpathSync(path);
  return (statSync(real).mode & 0o044) === 0 ? undefined : real;
}

/** Of what is at the path itself: what a link names belongs to the user. */
function setMode(path: string, mode: number): void {
  if (!isLink(path)) chmodSync(path, mode);
}

/** The failures of a full disk, or of a folder that nobody may write to. */
function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    if (error instanceof PaylinkError || !isSystemError(error)) throw error;
    throw new PaylinkError(
      "file_unwritable",
      `The settings in ${path} cannot be written: ${systemReason(error)}. They are as they were before.`,
      { cause: error },
    );
  }
}

const isSystemError = (error: unknown): boolean => error instanceof Error && "syscall" in error;

/** Renames a file that is not a settings file. Throws `file_unreadable` for an invalid value, such as a typing error. */
function readStored(path: string, text: string | undefined, warn: (warning: string) => void): Stored {
  if (text === undefined) return { profiles: {} };
  const json = jsonOf(text);
  const { current, profiles = {} } = isObject(json) ? json : { profiles: undefined };
  const isCurrent = current === undefined || typeof current === "string";
  if (!isObject(json) || !isCurrent || !isObject(profiles)) {
    moveAway(path, text, warn);
    return { profiles: {} };
  }
  const problems: Problem[] = [];
  const read = Object.entries(profiles).map(([name, values]): [string, Profile] => {
    const at = joinPath("profiles", name);
    if (!isObject(values)) {
      problems.push({ at, message: "must be an object" });
      return [name, {}];
    }
    const { profile, problems: found } = readProfile(values);
    problems.push(...found.map(({ key, message }) => ({ at: joinPath(at, key), message })));
    return [name, profile];
  });
  if (problems.length > 0)
    throw new PaylinkError("file_unreadable", `${path} holds invalid values.`, {
      problems,
      hints: [hint`Fix them in that file, or move the file away to start again.`],
    });
  return { ...withCurrent(current), profiles: Object.fromEntries(read) };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readText(path: string): string | undefined {
  try {
    // Reading a pipe would wait for its writer.
    if (statSync(path).isFIFO()) throw unreadable(path, "it is a pipe");
    // Editors on Windows add a byte order mark.
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error instanceof PaylinkError ? error : unreadable(path, systemReason(error), error);
  }
}

const unreadable = (path: string, reason: string, cause?: unknown): PaylinkError =>
  new PaylinkError("file_unreadable", `The settings in ${path} cannot be read: ${reason}.`, { cause });

function moveAway(path: string, broken: string, warn: (warning: string) => void): void {
  // Another process may have fixed it in the meantime.
  if (readText(path) !== broken) return;
  let place = `${path}.broken`;
  for (let count = 2; existsSync(place); count += 1) place = `${path}.broken-${count}`;
  renameSync(path, place);
  setMode(place, 0o600);
  warn(`The settings file was damaged. It was renamed to ${place}, and its profiles are not used.`);
}

/** Milliseconds between two tries to get the lock: one process at a time writes the settings. */
const PAUSE = 10;
/** A write takes milliseconds: the holder of a lock that is the same after this many tries is gone. */
const STALE_TRIES = 300;
const MAX_TRIES = 1500;

/** Runs the action while no other process runs one under the same lock. */
function withLock<T>(path: string, action: () => T): T {
  acquire(path);
  try {
    return action();
  } finally {
    unlinkSync(path);
  }
}

function acquire(path: string): void {
  let seen: string | undefined;
  let same = 0;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (isCreated(() => closeSync(openSync(path, "wx", 0o600)))) return;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isFile() === false)
      throw new PaylinkError(
        "file_unwritable",
        `${path} is not a file, and paylink needs that name for its lock. The settings are as they were before.`,
        { hints: [hint`Move it away, and run this again.`] },
      );
    const held = identityOf(path);
    same = held !== undefined && held === seen ? same + 1 : 0;
    seen = held;
    if (same >= STALE_TRIES && held !== undefined) breakLock(path, held);
    sleep(PAUSE);
  }
  throw new PaylinkError("file_unreadable", `${path} is locked by another run of paylink.`, {
    hints: [hint`If no other paylink is running, delete that file and run this again.`],
  });
}

/**
 * If several processes find the same lock stale, only one may delete it: the second would delete the new lock of the
 * first. Only one of them can create the link, which must point to the file that was found stale.
 */
function breakLock(path: string, stale: string): void {
  const claim = `${path}.stale`;
  if (!isCreated(() => linkSync(path, claim))) return;
  if (identityOf(claim) === stale) unlinkSync(path);
  unlinkSync(claim);
}

/** Identifies the file itself, whatever its name; undefined if it does not exist. */
function identityOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.ino} ${stat.mtimeMs}`;
}

/** False if the name exists already, or the file to link to is gone. */
function isCreated(create: () => void): boolean {
  try {
    create();
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST", "ENOENT")) return false;
    throw error;
  }
}

/** Blocks: the settings are written synchronously. */
function sleep(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
