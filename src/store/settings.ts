/** The settings file: the profiles and which of them is current, kept by conf and readable by its owner alone. */
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import type Conf from "conf";
import * as z from "zod/mini";
import { PaylinkError } from "../domain/errors.ts";
import { problemsOf } from "../domain/schema.ts";
import { withLock } from "./lock.ts";
import { profile, type Profile } from "./profile.ts";

const stored = z.lazy(() =>
  z.object({
    current: z.optional(z.string()),
    profiles: z._default(z.record(z.string(), profile), {}),
  }),
);
type Stored = z.infer<typeof stored>;

export interface Settings {
  readonly path: string;
  /** The name of the profile that is used where none is named. */
  current(): string | undefined;
  profiles(): Readonly<Record<string, Profile>>;
  /** Stores a profile whole; it becomes the current one only where there is none. */
  save(name: string, value: Profile): Promise<void>;
  /** Changes a profile as it now stands, whoever else has written meanwhile; it is made where there is none. */
  change(name: string, change: (value: Profile) => Profile): Promise<void>;
  use(name: string): Promise<void>;
}

const NAME = "settings";

/** Reading leaves no trace on the disk. `warn` hears of a file that had to be set aside. */
export function openSettings(folder: string, warn: (warning: string) => void): Settings {
  const path = join(folder, `${NAME}.json`);
  let last: { readonly text: string | undefined; readonly held: Stored } | undefined;
  // Looked at each time, since others write too; understood once.
  const read = (): Stored => {
    const text = readText(path);
    if (last === undefined || last.text !== text) last = { text, held: readStored(path, text, warn) };
    return last.held;
  };
  const write = async (change: (now: Stored) => Stored): Promise<void> => {
    const open = await loadConf(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
    withLock(`${path}.lock`, () => {
      const next = change(read());
      open().store = next;
    });
  };
  const change = (name: string, make: (value: Profile) => Profile): Promise<void> =>
    write(({ current, profiles }) => ({
      current: current ?? name,
      profiles: { ...profiles, [name]: make(own(profiles, name) ?? {}) },
    }));
  return {
    path,
    current: () => read().current,
    profiles: () => read().profiles,
    save: (name, value) => change(name, () => value),
    change,
    use: (name) => write((now) => ({ ...now, current: name })),
  };
}

const own = (profiles: Stored["profiles"], name: string): Profile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;

/** Only who writes needs conf, which takes a while to load. */
async function loadConf(folder: string): Promise<() => Conf<Stored>> {
  const { default: Store } = await import("conf");
  return () =>
    new Store<Stored>({
      cwd: folder,
      configName: NAME,
      // conf's own default is world-readable, and dots would split profile names and URLs into paths.
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
}

/** What is no JSON at all is set aside; a value that somebody wrote by hand and that cannot be is named. */
function readStored(path: string, text: string | undefined, warn: (warning: string) => void): Stored {
  if (text === undefined) return { profiles: {} };
  const parsed = stored.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  const problems = problemsOf(parsed.error.issues);
  if (problems.some(({ at }) => at.split(".").length > 2))
    throw new PaylinkError("file_unreadable", `${path} holds values that cannot be used:`, {
      problems,
      hint: "Mend them there, or move the file away and start anew.",
    });
  setAside(path, text, warn);
  return { profiles: {} };
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    const reason = error instanceof Error ? error.message : String(error);
    throw new PaylinkError("file_unreadable", `The settings cannot be read: ${reason}`, { cause: error });
  }
}

/** The parser's own message quotes the text, which holds secrets: it goes nowhere. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function setAside(path: string, broken: string, warn: (warning: string) => void): void {
  // Another process may have mended it meanwhile.
  if (readText(path) !== broken) return;
  let place = `${path}.broken`;
  for (let count = 2; existsSync(place); count += 1) place = `${path}.broken-${count}`;
  renameSync(path, place);
  chmodSync(place, 0o600);
  warn(`The settings file was broken and has been set aside, with all it held, as ${place}.`);
}
