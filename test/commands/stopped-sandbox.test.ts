/** A sandbox that was stopped is named as such by every command that meets it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { keepClosed } from "../support/ports.ts";

/** The home of a sandbox that ran before. */
async function stoppedSandbox(): Promise<string> {
  const home = temporaryHome();
  const sandbox = startCommand(["sandbox", "--port", "0"], { home });
  await sandbox.until(/Dashboard/);
  await sandbox.stop();
  const { stdout } = await runCommand(["config", "get", "baseUrl"], { home });
  await keepClosed(Number(new URL(stdout.trim()).port));
  return home;
}

it("is named by every command that needs it, with the way to start it", async () => {
  const home = await stoppedSandbox();
  const commands = [
    ["create", "--amount", "10"],
    ["create", "--amount", "10", "--wait"],
    ["transaction", "00000000-0000-0000-0000-000000000000"],
    ["pay", "L1"],
    ["sandbox", "advance", "30s"],
    ["sandbox", "rotate-key"],
  ];
  const ends = await Promise.all(commands.map((args) => runCommand(args, { home })));
  for (const [index, { exit, stderr }] of ends.entries()) {
    expect({ command: commands[index], exit }).toEqual({ command: commands[index], exit: 5 });
    expect(stderr).toMatch(/✗ The sandbox is not running\.\n {2}.*Start it: paylink sandbox\n$/);
    expect(stderr).not.toContain("Trying again");
  }
});

it("is named by status, in the line of what it asked", async () => {
  const home = await stoppedSandbox();
  const { exit, stdout } = await runCommand(["status"], { home });
  expect(exit).toBe(5);
  expect(stdout).toMatch(/^✗ token endpoint +The sandbox is not running\.\n +Start it: paylink sandbox\n/m);
  expect(stdout).toMatch(/^✗ webhook key .*: the sandbox is not running\.\n +Start it: paylink sandbox\n/m);
});

it("is not named if https was requested, which it does not speak", async () => {
  const home = await stoppedSandbox();
  const { stdout } = await runCommand(["config", "get", "baseUrl"], { home });
  const env = { PAYLINK_BASE_URL: stdout.trim().replace("http:", "https:"), PAYLINK_TOKEN: "t" };
  const { exit, stderr } = await runCommand(["create", "--amount", "10"], { home, env });
  expect(exit).toBe(5);
  expect(stderr).toContain("The service was not reached: https:");
});

it("is named if listen reads its key from it", async () => {
  const home = await stoppedSandbox();
  const listening = await runCommand(["listen", "--port", "0"], { home });
  expect(listening).toMatchObject({
    exit: 5,
    stderr: expect.stringMatching(
      /: the sandbox is not running\.\n.*Start it: paylink sandbox\n$/,
    ) as unknown,
  });
});

it("ends bulk before its first pause", async () => {
  const home = await stoppedSandbox();
  const list = join(home, "orders.csv");
  writeFileSync(list, "amount\n10\n20\n");
  const run = await runCommand(["bulk", list], { home });
  expect(run.exit).toBe(5);
  expect(run.stderr).toContain(
    "The run was stopped. The sandbox is not running.\n  Start it: paylink sandbox\n",
  );
  expect(run.stderr).not.toContain("The run waits");
});
