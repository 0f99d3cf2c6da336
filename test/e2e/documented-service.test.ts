/** The journey of a merchant at the documented service, by settings alone, against a strict imitation of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCommand } from "../support/context.ts";
import { CLIENT, startDocumentedService, type DocumentedService } from "../support/documented-service.ts";
import { temporaryHome } from "../support/home.ts";
import { jsonLines } from "../support/json-lines.ts";
import { readyUrl, runPaylink, startPaylink, type Ended } from "../support/paylink.ts";

interface Account {
  readonly service: DocumentedService;
  readonly home: string;
  readonly run: (...args: string[]) => Promise<Ended>;
}

/** An account whose secret comes from the environment. */
async function openAccount(): Promise<Account> {
  const home = temporaryHome();
  const service = await startDocumentedService();
  const env = { PAYLINK_CLIENT_SECRET: CLIENT.secret };
  const run = (...args: string[]): Promise<Ended> => runPaylink(args, { home, env });
  const { url: baseUrl, tokenUrl, keyFile: webhookKey } = service;
  const account = { baseUrl, tokenUrl, clientId: CLIENT.id, terminalId: "1234567890", webhookKey };
  const settings = { service: "dna-test", ...account };
  for (const [key, value] of Object.entries({ ...settings, currency: "GBP", customerName: "Ada Lovelace" }))
    expect(await runCommand(["config", "set", key, value], { home })).toMatchObject({ exit: 0 });
  return { service, home, run };
}

it("creates links, receives both outcomes and verifies a captured webhook", async () => {
  const { service, home, run } = await openAccount();
  const listen = startPaylink(["listen", "--port", "0", "--json"], { home });
  const callback = await readyUrl(listen);
  for (const key of ["callbackUrl", "failureCallbackUrl"])
    await runCommand(["config", "set", key, callback], { home });

  const created = await run("create", "--amount", "10", "--currency", "EUR", "--json");
  expect(created).toMatchObject({ code: 0, stderr: "" });
  const link: { id: string } = JSON.parse(created.stdout);
  const reusable = await run("create", "--reusable");
  expect(reusable.code).toBe(0);
  expect(reusable.stdout).toContain("https://checkout.service.example/?r=");
  expect(service.requests).toContain("POST /v1/payment-links");

  const approved = await service.pay(link.id, "approved");
  const declined = await service.pay(link.id, "declined");
  expect([approved.status, declined.status]).toEqual([200, 200]);
  const { stdout } = await listen.stop();
  const events = jsonLines(stdout).filter(({ type }) => type === "event");
  expect(events).toMatchObject([
    { verdict: { verdict: "valid" }, record: { transApproved: true }, breaches: [] },
    { verdict: { verdict: "valid" }, record: { transApproved: false }, breaches: [] },
  ]);

  const capture = join(home, "webhook.http");
  writeFileSync(capture, approved.message);
  const verified = await run("verify", capture, "--json");
  expect(verified.code).toBe(0);
  expect(JSON.parse(verified.stdout)).toMatchObject({ verdict: "valid", record: { amountTrans: 10 } });
  writeFileSync(capture, approved.message.replace('"amountTrans":10', '"amountTrans":99'));
  expect((await run("verify", capture)).code).toBe(7);
}, 60_000);

it.each([
  ["a client that authenticates with Basic", "tokenAuth", "basic", "Bad client credentials"],
  ["a wrong scope", "tokenScope", "payments", "Unknown scope"],
  ["a terminal of another client", "terminalId", "4711", "The terminal is not yours"],
])("refuses %s in the service's own words", async (_, key, value, words) => {
  const { home, run } = await openAccount();
  await runCommand(["config", "set", key, value], { home });
  const { code, stdout, stderr } = await run("create", "--amount", "10");
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toContain(words);
});
