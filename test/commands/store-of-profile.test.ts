/** Each profile has an event store of its own, unless the user names one. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";

it("is a file named after the profile, and events.db without a profile", async () => {
  const home = temporaryHome();
  const isMade = (name: string): boolean => existsSync(join(home, "data", name));
  await runCommand(["events", "prune", "--before", "90d", "--yes"], { home });
  expect(isMade("events.db")).toBe(true);
  storeProfiles(home, { shop: {}, other: {} });
  await runCommand(["events", "prune", "--before", "90d", "--yes"], { home });
  expect([isMade("events-shop.db"), isMade("events-other.db")]).toEqual([true, false]);
  await runCommand(["events", "prune", "--before", "90d", "--yes", "-p", "other"], { home });
  expect(isMade("events-other.db")).toBe(true);
});
