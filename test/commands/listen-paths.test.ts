/** `listen` on two paths with a target for each outcome, in process: what each path and each target receives. */
import { expect, it } from "vitest";
import { startCommand, startListenCommand } from "../support/background-command.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { startLinkService } from "../support/link-service.ts";
import { keyFile, post, record, webhook } from "../support/webhooks.ts";

it("receives at every path, names them in the ready line, and answers 404 elsewhere", async () => {
  const home = temporaryHome();
  const listen = await startListenCommand(
    home,
    "--key",
    keyFile(home),
    "--path",
    "/paid",
    "--path",
    "/failed",
  );
  const { origin } = new URL(listen.url);
  const urls = [`${origin}/paid`, `${origin}/failed`];
  expect(jsonLines(listen.stdout())[0]).toEqual({ type: "ready", url: urls[0], urls });
  for (const url of urls) expect(await post(url, webhook(url, record()))).toBe(200);
  expect(await post(`${origin}/other`, webhook(`${origin}/other`, record()))).toBe(404);
  const { stdout } = await listen.stop();
  expect(jsonLines(stdout)[3]).toMatchObject({
    code: "not_found",
    detail: "the path is /other; webhooks are received at /paid and /failed",
  });
});

it("lets create --wait follow it where both callbacks lead to it", async () => {
  const home = temporaryHome();
  const service = await startLinkService(() => "create");
  const listen = await startListenCommand(
    home,
    "--key",
    keyFile(home),
    "--path",
    "/paid",
    "--path",
    "/failed",
  );
  const { origin } = new URL(listen.url);
  const [paid, failed] = [`${origin}/paid`, `${origin}/failed`];
  const callbacks = ["--callback-url", paid, "--failure-callback-url", failed];
  const money = ["--amount", "10", "--currency", "EUR", "--customer-name", "Ada", "--invoice-id", "INV-9"];
  const creating = startCommand(["create", ...money, ...callbacks, "--wait", "--json"], {
    home,
    env: { ...service.env, PAYLINK_WEBHOOK_KEY: keyFile(home) },
  });
  await creating.until(/\n/);
  expect(await post(failed, webhook(failed, record({ reference: "INV-9", transApproved: false })))).toBe(200);
  await listen.until(/"type":"event"/);
  await creating.until(/"transApproved":false/);
  expect(await creating.ended).toMatchObject({ exit: 9 });
});
