/** What paylink offers to continuous integration: the script of `paylink help ci`, run as it stands. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { freePort } from "../support/ports.ts";
import { openShell } from "../support/shell.ts";

it("has a script whose listener ends once every payment has arrived", async () => {
  const { stdout: topic } = await runStep(["help", "ci", "--json"], { home: temporaryHome() });
  const { script } = JSON.parse(topic) as { readonly script: { readonly text: string } };
  const ports: Readonly<Record<string, string>> = { 4000: await freePort(), 4010: await freePort() };
  const shell = openShell(temporaryHome());
  // Of an earlier run.
  for (const file of ["sandbox.jsonl", "events.jsonl"])
    writeFileSync(join(shell.cwd, file), '{"type":"ready","url":"http://127.0.0.1:1/"}\n');
  const { code, stdout, stderr } = await shell.run(
    script.text.replace(/\b(?:4000|4010)\b/g, (port) => ports[port] ?? port),
  );
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout.match(/APPROVED|DECLINED/g)).toEqual(["APPROVED", "APPROVED", "DECLINED"]);
  const events = readFileSync(join(shell.cwd, "events.jsonl"), "utf8").trim().split("\n");
  const types = events.map((line) => (JSON.parse(line) as { type: string }).type);
  expect(types).toEqual(["ready", "event", "event", "event", "summary"]);
});

it("lets the command of paylink test find the events that were delivered", async () => {
  const shell = openShell(temporaryHome());
  const { code, stdout, stderr } = await shell.run(`paylink test -- sh -c '
    paylink pay $(paylink create --amount 10 --currency EUR --quiet) --quiet
    until [ -n "$(paylink events list --quiet)" ]; do sleep 0.2; done
    paylink events list --quiet'`);
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining("1 delivered") });
  const [paid, listed] = stdout.trim().split("\n");
  expect(paid).toMatch(/^[0-9a-f-]{36}$/);
  expect(listed).toBe(paid);
});
