/** The lock beside a file that commands change: one that was left behind is taken away, and no other one. */
import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { lockBeside, lockId, removeAbandoned, withFileLock } from "../../src/settings/file-lock.ts";
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

it("shows that its holder lives, and is taken over from one that has ended", async () => {
  const path = join(temporaryHome(), "token.json");
  const lock = `${path}.lock`;
  const release = await lockBeside(path, sleep);
  const first = lockId(lock);
  while (lockId(lock) === first) await sleep(50);
  release();
  expect(existsSync(lock)).toBe(false);
  writeFileSync(lock, "");
  expect(await withFileLock(path, () => "taken over")).toBe("taken over");
});

it("of another holder stays when one whose lock was taken away, as it was suspended, goes on", async () => {
  const path = join(temporaryHome(), "token.json");
  const lock = `${path}.lock`;
  const release = await lockBeside(path, sleep);
  removeAbandoned(lock, lockId(lock) ?? "");
  const releaseOther = await lockBeside(path, sleep);
  release();
  expect(existsSync(lock)).toBe(true);
  releaseOther();
  expect(existsSync(lock)).toBe(false);
});

it("is content with a lock that has gone", () => {
  const home = temporaryHome();
  removeAbandoned(join(home, "settings.json.lock"), "1 2");
  expect(readdirSync(home)).toEqual([]);
});
