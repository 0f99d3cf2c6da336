/** The settings file: the profiles and which of them is current, kept by conf and readable by its owner alone. */
import { chmodSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import Conf from "conf";
import * as z from "zod";
import { profile, type Profile } from "./profile.ts";

const stored = z.object({
  current: z.string().optional(),
  profiles: z.record(z.string(), profile).default({}),
});
type Stored = z.infer<typeof stored>;

export interface Settings {
  readonly path: string;
  /** The name of the profile that is used where none is named. */
  current(): string | undefined;
  profiles(): Readonly<Record<string, Profile>>;
  /** Stores a profile whole; it becomes the current one only where there is none. */
  save(name: string, value: Profile): void;
  use(name: string): void;
}

export function openSettings(folder: string): Settings {
  const conf = new Conf<Stored>({
    cwd: folder,
    configName: "settings",
    // conf's own default is world-readable, and dots would split profile names and URLs into paths.
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
  });
  mkdirSync(dirname(conf.path), { recursive: true });
  chmodSync(dirname(conf.path), 0o700);
  const read = (): Stored => stored.parse(conf.store);
  const write = (change: (now: Stored) => Stored): void => {
    conf.store = change(read());
  };
  return {
    path: conf.path,
    current: () => read().current,
    profiles: () => read().profiles,
    save: (name, value) =>
      write(({ current, profiles }) => ({
        current: current ?? name,
        profiles: { ...profiles, [name]: value },
      })),
    use: (name) => write((now) => ({ ...now, current: name })),
  };
}
