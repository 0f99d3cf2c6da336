/** A throw-away `PAYLINK_HOME` for each test, gone when the test is over, and the profiles in it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Profiles } from "../../src/settings/profile.ts";

export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), "paylink-test-"));
  // A program that ends with its terminal may still write what Node keeps compiled.
  onTestFinished(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));
  return home;
}

/** Writes these profiles, and no others. The first is the current one. */
export function storeProfiles(home: string, profiles: Profiles): void {
  const [current] = Object.keys(profiles);
  writeFileSync(join(home, "settings.json"), JSON.stringify({ current, profiles }));
}
