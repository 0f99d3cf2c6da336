/** The skill for coding agents, as the package has it: its commands are run as they stand, in the order given. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { startCommand } from "../support/background-command.ts";
import { temporaryHome } from "../support/home.ts";
import { giveMerchant } from "../support/merchant.ts";
import { freePort } from "../support/ports.ts";
import { openShell } from "../support/shell.ts";

const SKILL = readFileSync(new URL("../../dist/SKILL.md", import.meta.url), "utf8");

it("has the frontmatter that agents find it by, and is short", () => {
  const [, frontmatter = ""] = /^---\n([\s\S]*?)\n---\n/.exec(SKILL) ?? [];
  expect(frontmatter).toMatch(/^name: paylink\ndescription: \S.{40,1000}$/);
  expect(SKILL.split("\n").length).toBeLessThan(130);
});

it("has commands that all succeed", async () => {
  const blocks = [...SKILL.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, script = ""]) => script);
  expect(blocks.length).toBeGreaterThan(4);
  for (const command of ["test", "sandbox", "check", "verify"])
    expect(blocks.join("")).toMatch(new RegExp(`^paylink ${command} `, "m"));
  const ports: Record<string, string> = {};
  for (const port of [3000, 4000, 4010]) ports[port] = await freePort();
  const home = temporaryHome();
  // The application has read the key of the sandbox when that ran before.
  giveMerchant(home);
  const earlier = startCommand(["sandbox", "--port", ports["4010"] ?? "", "--json"], { home });
  await earlier.until(/"ready"/);
  const application = [
    "listen",
    "--port",
    ports["3000"] ?? "",
    "--path",
    "/webhooks",
    "--no-store",
    "--json",
  ];
  await startCommand(application, { home }).until(/"ready"/);
  await earlier.stop();
  const shell = openShell(home);
  const script = blocks.join("").replace(/\b(?:3000|4000|4010)\b/g, (port) => ports[port] ?? port);
  const { code, stdout, stderr } = await shell.run(`set -eu\n${script}`);
  expect({ code, stdout, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toMatch(/1 created, 1 approved, .*; 1 delivered, 0 undelivered, 0 rejected/);
  expect(stdout).toContain("DECLINED");
});
