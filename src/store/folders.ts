/** Where paylink stores its files: in PAYLINK_HOME, or in the platform's own folder for each kind. */
import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { PaylinkError } from "../domain/errors.ts";
import { hint } from "../domain/hint.ts";
import { type Parsed, refused } from "../values/parse-result.ts";
import { hasCode } from "../values/system-reason.ts";
import { parseTypedText } from "../values/typed-text.ts";

export interface Folders {
  readonly config: string;
  readonly data: string;
}

/** Throws `usage` where neither PAYLINK_HOME nor the system names a folder, and for a PAYLINK_HOME that cannot be meant. */
export async function folders(given: string | undefined): Promise<Folders> {
  const home = parseHome(given ?? "");
  if (!home.ok)
    throw new PaylinkError("usage", "The environment has an invalid folder.", {
      consequence: "Nothing was read or sent.",
      problems: [{ at: "PAYLINK_HOME", message: home.message }],
    });
  if (home.value !== "") return { config: home.value, data: join(home.value, "data") };
  const { config, data } = (await platformFolders()) ?? {};
  // An empty HOME gives relative folders: settings would come from wherever paylink is started.
  if (config !== undefined && data !== undefined && isAbsolute(config) && isAbsolute(data))
    return { config, data };
  throw new PaylinkError("usage", "The environment names no home folder.", {
    consequence: "Nothing was read or sent.",
    hints: [hint`Set HOME to your home folder, or PAYLINK_HOME to the folder of paylink's files.`],
  });
}

/**
 * A folder in the current one would be made for a home or a variable that nothing has expanded (`~/paylink` in a unit of systemd), or for
 * quotes that are read as letters (an env file of Docker): then each folder has settings and secrets of its own.
 */
function parseHome(given: string): Parsed<string> {
  const home = parseTypedText(given);
  return home.ok && /^[~"'`%<]|\$[{(\w]|\{\{/.test(home.value)
    ? refused(`must be a folder, with ~ and variables filled in and without quotes (got "${home.value}")`)
    : home;
}

/** Undefined for a user that the system does not know, without HOME: the package then fails where it is loaded. */
async function platformFolders(): Promise<Folders | undefined> {
  try {
    const { default: envPaths } = await import("env-paths");
    return envPaths("paylink", { suffix: "" });
  } catch (error) {
    if (hasCode(error, "ERR_SYSTEM_ERROR")) return undefined;
    throw error;
  }
}

/** The folder, inside the data folder, of the sandbox's identity and ledger. */
export const sandboxFolder = (dataFolder: string): string => join(dataFolder, "sandbox");

/** Where the events of a profile, or of no profile, are stored unless the user names another file. */
export const eventsPath = (data: string, profile?: string): string =>
  join(data, profile === undefined ? "events.db" : `events-${profile}.db`);

/** Makes a folder, for its owner only, and those above it. They survive a power cut. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  const outermost = dirname(resolve(first));
  for (let made = resolve(path); made !== outermost; made = dirname(made)) syncFolder(dirname(made));
}

/** Makes the names in a folder survive a power cut. Some systems sync no folders: on Windows, the names of synced files are kept. */
export function syncFolder(path: string): void {
  try {
    const folder = openSync(path, "r");
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch {
    return;
  }
}
