/** Replaces a whole file: a reader gets either the old text or the new one, also after a power cut. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeFolder, syncFolder } from "./folders.ts";

/** Makes the folder where it is missing. Only the owner can read the file. Throws the failure of the file system. */
export function replaceFile(path: string, text: string): void {
  const folder = dirname(path);
  makeFolder(folder);
  // A name that no other process uses.
  const drafts = mkdtempSync(`${path}.`);
  try {
    const draft = join(drafts, basename(path));
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    renameSync(draft, path);
  } finally {
    rmSync(drafts, { recursive: true, force: true });
  }
  syncFolder(folder);
}
