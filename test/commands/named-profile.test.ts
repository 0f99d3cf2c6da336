/** The next steps that a command names, in process: they reach the profile and the event store that the command used. */
import { join } from "node:path";
import { expect, it } from "vitest";
import { answering } from "../support/account.ts";
import { startCommand, startListenCommand } from "../support/background-command.ts";
import { runCommand } from "../support/context.ts";
import { storeProfiles, temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { keyFile } from "../support/keys.ts";
import { startLinkService } from "../support/link-service.ts";
import { post, record, webhook } from "../support/webhooks.ts";

/** A home whose current profile is `live`, and a second profile `shop` at the service. */
function twoProfiles(baseUrl: string): string {
  const home = temporaryHome();
  const account = { terminalId: "1", currency: "EUR", customerName: "Ada", token: "token" };
  storeProfiles(home, { live: { ...account, baseUrl: "http://127.0.0.1:1" }, shop: { ...account, baseUrl } });
  return home;
}

it.each([
  ["an unknown outcome", ["create", "--amount", "1"], 6, "links list --terminal-id 1"],
  ["a refused cancellation", ["links", "cancel", "a", "--yes"], 4, "links list"],
  ["an unknown link", ["links", "show", "a"], 4, "links list"],
  ["an unknown transaction", ["transaction", "a"], 4, "config set transactionUrl"],
])("names the profile in the next step after %s", async (_, args, exit, next) => {
  const home = twoProfiles("http://127.0.0.1:1");
  const { send } = answering(args[0] === "create" ? 500 : 404);
  const env = { PAYLINK_PROFILE: "shop" };
  for (const run of [
    await runCommand([...args, "-p", "shop"], { home, send }),
    await runCommand(args, { home, send, env }),
  ]) {
    expect(run.exit).toBe(exit);
    expect(run.stderr.replace(/\s+/g, " ")).toContain(`paylink -p shop ${next}`);
  }
  const { stderr } = await runCommand([...args, "-p", "shop", "--json"], { home, send });
  expect(JSON.parse(stderr).error.details.hint).toContain(`paylink -p shop ${next}`);
  const current = await runCommand(args, { home, send });
  expect(current.stderr.replace(/\s+/g, " ")).toContain(`paylink ${next}`);
});

it("advises to start the sandbox where its profile or its secrets are missing, since login does not take it", async () => {
  const home = temporaryHome();
  const create = ["create", "--amount", "1", "-p", "sandbox"];
  const missing = await runCommand(create, { home });
  expect(missing.exit).toBe(3);
  expect(missing.stderr).toContain("To start the sandbox, with its profile: paylink sandbox\n");
  expect(missing.stderr).not.toContain("login");
  const baseUrl = "http://127.0.0.1:1";
  storeProfiles(home, { sandbox: { baseUrl, terminalId: "1", currency: "EUR", customerName: "Ada" } });
  const loggedOut = await runCommand(create, { home });
  expect(loggedOut.exit).toBe(3);
  expect(loggedOut.stderr).toContain("To store a token: paylink sandbox\n");
});

it("names the profile in every remedy of status, for scripts too", async () => {
  const home = twoProfiles("http://127.0.0.1:1");
  const { send } = answering(401);
  const { stdout } = await runCommand(["status", "-p", "shop", "--json"], { home, send });
  const commands = stdout.match(/\bpaylink (?:-p shop )?(?:login|config)\b/g) ?? [];
  expect(commands).toContain("paylink -p shop login");
  expect(commands.filter((command) => !command.startsWith("paylink -p shop "))).toEqual([]);
});

it("names the profile and the event store in what events advise, and each line works as printed", async () => {
  const home = twoProfiles("http://127.0.0.1:1");
  const place = join(temporaryHome(), "my events.db");
  const listen = await startListenCommand(home, "--key", keyFile(home), "--db", place);
  expect(await post(listen.url, { ...webhook(listen.url, record()), body: Buffer.from("{}") })).toBe(401);
  await listen.stop();
  const store = ["-p", "shop", "--db", place];
  const id = (await runCommand(["events", "list", "--rejected", "-q", ...store], { home })).stdout.trim();
  const shown = await runCommand(["events", "show", id, ...store], { home });
  expect(shown.stdout).toContain(`paylink -p shop verify --event ${id} --db '${place}'   explains it`);
  const verified = ["-p", "shop", "verify", "--event", id, "--db", place, "--key", keyFile(home)];
  expect((await runCommand(verified, { home })).exit).toBe(7);
  const unknown = await runCommand(["events", "show", "nothing", ...store], { home });
  expect(unknown.stderr).toContain(`paylink -p shop events list --db '${place}'`);
  const twice = ["listen", "--port", "0", "--key", keyFile(home), "--expect", "approved:1", ...store];
  const failing = startCommand([...twice, "--json"], { home });
  const [, url = ""] = await failing.until(/"url":"([^"]+)"/);
  expect(await post(url, { ...webhook(url, record()), body: Buffer.from("{}") })).toBe(401);
  expect((await failing.ended).stderr).toMatch(/paylink -p shop verify --event \S+ --key \S+ --db /);
});

it("names profile and service in the results of bulk", async () => {
  const service = await startLinkService(() => "create");
  const home = twoProfiles(service.url);
  const run = await runCommand(["bulk", "-", "-o", "-", "-p", "shop"], { home, stdin: "amount\n1\n" });
  expect(run.exit).toBe(0);
  expect(run.stderr).toMatch(/^profile shop · 127\.0\.0\.1:\d+ · /m);
  const dry = await runCommand(["bulk", "-", "--dry-run", "-p", "shop", "--json"], {
    home,
    stdin: "amount\n2\n",
  });
  expect(jsonLines(dry.stdout).at(-1)).toMatchObject({ profile: "shop", service: service.url });
});
