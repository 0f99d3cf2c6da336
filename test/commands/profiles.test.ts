/** `paylink profiles`, in process: what is listed, chosen, renamed and removed, and what is refused. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCommand, type CommandOptions } from "../support/context.ts";
import { fixedAnswers } from "../support/fixed-answers.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";

function threeProfiles() {
  const home = temporaryHome();
  const path = join(home, "settings.json");
  const profiles = {
    shop: { service: "dna", terminalId: "7", token: "tok_secret" },
    "shop.test": { service: "dna-test" },
    sandbox: { baseUrl: "http://127.0.0.1:4010" },
  } as const;
  storeProfiles(home, profiles);
  const run = (args: readonly string[], options: CommandOptions = {}) =>
    runCommand(["profiles", ...args], { ...options, home });
  const stored = (): unknown => JSON.parse(readFileSync(path, "utf8"));
  return { run, stored, profiles };
}

describe("paylink profiles", () => {
  it("lists each profile with its service, and says which is live", async () => {
    const { run } = threeProfiles();
    const { stdout } = await run([]);
    expect(stdout).toMatch(/^\* +shop +api\.dnapayments\.com +LIVE +terminal 7$/m);
    expect(stdout).toMatch(/^ +shop\.test +test-api\.dnapayments\.com +TEST$/m);
    expect(stdout).toMatch(/^ +sandbox +127\.0\.0\.1:4010 +sandbox$/m);
    const json = (await run(["list", "--json"])).stdout;
    expect(JSON.parse(json)).toMatchObject({
      current: "shop",
      profiles: [
        { name: "shop", current: true, service: "dna", label: "LIVE", terminalId: "7" },
        { name: "shop.test", current: false },
        { name: "sandbox", service: null, baseUrl: "http://127.0.0.1:4010" },
      ],
    });
    expect(stdout + json).not.toContain("tok_secret");
  });

  it("says what to run if there is no profile", async () => {
    const run = await runCommand(["profiles"]);
    expect(run).toMatchObject({ exit: 0, stdout: "" });
    expect(run.stderr).toContain("paylink login");
  });

  it("makes another profile the current one", async () => {
    const { run, stored } = threeProfiles();
    expect((await run(["use", "sandbox"])).stdout).toBe("The current profile is now sandbox.\n");
    expect((await run(["use", "shop.test", "--json"])).stdout).toBe('{"current":"shop.test"}\n');
    expect(stored()).toMatchObject({ current: "shop.test" });
  });

  it("removes a profile, and then none is current", async () => {
    const { run, stored, profiles } = threeProfiles();
    const removed = await run(["remove", "shop", "--yes", "--json"]);
    expect(removed).toMatchObject({ exit: 0, stdout: '{"removed":"shop","current":null}\n', stderr: "" });
    const { shop: _, ...others } = profiles;
    expect(stored()).toEqual({ profiles: others });
  });

  it("says how to get a profile after the last one is removed", async () => {
    const { run } = threeProfiles();
    expect((await run(["remove", "shop", "-y"])).stderr).toContain("To choose one: paylink profiles use");
    await run(["remove", "shop.test", "-y"]);
    const last = await run(["remove", "sandbox", "-y"]);
    expect(last.stderr).toBe("There is no profile. Run paylink sandbox, or paylink login.\n");
  });

  it("asks before it removes, unless --yes answers", async () => {
    const { run, stored } = threeProfiles();
    const no = fixedAnswers({ confirm: false });
    const kept = await run(["remove", "shop"], { ask: no.ask });
    expect(kept).toMatchObject({ exit: 0, stdout: "" });
    expect(kept.stderr).toContain("Nothing was done.");
    expect(no.asked).toEqual(["Delete profile shop with its settings and secrets?"]);
    expect(stored()).toMatchObject({ profiles: { shop: {} } });
    const never = fixedAnswers({ interruptAt: "" });
    expect((await run(["remove", "shop", "-y"], { ask: never.ask })).exit).toBe(0);
    expect(never.asked).toEqual([]);
  });

  it("removes nothing without --yes if it cannot prompt", async () => {
    const { run, stored } = threeProfiles();
    const refused = await run(["remove", "shop"]);
    expect(refused).toMatchObject({ exit: 2, stdout: "" });
    expect(refused.stderr).toMatch(/--yes +is required/);
    expect(refused.stderr).toContain("Nothing was deleted.");
    expect(stored()).toMatchObject({ profiles: { shop: {} } });
  });

  it.each([
    [["use", "shopp"], 3, "Did you mean shop?"],
    [["remove", "nobody", "-y"], 3, "Profiles: shop, shop.test, sandbox"],
  ])("refuses %j", async (args, exit, words) => {
    const { run, stored } = threeProfiles();
    const before = stored();
    const refused = await run(args);
    expect(refused).toMatchObject({ exit, stdout: "" });
    expect(refused.stderr).toContain(words);
    expect(stored()).toEqual(before);
  });
});

it.each(["bad name/../x", "a b", "ä", "a\u001b[31m"])("no profile is called %j", async (name) => {
  const login = ["login", "--base-url", "https://pay.example", "--terminal-id", "1", "--token-stdin"];
  for (const [args, env, at] of [
    [["-p", name, "status"], {}, "--profile"],
    [["-p", name, ...login], {}, "--profile"],
    [["config", "set", "currency", "EUR"], { PAYLINK_PROFILE: name }, "PAYLINK_PROFILE"],
  ] as const) {
    const { exit, stderr } = await runCommand(args, { env, stdin: "token" });
    expect(exit).toBe(2);
    expect(stderr).toContain(`${at}  must consist of letters, digits, dots, underscores and hyphens`);
  }
});
