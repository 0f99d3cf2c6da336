/** One line where nobody hears of the payments of a link: `create` and `login` say what `status` warns of. */
import { expect, it } from "vitest";
import { ACCOUNT, answering, CREATE } from "../support/account.ts";
import { runCommand } from "../support/context.ts";
import { ANSWER } from "../support/link-request.ts";

const LIVE = "https://api.dnapayments.com";

it.each<[string, Record<string, string>, readonly string[], string | undefined]>([
  ["no callback", { PAYLINK_CALLBACK_URL: "" }, [], "no callbackUrl"],
  [
    "one of this machine",
    { PAYLINK_CALLBACK_URL: "http://127.0.0.1:4000/", PAYLINK_BASE_URL: LIVE },
    [],
    "is an address of this machine",
  ],
  ["one without https", { PAYLINK_CALLBACK_URL: "http://shop.example/" }, [], "should be https"],
  ["one by a flag", { PAYLINK_CALLBACK_URL: "" }, ["--callback-url", "https://shop.example/"], undefined],
  ["one of the account", {}, [], undefined],
])("create with %s", async (_, env, flags, words) => {
  const service = answering(200, ANSWER, "application/json");
  const run = await runCommand([...CREATE, ...flags], { ...service, env: { ...ACCOUNT, ...env } });
  expect(run.exit).toBe(0);
  const warnings = run.stderr.match(/^! .*callback.*$/gim) ?? [];
  expect(warnings).toEqual(words === undefined ? [] : [expect.stringContaining(words)]);
  const json = await runCommand([...CREATE, ...flags, "--json"], { ...service, env: { ...ACCOUNT, ...env } });
  expect(json.stderr.includes("callback")).toBe(words !== undefined);
});

it("login without a callback", async () => {
  const args = [
    "login",
    "--base-url",
    "https://service.example",
    "--terminal-id",
    "7",
    "--token-stdin",
    "--no-check",
  ];
  const run = await runCommand(args, { stdin: "tok" });
  expect(run.stderr).toMatch(/^! no callbackUrl: .*paylink config set callbackUrl <url> -p default$/m);
});
