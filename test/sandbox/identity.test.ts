/** The sandbox's identity on disk. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openIdentity, renewKey } from "../../src/sandbox/identity.ts";
import { temporaryHome } from "../support/home.ts";
import { MERCHANT } from "../support/merchant.ts";

const newId = (): string => crypto.randomUUID();

it("is that of the first of two simultaneous first runs", async () => {
  const folder = temporaryHome();
  const mine = await openIdentity(folder, newId, async (path) => {
    writeFileSync(path, JSON.stringify(MERCHANT));
    return false;
  });
  expect(mine).toEqual(MERCHANT);
});

it("is called damaged only where it was read", async () => {
  const folder = temporaryHome();
  const path = join(folder, "sandbox.json");
  const open = (): Promise<unknown> => openIdentity(folder, newId, async () => false);
  writeFileSync(path, '{"merchantId":');
  await expect(open()).rejects.toThrow(`${path} is damaged`);
  const unreadable = temporaryHome();
  mkdirSync(join(unreadable, "sandbox.json"));
  await expect(openIdentity(unreadable, newId, async () => false)).rejects.toThrow(
    `Cannot read the sandbox's identity ${join(unreadable, "sandbox.json")}: it is a folder.`,
  );
});

it("publishes a replaced key for a day of the sandbox's clock", () => {
  const folder = temporaryHome();
  writeFileSync(join(folder, "sandbox.json"), JSON.stringify(MERCHANT));
  const renewed = renewKey(folder, newId, new Date("2030-01-31T12:00:00Z"));
  const { keyid } = MERCHANT;
  expect(renewed.keyid).not.toBe(keyid);
  expect(renewed.retired).toEqual([
    { keyid, publicKey: expect.stringContaining("PUBLIC KEY"), until: "2030-02-01T12:00:00.000Z" },
  ]);
});
