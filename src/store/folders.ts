/** Where paylink stores its files: in PAYLINK_HOME, or in the platform's own folder for each kind. */
import { join } from "node:path";
import envPaths from "env-paths";

export interface Folders {
  readonly config: string;
  readonly data: string;
  /** For files that can be created again. */
  readonly cache: string;
}

export function folders(home: string | undefined): Folders {
  if (home !== undefined && home !== "")
    return { config: home, data: join(home, "data"), cache: join(home, "cache") };
  const { config, data, cache } = envPaths("paylink", { suffix: "" });
  return { config, data, cache };
}
