/** Commands of the built program that store settings at the same time: none loses what another one stored. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { runPaylink } from "../support/paylink.ts";

const settingsIn = (home: string): unknown => JSON.parse(readFileSync(join(home, "settings.json"), "utf8"));

it("six logins keep six profiles", async () => {
  const home = temporaryHome();
  const names = ["a", "b", "c", "d", "e", "f"];
  const login = [
    "login",
    "--base-url",
    "https://service.example",
    "--terminal-id",
    "1",
    "--token-stdin",
    "--no-check",
  ];
  const runs = await Promise.all(
    names.map((name) => runPaylink([...login, "-p", name], { home, input: `token-of-${name}\n` })),
  );
  expect(runs.map(({ code }) => code)).toEqual(names.map(() => 0));
  expect(settingsIn(home)).toMatchObject({
    profiles: Object.fromEntries(names.map((name) => [name, { token: `token-of-${name}` }])),
  });
  // From Node 22 on, the home has the cache of what Node has compiled too.
  expect(readdirSync(home).filter((name) => name.startsWith("settings"))).toEqual(["settings.json"]);
});

it("four settings of one profile are all there", async () => {
  const home = temporaryHome();
  storeProfiles(home, { shop: { baseUrl: "https://service.example" } });
  const values = { currency: "EUR", terminalId: "7", customerName: "Ada", expires: "36h" };
  const runs = await Promise.all(
    Object.entries(values).map(([key, value]) => runPaylink(["config", "set", key, value], { home })),
  );
  expect(runs.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
  expect(settingsIn(home)).toMatchObject({ profiles: { shop: values } });
});
