/** A throw-away `PAYLINK_HOME` for each test, gone when the test is over. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), "paylink-test-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}
