/** `paylink demo`, in process: every step, and nothing left behind. */
import { readdirSync } from "node:fs";
import { expect, it, vi } from "vitest";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { openSender } from "../support/sender.ts";

it("runs every step, changes no profile and deletes its temporary home", async () => {
  const [home, temporary] = [temporaryHome(), temporaryHome()];
  vi.stubEnv("TMPDIR", temporary);
  const { exit, stdout, stderr } = await runCommand(["demo", "--json"], { home });
  vi.unstubAllEnvs();
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  expect(jsonLines(stdout)).toEqual(
    [
      "one-time link, paid",
      "reusable link, first payment",
      "reusable link, second payment",
      "subscription start",
      "one-time link, declined",
      "one-time link, cancelled",
      "tampered webhook, refused",
    ].map((step) => ({ type: "step", step, ok: true })),
  );
  expect(readdirSync(temporary)).toEqual([]);
  expect(readdirSync(home)).toEqual([]);
});

it("fits 80 columns, and says how to go on", async () => {
  const { stdout, stderr } = await runCommand(["demo"]);
  for (const line of (stdout + stderr).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(stderr).toMatch(/Next: paylink sandbox\n$/);
});

it("fails if a tampered webhook is accepted", async () => {
  const network = openSender();
  const { exit, stderr } = await runCommand(["demo", "--json"], {
    send: async (request, options) => {
      const reply = await network(request, options);
      return new TextDecoder().decode(request.body).includes('"amountTrans":99.00')
        ? { ...reply, status: 200 }
        : reply;
    },
  });
  expect(exit).toBe(1);
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: "internal" } });
});
