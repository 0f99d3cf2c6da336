/** JSON output holds what came over the wire, and no character that could control a terminal. */
import { expect, it } from "vitest";
import { startCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";

const HOSTILE = "a\u009b31m\u202eevil\u200b\u{e0041}";
const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

const CREATE = ["create", "--amount", "10", "--currency", "EUR", "--customer-name", "Ada", "--json"];
const ACCOUNT = {
  PAYLINK_BASE_URL: "https://pay.example",
  PAYLINK_TOKEN: "token-1",
  PAYLINK_TERMINAL_ID: "1234567890",
};
const answering = (status: number, body: object) => ({
  env: ACCOUNT,
  send: async () => ({
    status,
    headers: [["Content-Type", "application/json"] as const],
    body: new TextEncoder().encode(JSON.stringify(body)),
  }),
});

it("escapes the service's own JSON", async () => {
  const link = { id: "L1", url: "https://pay.example/L1", customerName: HOSTILE };
  const { stdout, stderr } = await runCommand(CREATE, answering(200, link));
  expect(stdout + stderr).not.toMatch(UNSAFE);
  expect(JSON.parse(stdout)).toEqual(link);
});

it("escapes a failure that quotes the service", async () => {
  const { stdout, stderr } = await runCommand(CREATE, answering(400, { message: HOSTILE }));
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
