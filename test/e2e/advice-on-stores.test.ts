/** What `events`, `verify`, `listen` and `login` advise after a failure, run as it is printed: it shows what was missing. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { startListenCommand, startSandboxCommand } from "../support/background-command.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { MERCHANT } from "../support/merchant.ts";
import type { Ended } from "../support/paylink.ts";

/** The words of the first command at the end of a line. */
function advisedBy({ stdout, stderr }: Ended): readonly string[] {
  const [, words] = /: paylink (.*)$/m.exec(stdout + stderr) ?? [];
  if (words === undefined) throw new Error(`No command is advised: ${stdout}${stderr}`);
  return words.split(" ");
}

it("shows what is missing where a key, a store, an event or an account was", async () => {
  const home = temporaryHome();
  const run = (args: readonly string[], input = "") => runStep(args, { home, input });
  const db = join(home, "e.db");

  // Without a key, nothing is received or verified, until there is a profile with one.
  const withoutKey = ["listen", "--port", "0", "--json", "--db", db];
  expect(await run(["verify", "-"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("paylink sandbox"),
  });
  expect(advisedBy(await run(withoutKey.filter((word) => word !== "--json")))).toEqual(["sandbox"]);
  const sandbox = (await startSandboxCommand(home)).url.replace(/\/$/, "");

  // A store that is not there is made by a listener, and an event that is not there is none of the list.
  const advised = advisedBy(await run(["events", "list", "--db", db]));
  expect(advised).toEqual(["listen", "--db", db]);
  const { url: target } = await startListenCommand(home, ...advised.slice(1));
  expect(await run(["trigger", "approved", "--to", target, "--reference", "EV-1"])).toMatchObject({
    code: 0,
  });
  for (const missing of [
    ["events", "show", "NOPE", "--db", db],
    ["verify", "--event", "NOPE", "--db", db],
  ])
    expect((await run(advisedBy(await run(missing)))).stdout).toContain("EV-1");

  // An account that is refused is stored as it is where that is asked for.
  const account = ["--base-url", sandbox, "--terminal-id", MERCHANT.terminalId, "--currency", "EUR"];
  const flags = [...account, "--customer-name", "Ada", "--token-stdin"];
  const refused = await run(["-p", "other", "login", ...flags], "wrong");
  const unchecked = /: paylink (.* --no-check)$/m.exec(refused.stderr)?.[1]?.split(" ") ?? [];
  expect(await run([...unchecked, ...flags], MERCHANT.token)).toMatchObject({ code: 0 });
  expect((await run(["-p", "other", "status"])).stdout).toContain("✓ token");
});
