/** Commands that store something in a folder that cannot be written: they name the file, in the words of what it is. */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryHome } from "../support/home.ts";
import { runPaylink, startPaylink } from "../support/paylink.ts";
import { NOT_ROOT } from "../support/not-root.ts";

it.each([
  [
    "config set currency GBP",
    (home: string) =>
      `The settings in ${join(home, "settings.json")} cannot be written: permission denied. Nothing was stored.`,
  ],
  [
    "sandbox --port 0",
    (home: string) =>
      `Cannot write the sandbox's identity ${join(home, "data", "sandbox", "sandbox.json")}: permission denied.`,
  ],
])("%s names the file that cannot be written, and leaves the settings as they are", async (line, message) => {
  const home = temporaryHome();
  const path = join(home, "settings.json");
  await runPaylink(["config", "set", "currency", "EUR"], { home });
  const before = readFileSync(path, "utf8");
  chmodSync(home, 0o500);
  const { code, stderr } = await startPaylink([...line.split(" "), "--json"], { home, through: NOT_ROOT })
    .ended;
  chmodSync(home, 0o700);
  expect(code).toBe(2);
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: "file_unwritable", message: message(home) },
  });
  expect(readFileSync(path, "utf8")).toBe(before);
});
