/** Ctrl-C and SIGTERM on the built program: a command finishes what it has sent, then ends with the code of the signal. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ACCOUNT, CREATE } from "../support/account.ts";
import { ANSWER } from "../support/link-request.ts";
import { runStep } from "../support/context.ts";
import { temporaryHome } from "../support/home.ts";
import { readyUrl, startPaylink } from "../support/paylink.ts";
import { MAINTENANCE, rawServer, reply } from "../support/raw-server.ts";
import { keyFile } from "../support/keys.ts";
import { post, record, webhook } from "../support/webhooks.ts";

const account = (url: string) => ({ ...ACCOUNT, PAYLINK_BASE_URL: url });

const MORE_THAN_A_PIPE_HOLDS = 4 * 1024 * 1024;

describe.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("%s", (signal, code) => {
  it("lets create receive the answer to its request, and shows the link", async () => {
    let answer = (): void => undefined;
    const service = await rawServer((socket) => (answer = () => reply(200, ANSWER)(socket)));
    const creating = startPaylink([...CREATE, "--quiet"], {
      home: temporaryHome(),
      env: account(service.url),
    });
    await expect.poll(() => service.requests.length).toBe(1);
    await creating.interrupt(signal);
    answer();
    const { stderr, ...ended } = await creating.ended;
    expect(ended).toEqual({ code, stdout: "https://pay.example/checkout?r=L1\n" });
    expect(stderr).toMatch(
      /^Interrupted: waiting for the answer .* paylink links list .*--terminal-id \S+ .*--since \S+\n$/,
    );
  });

  it.each([
    ["verify", "--key", "{key}"],
    ["create", "--from", "-", "--dry-run"],
    ["bulk", "-", "--dry-run"],
    ["login", "--base-url", "https://pay.example", "--terminal-id", "1", "--token-stdin"],
  ])("ends %s at once while it reads stdin", async (...words) => {
    const home = temporaryHome();
    const args = words.map((word) => word.replace("{key}", keyFile(home)));
    const reading = startPaylink(args, { home });
    await reading.write(" ".repeat(MORE_THAN_A_PIPE_HOLDS));
    expect(await reading.stop(signal)).toMatchObject({ code, stdout: "", stderr: "" });
  });

  it.each([
    ["status"],
    ["transaction", "x"],
    ["trigger", "approved", "--to", "{service}"],
    ["verify", "--key", "{service}jwks.json"],
  ])("ends %s at once while the service is silent", async (...words) => {
    const service = await rawServer(() => undefined);
    const args = words.map((word) => word.replace("{service}", `${service.url}/`));
    const waiting = startPaylink(args, { home: temporaryHome(), env: account(service.url) });
    await expect.poll(() => service.requests.length).toBe(1);
    expect(await waiting.stop(signal)).toMatchObject({ code, stdout: "", stderr: "" });
  });

  it("ends create at once while it waits for a retry", async () => {
    const service = await rawServer(reply(503, MAINTENANCE, { "Retry-After": "20" }));
    const creating = startPaylink(CREATE, { home: temporaryHome(), env: account(service.url) });
    await expect.poll(() => creating.stderr()).toContain("Trying again in 20.0 s (1 of 3)");
    const { stderr, ...ended } = await creating.stop(signal);
    expect(ended.code).toBe(code);
    expect(stderr).toMatch(/ed\.\n {2}Nothing was created\.\n$/);
    expect(service.requests).toHaveLength(1);
  });

  it("ends create at once the second time", async () => {
    const service = await rawServer(() => undefined);
    const creating = startPaylink(CREATE, { home: temporaryHome(), env: account(service.url) });
    await expect.poll(() => service.requests.length).toBe(1);
    void creating.stop(signal);
    // One signal after the other: two at once may be merged by the system.
    const timer = setInterval(() => void creating.stop(signal), 200);
    const ended = await creating.ended;
    clearInterval(timer);
    expect(ended).toMatchObject({ code: null, stdout: "" });
  });

  it("lets bulk receive the answers to its requests, and sends no other row", async () => {
    const home = temporaryHome();
    const list = join(home, "list.csv");
    writeFileSync(list, `invoiceId,amount\n${[1, 2, 3, 4, 5].map((n) => `INV-${n},10`).join("\n")}\n`);
    let answer = (): void => undefined;
    const service = await rawServer((socket) => (answer = () => reply(200, ANSWER)(socket)));
    const args = ["bulk", list, "--currency", "EUR", "--customer-name", "Ada Lovelace", "--concurrency", "1"];
    const sending = startPaylink(args, { home, env: account(service.url) });
    await expect.poll(() => service.requests.length).toBe(1);
    await sending.interrupt(signal);
    answer();
    expect((await sending.ended).code).toBe(code);
    expect(service.requests.length).toBe(1);
  });

  it("ends listen once its thread has stored everything", async () => {
    const home = temporaryHome();
    const listening = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home)], { home });
    const url = await readyUrl(listening);
    expect(await post(url, webhook(url, record()))).toBe(200);
    expect((await listening.stop(signal)).code).toBe(code);
    const { stdout } = await runStep(["events", "list", "--json"], { home });
    expect(stdout.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({ type: "event", outcome: "APPROVED" });
  });

  it("ends sandbox and create --wait", async () => {
    const home = temporaryHome();
    const sandbox = startPaylink(["sandbox", "--port", "0", "--json"], { home });
    await readyUrl(sandbox);
    const waiting = startPaylink([...CREATE, "--wait", "--quiet"], { home });
    await waiting.until(/^http/);
    expect((await waiting.stop(signal)).code).toBe(code);
    expect((await sandbox.stop(signal)).code).toBe(code);
  });
});

describe("SIGHUP", () => {
  it("does not end a listener that has no terminal, such as one under nohup", async () => {
    const home = temporaryHome();
    const listening = startPaylink(["listen", "--port", "0", "--json", "--key", keyFile(home)], { home });
    const url = await readyUrl(listening);
    for (let times = 0; times < 2; times++) await listening.interrupt("SIGHUP");
    expect(await post(url, webhook(url, record()))).toBe(200);
    expect(listening.stdout()).not.toContain('"summary"');
    expect((await listening.stop("SIGTERM")).code).toBe(143);
  });
});
