/** The lock beside a file that commands change: one that was left behind is taken away, and no other one. */
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { lockId, removeAbandoned } from "../../src/settings/file-lock.ts";
import { temporaryHome } from "../support/home.ts";

it("removes the lock that was seen", () => {
  const lock = join(temporaryHome(), "settings.json.lock");
  writeFileSync(lock, "");
  removeAbandoned(lock, lockId(lock) ?? "");
  expect(existsSync(lock)).toBe(false);
});

it("keeps the lock of a waiter that was faster", () => {
  const home = temporaryHome();
  const lock = join(home, "settings.json.lock");
  writeFileSync(lock, "");
  const seen = lockId(lock) ?? "";
  writeFileSync(`${lock}.next`, "");
  renameSync(`${lock}.next`, lock);
  const held = lockId(lock);
  removeAbandoned(lock, seen);
  expect(lockId(lock)).toBe(held);
  expect(readdirSync(home)).toEqual(["settings.json.lock"]);
});

it("is content with a lock that has gone", () => {
  const home = temporaryHome();
  removeAbandoned(join(home, "settings.json.lock"), "1 2");
  expect(readdirSync(home)).toEqual([]);
});
