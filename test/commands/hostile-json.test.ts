/** JSON output holds what came over the wire, and no character that could control a terminal. */
import { expect, it } from "vitest";
import { answering, CREATE } from "../support/account.ts";
import { startCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";

const HOSTILE = "a\u009b31m\u202eevil\u200b\u{e0041}";
const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

it("escapes the service's own JSON", async () => {
  const link = { id: "L1", url: "https://pay.example/L1", customerName: HOSTILE };
  const { stdout, stderr } = await runCommand([...CREATE, "--json"], answering(200, JSON.stringify(link)));
  expect(stdout + stderr).not.toMatch(UNSAFE);
  expect(JSON.parse(stdout)).toEqual(link);
});

it("escapes a failure that quotes the service", async () => {
  const { stdout, stderr } = await runCommand(
    [...CREATE, "--json"],
    answering(400, JSON.stringify({ message: HOSTILE })),
  );
  expect(stdout).toBe("");
  expect(stderr).not.toMatch(UNSAFE);
  expect(JSON.parse(stderr)).toMatchObject({ error: { details: { service: HOSTILE } } });
});

it("escapes what anybody sends to listen, when it arrives", async () => {
  const home = temporaryHome();
  const args = ["listen", "--port", "0", "--no-verify", "--json"];
  const listening = startCommand(args, { home });
  const [, url = ""] = await listening.until(/"url":"([^"]+)"/);
  const body = JSON.stringify({ reference: HOSTILE });
  await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  await listening.until(/"type":"event"/);
  const { stdout } = await listening.stop();
  expect(stdout).toContain("\\u202eevil");
  expect(stdout).not.toMatch(UNSAFE);
});
