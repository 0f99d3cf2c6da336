/** Builds the program before the tests where the build is missing or older than the sources: threads and end-to-end tests run it. */
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Where what is built comes from. */
const SOURCES = ["src", ".config", "package.json", "package-lock.json"];

/** What a build writes last: one that was stopped has none, and nothing that is older than the sources. */
const LAST_BUILT = "dist/paylink.1.gz";

export default function setup(): void {
  if (newestIn(LAST_BUILT) >= Math.max(...SOURCES.map(newestIn))) return;
  for (const script of ["build.mjs", "man.mjs"])
    execFileSync(process.execPath, [join(".config", script)], { cwd: ROOT, stdio: ["ignore", 2, 2] });
}

/** When a file, or the newest file of a folder, was written; 0 if it is not there. */
function newestIn(path: string): number {
  const found = statSync(join(ROOT, path), { throwIfNoEntry: false });
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(join(ROOT, path)).map((name) => newestIn(join(path, name))));
}
