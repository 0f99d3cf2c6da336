/** The sandbox's identity on disk. */
import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { openIdentity, renewKey, type SandboxIdentity } from "../../src/sandbox/identity.ts";
import { temporaryHome } from "../support/home.ts";

const newId = (): string => crypto.randomUUID();

it("is that of the first of two first runs, and leaves no other file", () => {
  const folder = temporaryHome();
  let other: SandboxIdentity | undefined;
  const mine = openIdentity(folder, () => {
    other ??= openIdentity(folder, newId);
    return newId();
  });
  expect(mine).toEqual(other);
  expect(readdirSync(folder)).toEqual(["sandbox.json"]);
});

it("publishes a replaced key for a day of the sandbox's clock", () => {
  const folder = temporaryHome();
  const { keyid } = openIdentity(folder, newId);
  const now = new Date("2030-01-31T12:00:00Z");
  const renewed = renewKey(folder, newId, now);
  expect(renewed.keyid).not.toBe(keyid);
  expect(renewed.retired).toEqual([
    { keyid, publicKey: expect.stringContaining("PUBLIC KEY"), until: "2030-02-01T12:00:00.000Z" },
  ]);
});
